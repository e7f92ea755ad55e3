// SPDX-License-Identifier: BSD-3-Clause
#include "atomics/elements.hpp"

#include <atomic>

#include "atomics/combine_element.hpp"

namespace syncyte::atomics {

namespace {

template <class T, syncyte_op_t op>
void combine_all(std::byte* target, const std::byte* source, std::byte* previous, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T seen = combine_element<T, op>(target, load<T>(source));
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
  store(previous, expected);  // the exchange has put the old value into `expected`
}

}  // namespace

atomic_combine find_combine(syncyte_dtype_t dtype, syncyte_op_t op) {
  return base::visit_dtype_and_op(
      dtype, op, []<class T, syncyte_op_t which>() -> atomic_combine { return combine_all<T, which>; });
}

void require_swappable(syncyte_dtype_t dtype) {
  base::dtype_size(dtype);
  base::expect(base::is_integer(dtype) || dtype == SYNCYTE_BOOL, SYNCYTE_ERR_UNSUPPORTED, "dtype",
               base::dtype_name(dtype), "an integer type or bool, for which compare_swap is defined");
}

void compare_swap_element(syncyte_dtype_t dtype, std::byte* target, const void* expected, const void* desired,
                          void* previous) {
  require_swappable(dtype);
  base::visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::integral<T>)
      swap_integers<T>(target, load<T>(expected), load<T>(desired), previous);
    else if constexpr (base::is_bool<T>)
      swap_integers<std::uint8_t>(target, load<T>(expected).value != 0, load<T>(desired).value != 0, previous);
  });
}

}  // namespace syncyte::atomics
