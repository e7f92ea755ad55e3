// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Bodies of the kernels that update rows by an optimizer, as in bodies.hpp. The list of rows is sorted first, so that a
// row that repeats is updated once, by the sum of its gradients in the order of their positions, as on the host.

#include <chrono>
#include <thread>

#include "optim/formulas.hpp"
#include "rows/cuda/bodies.hpp"

namespace syncyte::rows::cuda {

/// A row of a list, and its position in the caller's.
struct listed_row {
  static constexpr std::int64_t none = INT64_MAX;  ///< an index that is not a row; it comes last
  std::int64_t row;
  std::int64_t position;
};

struct list_arguments {
  const void* index;
  std::int64_t count;  ///< of indices
  listed_row* list;
  std::int64_t table_rows;  ///< other indices become `none`
  bad_index* bad;
  std::uint32_t operation;  ///< for `bad`
  std::int32_t is_wide;     ///< indices are int64; otherwise int32
};

struct merge_arguments {
  const listed_row* from;
  listed_row* to;
  std::int64_t count;
  std::int64_t length;  ///< of the sorted runs in `from`
};

/// Rows have 2^lane_bits threads each, at most 32, which depends on the table alone: all updates of it divide a row in
/// the same way, and each thread locks its part.
struct update_arguments {
  optim::step by;
  std::byte* table;         ///< row 0
  std::int64_t table_rows;  ///< for `bad`
  std::int64_t stride;      ///< bytes from one row of the table to the next
  std::byte* state;         ///< of row 0; null if there is none
  std::int64_t state_stride;
  const listed_row* list;  ///< sorted
  std::int64_t count;
  const std::byte* gradients;  ///< packed, in the order of the caller's list
  std::int64_t row_elements;   ///< of each row, that are updated
  std::int64_t slot_elements;  ///< of the whole row, as in each slot of the state
  std::uint32_t* locks;        ///< of row 0: a bit for each thread of a row
  bad_index* bad;
  std::uint32_t operation;  ///< for `bad`: a lock was not free
  std::int32_t lane_bits;
  std::uint64_t longest_wait;  ///< for a lock, in nanoseconds
};

// Operations that devices and hosts spell differently.

SYNCYTE_ANY_SIDE std::uint64_t nanoseconds() {
#ifdef __CUDA_ARCH__
  std::uint64_t result;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(result));
  return result;
#else
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
#endif
}

SYNCYTE_ANY_SIDE void pause() {
#ifdef __CUDA_ARCH__
  __nanosleep(200);
#else
  std::this_thread::yield();
#endif
}

/// Sets bits of a lock; returns whether none was set. What their last holder has stored is then seen.
SYNCYTE_ANY_SIDE bool try_lock(std::uint32_t* lock, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  const std::uint32_t old = atomicOr_system(lock, bits);
  __threadfence_system();
#else
  const std::uint32_t old = std::atomic_ref(*lock).fetch_or(bits, std::memory_order_acquire);
#endif
  return (old & bits) == 0;
}

SYNCYTE_ANY_SIDE void unlock(std::uint32_t* lock, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  __threadfence_system();
  atomicAnd_system(lock, ~bits);
#else
  std::atomic_ref(*lock).fetch_and(~bits, std::memory_order_release);
#endif
}

/// Waits for a lock; returns false after the longest wait. Its holder may have died: one thread has waited for all.
SYNCYTE_ANY_SIDE bool lock_or_give_up(const update_arguments& a, std::uint32_t* lock, std::uint32_t bits) {
  if (try_lock(lock, bits)) return true;
  const std::uint64_t begin = nanoseconds();
  do {
    pause();
    if (try_lock(lock, bits)) return true;
  } while (load(a.bad->waits_end) == 0 && nanoseconds() - begin < a.longest_wait);
  store_last(a.bad->waits_end, std::uint32_t{1});
  return false;
}

/// A number in the type in which optimizers compute.
template <class T>
SYNCYTE_ANY_SIDE optim::number_of<T> to_number(T value) {
  if constexpr (std::is_same_v<T, double>)
    return value;
  else
    return to_float(value);
}

template <class T>
SYNCYTE_ANY_SIDE T from_number(optim::number_of<T> number) {
  if constexpr (std::is_floating_point_v<T>)
    return number;
  else
    return convert<T>(number);
}

// Bodies.

/// Copies a list of rows, each with its position.
SYNCYTE_ANY_SIDE void list_rows(const list_arguments& a, std::int64_t thread, std::int64_t threads) {
  for (std::int64_t i = thread; i < a.count; i += threads) {
    const std::int64_t row = index_at(a, i);
    const bool is_row = row >= 0 && row < a.table_rows;
    if (!is_row) note(a, i, row);
    a.list[i] = {is_row ? row : listed_row::none, i};
  }
}

/// Number of rows of a sorted run that come before a row of another run: lower ones, and equal ones if `with_equal`.
SYNCYTE_ANY_SIDE std::int64_t count_before(const listed_row* run, std::int64_t length, std::int64_t row,
                                           bool with_equal) {
  std::int64_t first = 0;
  while (length > 0) {
    const std::int64_t half = length / 2;
    const bool is_before = run[first + half].row < row || (with_equal && run[first + half].row == row);
    first = is_before ? first + half + 1 : first;
    length = is_before ? length - half - 1 : half;
  }
  return first;
}

/// Merges pairs of sorted runs: each row finds its place. Equal rows stay in order.
SYNCYTE_ANY_SIDE void merge_lists(const merge_arguments& a, std::int64_t thread, std::int64_t threads) {
  const auto end_of = [&](std::int64_t begin) { return begin + a.length < a.count ? begin + a.length : a.count; };
  for (std::int64_t i = thread; i < a.count; i += threads) {
    const std::int64_t left = i / (2 * a.length) * 2 * a.length, right = end_of(left);
    const bool is_left = i < right;
    const std::int64_t others = is_left ? right : left;
    const std::int64_t before = count_before(a.from + others, end_of(others) - others, a.from[i].row, !is_left);
    a.to[(is_left ? i : left + i - right) + before] = a.from[i];
  }
}

/// Updates each row of a sorted list once.
template <template <class> class Optimizer, class T>
SYNCYTE_ANY_SIDE void update_rows(const update_arguments& a, std::int64_t thread, std::int64_t threads) {
  using number = optim::number_of<T>;
  const Optimizer<number> optimizer(a.by);
  const std::int64_t lanes = std::int64_t{1} << a.lane_bits;
  const std::int64_t lane = thread & (lanes - 1), step = threads >> a.lane_bits;
  for (std::int64_t i = thread >> a.lane_bits; i < a.count && (thread >> a.lane_bits) < step; i += step) {
    const std::int64_t row = a.list[i].row;
    if (row == listed_row::none || (i > 0 && a.list[i - 1].row == row)) continue;
    if (!lock_or_give_up(a, a.locks + row, 1U << lane)) {
      note(a, a.list[i].position, row);
      continue;
    }
    auto* const values = reinterpret_cast<T*>(a.table + row * a.stride);
    auto* const state = reinterpret_cast<number*>(a.state + row * a.state_stride);
    for (std::int64_t k = lane; k < a.row_elements; k += lanes) {
      const auto gradient_at = [&](std::int64_t j) {
        return reinterpret_cast<const T*>(a.gradients)[a.list[j].position * a.row_elements + k];
      };
      T sum = gradient_at(i);
      for (std::int64_t j = i + 1; j < a.count && a.list[j].row == row; ++j)
        sum = from_number<T>(to_number(sum) + to_number(gradient_at(j)));
      const number change = optim::change_of(optimizer, to_number(sum), state + k, state + a.slot_elements + k);
      values[k] = from_number<T>(to_number(values[k]) - change);
    }
    unlock(a.locks + row, 1U << lane);
  }
}

}  // namespace syncyte::rows::cuda
