// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Bodies of the kernels on rows. kernels.cu compiles them for devices; tests/support/cuda compiles them for the host,
// where a stand-in for the driver runs them. A body does the share of one of `threads` threads, in any order.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/half.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define SYNCYTE_ANY_SIDE __host__ __device__ __forceinline__
#else
#define SYNCYTE_ANY_SIDE inline
#endif

namespace syncyte::rows::cuda {

/// The first index of a list that is not a row, in host memory that devices access. Zeros and `none` at first.
struct bad_index {
  static constexpr std::uint64_t none = UINT64_MAX;
  std::uint32_t lock = 0;
  std::uint32_t operation = 0;
  std::uint64_t position = none;
  std::int64_t value = 0;
  std::int64_t table_rows = 0;
  std::uint32_t waits_end = 0;  ///< a thread has waited too long for a lock: others do not wait any more
};

/// Argument of all kernels. 2^lane_bits threads work on a row together; there are at least so many.
struct row_arguments {
  std::byte* table;         ///< row 0
  std::int64_t table_rows;  ///< other indices are skipped
  std::int64_t stride;      ///< bytes from one row of the table to the next
  const void* index;
  std::int64_t count;  ///< of indices
  std::byte* packed;   ///< the rows' other place, one after another
  std::int64_t row_elements;
  bad_index* bad;           ///< null: indices that are not rows are not noted
  std::uint32_t operation;  ///< for `bad`
  std::int32_t lane_bits;
  std::int32_t is_wide;  ///< indices are int64; otherwise int32
};

// Operations that devices and hosts spell differently.

template <class Word>
SYNCYTE_ANY_SIDE Word exchange_if_equal(Word* at, Word expected, Word desired) {
#ifdef __CUDA_ARCH__
  return atomicCAS_system(at, expected, desired);
#else
  std::atomic_ref(*at).compare_exchange_strong(expected, desired);
  return expected;
#endif
}

template <class Number>
SYNCYTE_ANY_SIDE void add_atomically(Number* at, Number value) {
#ifdef __CUDA_ARCH__
  atomicAdd_system(at, value);
#else
  std::atomic_ref(*at).fetch_add(value, std::memory_order_relaxed);
#endif
}

template <class Word>
SYNCYTE_ANY_SIDE Word load(const Word& at) {
#ifdef __CUDA_ARCH__
  return *const_cast<const volatile Word*>(&at);
#else
  return std::atomic_ref(const_cast<Word&>(at)).load(std::memory_order_relaxed);
#endif
}

/// Stores a word after all that this thread has stored before.
template <class Word>
SYNCYTE_ANY_SIDE void store_last(Word& at, Word value) {
#ifdef __CUDA_ARCH__
  __threadfence_system();
  *const_cast<volatile Word*>(&at) = value;
#else
  std::atomic_ref(at).store(value, std::memory_order_release);
#endif
}

SYNCYTE_ANY_SIDE float to_float(float value) { return value; }
SYNCYTE_ANY_SIDE float to_float(double value) { return static_cast<float>(value); }
SYNCYTE_ANY_SIDE float to_float(base::float16 value) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(value.bits));
#else
  return static_cast<float>(value);
#endif
}
SYNCYTE_ANY_SIDE float to_float(base::bfloat16 value) {
#ifdef __CUDA_ARCH__
  return __bfloat162float(__ushort_as_bfloat16(value.bits));
#else
  return static_cast<float>(value);
#endif
}

/// Rounds to nearest even; float64 becomes a 16-bit number by way of float32, as in torch.
template <class To, class From>
SYNCYTE_ANY_SIDE To convert(From value) {
  if constexpr (std::is_same_v<To, double> && std::is_same_v<From, double>) return value;
  const float single = to_float(value);
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(single);
  } else {
#ifdef __CUDA_ARCH__
    To result;
    if constexpr (std::is_same_v<To, base::float16>)
      result.bits = __half_as_ushort(__float2half_rn(single));
    else
      result.bits = __bfloat16_as_ushort(__float2bfloat16_rn(single));
    return result;
#else
    return To(single);
#endif
  }
}

/// Notes an index that is not a row if it is the first of its list. Many threads may do so; few have to wait.
template <class Arguments>
SYNCYTE_ANY_SIDE void note(const Arguments& a, std::int64_t at, std::int64_t value) {
  if (a.bad == nullptr) return;
  const auto position = static_cast<std::uint64_t>(at);
  bad_index& bad = *a.bad;
  for (bool is_noted = false; !is_noted && position < load(bad.position);) {
    if (exchange_if_equal(&bad.lock, 0U, 1U) != 0U) continue;
    if (position < load(bad.position)) {
      bad.value = value;
      bad.operation = a.operation;
      bad.table_rows = a.table_rows;
      store_last(bad.position, position);  // the host reads it first
    }
    store_last(bad.lock, 0U);
    is_noted = true;
  }
}

template <class Arguments>
SYNCYTE_ANY_SIDE std::int64_t index_at(const Arguments& a, std::int64_t i) {
  return a.is_wide != 0 ? static_cast<const std::int64_t*>(a.index)[i] : static_cast<const std::int32_t*>(a.index)[i];
}

/// Calls row_of(row of the table, row of the packed memory, lane, lanes) for each index that is a row; the lanes of a
/// row share its elements. A gather clears the packed row of an index that is noted.
template <bool IsGather, class Row>
SYNCYTE_ANY_SIDE void for_each_row(const row_arguments& a, std::size_t packed_bytes, std::int64_t thread,
                                   std::int64_t threads, Row&& row_of) {
  const std::int64_t lanes = std::int64_t{1} << a.lane_bits;
  const std::int64_t lane = thread & (lanes - 1);
  const std::int64_t step = threads >> a.lane_bits;
  for (std::int64_t i = thread >> a.lane_bits; i < a.count && (thread >> a.lane_bits) < step; i += step) {
    const std::int64_t row = index_at(a, i);
    std::byte* const packed = a.packed + static_cast<std::size_t>(i) * packed_bytes;
    if (row >= 0 && row < a.table_rows) {
      row_of(a.table + row * a.stride, packed, lane, lanes);
    } else if (a.bad != nullptr) {
      if (lane == 0) note(a, i, row);
      if constexpr (IsGather)
        for (auto k = static_cast<std::size_t>(lane); k < packed_bytes; k += static_cast<std::size_t>(lanes))
          packed[k] = std::byte{};
    }
  }
}

// Bodies.

/// Bytes that one load or store moves.
template <std::size_t Bytes>
struct alignas(Bytes) unit {
  std::byte bytes[Bytes];
};
template <>
struct alignas(16) unit<16> {
  std::uint32_t words[4];  // one load of 16 bytes
};

/// Copies rows between the table and packed memory. `row_elements` counts units.
template <std::size_t Bytes, bool IsScatter>
SYNCYTE_ANY_SIDE void copy_rows(const row_arguments& a, std::int64_t thread, std::int64_t threads) {
  using element = unit<Bytes>;
  for_each_row<!IsScatter>(a, static_cast<std::size_t>(a.row_elements) * Bytes, thread, threads,
                           [&](std::byte* row, std::byte* packed, std::int64_t lane, std::int64_t lanes) {
                             auto* const to = reinterpret_cast<element*>(IsScatter ? row : packed);
                             const auto* const from = reinterpret_cast<const element*>(IsScatter ? packed : row);
                             for (std::int64_t k = lane; k < a.row_elements; k += lanes) to[k] = from[k];
                           });
}

/// Gathers rows, converted.
template <class From, class To>
SYNCYTE_ANY_SIDE void convert_rows(const row_arguments& a, std::int64_t thread, std::int64_t threads) {
  for_each_row<true>(a, static_cast<std::size_t>(a.row_elements) * sizeof(To), thread, threads,
                     [&](const std::byte* row, std::byte* packed, std::int64_t lane, std::int64_t lanes) {
                       const auto* const from = reinterpret_cast<const From*>(row);
                       auto* const to = reinterpret_cast<To*>(packed);
                       for (std::int64_t k = lane; k < a.row_elements; k += lanes) to[k] = convert<To>(from[k]);
                     });
}

/// Adds packed rows to rows of the table, each number atomically for all devices. Numbers of 4 or 8 bytes.
template <class Number>
SYNCYTE_ANY_SIDE void add_rows(const row_arguments& a, std::int64_t thread, std::int64_t threads) {
  for_each_row<false>(a, static_cast<std::size_t>(a.row_elements) * sizeof(Number), thread, threads,
                      [&](std::byte* row, const std::byte* packed, std::int64_t lane, std::int64_t lanes) {
                        auto* const to = reinterpret_cast<Number*>(row);
                        const auto* const from = reinterpret_cast<const Number*>(packed);
                        for (std::int64_t k = lane; k < a.row_elements; k += lanes) add_atomically(to + k, from[k]);
                      });
}

/// Adds numbers of 16 bits to one of the halves of a word of 32 bits, or to both.
template <class Half>
SYNCYTE_ANY_SIDE void add_to_word(std::uint32_t* word, Half low, Half high, bool has_low, bool has_high) {
  const auto sum = [](std::uint32_t bits, Half value) {
    Half old;
    old.bits = static_cast<std::uint16_t>(bits);
    return static_cast<std::uint32_t>(convert<Half>(to_float(old) + to_float(value)).bits);
  };
  std::uint32_t expected = load(*word);
  for (;;) {
    const std::uint32_t first = has_low ? sum(expected & 0xffffU, low) : expected & 0xffffU;
    const std::uint32_t second = has_high ? sum(expected >> 16, high) : expected >> 16;
    const std::uint32_t found = exchange_if_equal(word, expected, first | second << 16);
    if (found == expected) return;
    expected = found;
  }
}

/// add_rows() of numbers of 16 bits: each thread adds those that lie in a word of 32 bits, one or two.
template <class Half>
SYNCYTE_ANY_SIDE void add_half_rows(const row_arguments& a, std::int64_t thread, std::int64_t threads) {
  for_each_row<false>(a, static_cast<std::size_t>(a.row_elements) * sizeof(Half), thread, threads,
                      [&](std::byte* row, const std::byte* packed, std::int64_t lane, std::int64_t lanes) {
                        const auto* const from = reinterpret_cast<const Half*>(packed);
                        // A row may begin with the upper half of a word.
                        const std::int64_t shift = (reinterpret_cast<std::uintptr_t>(row) & 2U) != 0 ? 1 : 0;
                        auto* const words = reinterpret_cast<std::uint32_t*>(row - 2 * shift);
                        const std::int64_t halves = a.row_elements + shift;
                        for (std::int64_t k = lane; 2 * k < halves; k += lanes) {
                          const std::int64_t low = 2 * k - shift, high = low + 1;
                          const bool has_low = low >= 0, has_high = high < a.row_elements;
                          add_to_word(words + k, from[has_low ? low : 0], from[has_high ? high : 0], has_low, has_high);
                        }
                      });
}

}  // namespace syncyte::rows::cuda
