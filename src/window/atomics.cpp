#include "window/atomics.hpp"

#include <atomic>
#include <bit>
#include <cstring>

#include "window/ops.hpp"

namespace syncyte::window {

namespace {

/// The unsigned integer of an element's size, which the processor exchanges atomically.
template <std::size_t bytes>
struct word_of;
template <>
struct word_of<1> {
  using type = std::uint8_t;
};
template <>
struct word_of<2> {
  using type = std::uint16_t;
};
template <>
struct word_of<4> {
  using type = std::uint32_t;
};
template <>
struct word_of<8> {
  using type = std::uint64_t;
};
template <class T>
using word = typename word_of<sizeof(T)>::type;

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void store(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

/// Ops for which the processor has an instruction of its own.
template <class T, syncyte_op_t op>
inline constexpr bool is_native = std::integral<T> && (op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_BAND ||
                                                       op == SYNCYTE_OP_BOR || op == SYNCYTE_OP_BXOR);

template <class T, syncyte_op_t op>
T native(T& target, T value) {
  std::atomic_ref<T> element(target);
  static_assert(std::atomic_ref<T>::is_always_lock_free);
  if constexpr (op == SYNCYTE_OP_SUM) return element.fetch_add(value);
  if constexpr (op == SYNCYTE_OP_BAND) return element.fetch_and(value);
  if constexpr (op == SYNCYTE_OP_BOR) return element.fetch_or(value);
  return element.fetch_xor(value);
}

/// Any op, by repeated compare-and-swap of the element's bits.
template <class T, syncyte_op_t op>
T by_swapping(std::byte* target, T value) {
  std::atomic_ref<word<T>> element(*reinterpret_cast<word<T>*>(target));
  static_assert(std::atomic_ref<word<T>>::is_always_lock_free);
  word<T> seen = element.load();
  while (!element.compare_exchange_weak(seen, std::bit_cast<word<T>>(combine<T, op>(std::bit_cast<T>(seen), value)))) {
  }
  return std::bit_cast<T>(seen);
}

template <class T, syncyte_op_t op>
T combine_at(std::byte* target, T value) {
  if constexpr (sizeof(T) > 8) {
    const T seen = load<T>(target);
    store(target, combine<T, op>(seen, value));
    return seen;
  } else if constexpr (is_native<T, op>) {
    return native<T, op>(*reinterpret_cast<T*>(target), value);
  } else {
    return by_swapping<T, op>(target, value);
  }
}

template <class T, syncyte_op_t op>
void combine_all(std::byte* target, const std::byte* source, std::byte* previous, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T seen = combine_at<T, op>(target, load<T>(source));
    if (previous != nullptr) {
      store(previous, seen);
      previous += sizeof(T);
    }
    target += sizeof(T);
    source += sizeof(T);
  }
}

template <class T>
void swap_integers(std::byte* target, T expected, T desired, void* previous) {
  std::atomic_ref<T>(*reinterpret_cast<T*>(target)).compare_exchange_strong(expected, desired);
  store(previous, expected);  // now what was there
}

}  // namespace

atomic_combine find_combine(syncyte_dtype_t dtype, syncyte_op_t op) {
  return visit_dtype_and_op(dtype, op,
                            []<class T, syncyte_op_t which>() -> atomic_combine { return combine_all<T, which>; });
}

void require_swappable(syncyte_dtype_t dtype) {
  base::dtype_size(dtype);
  base::require(base::is_integer(dtype) || dtype == SYNCYTE_BOOL, SYNCYTE_ERR_UNSUPPORTED,
                "compare_swap is not defined for dtype {}; expected an integer type or bool", base::dtype_name(dtype));
}

void compare_swap_element(syncyte_dtype_t dtype, std::byte* target, const void* expected, const void* desired,
                          void* previous) {
  require_swappable(dtype);
  base::visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::integral<T>)
      swap_integers<T>(target, load<T>(expected), load<T>(desired), previous);
    else if constexpr (is_bool<T>)
      swap_integers<std::uint8_t>(target, load<T>(expected).value != 0, load<T>(desired).value != 0, previous);
  });
}

}  // namespace syncyte::window
