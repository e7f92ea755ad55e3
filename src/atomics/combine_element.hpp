// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "base/ops.hpp"

namespace syncyte::atomics {

/// The unsigned integer of an element's size, for atomic exchange.
template <class T>
using word = std::tuple_element_t<std::countr_zero(sizeof(T)),
                                  std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;

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

/// Whether the processor has an instruction for the op.
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

/// Applies any op by a loop of compare-and-swap on the element's bits.
template <class T, syncyte_op_t op>
T by_swapping(std::byte* target, T value) {
  std::atomic_ref<word<T>> element(*reinterpret_cast<word<T>*>(target));
  static_assert(std::atomic_ref<word<T>>::is_always_lock_free);
  word<T> seen = element.load();
  while (!element.compare_exchange_weak(seen,
                                        std::bit_cast<word<T>>(base::combine<T, op>(std::bit_cast<T>(seen), value)))) {
  }
  return std::bit_cast<T>(seen);
}

/// Combines an element with one in memory and returns the old one. Atomic for elements of at most 8 bytes.
template <class T, syncyte_op_t op>
T combine_element(std::byte* target, T value) {
  if constexpr (sizeof(T) > 8) {
    const T seen = load<T>(target);
    store(target, base::combine<T, op>(seen, value));
    return seen;
  } else if constexpr (is_native<T, op>) {
    return native<T, op>(*reinterpret_cast<T*>(target), value);
  } else {
    return by_swapping<T, op>(target, value);
  }
}

}  // namespace syncyte::atomics
