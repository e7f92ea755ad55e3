// SPDX-License-Identifier: BSD-3-Clause
// The bodies of kernels on rows as host code, in blocks of exactly their size: sanitizers see accesses outside. Threads
// run in a random order, also several at once.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "rows/cuda/kernel_list.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::rows::cuda;

std::mt19937_64 generator(5);

std::int64_t draw(std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(generator);
}

/// Memory without room behind it.
template <class T>
std::unique_ptr<T[]> block_of(const std::vector<T>& values) {
  std::unique_ptr<T[]> result(new T[values.size()]);
  std::ranges::copy(values, result.get());
  return result;
}

/// Runs the shares of all threads in a random order.
template <class Arguments, class Body>
void run(const Arguments& given, std::int64_t threads, Body&& body) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(threads));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, generator);
  for (const std::int64_t thread : order) body(given, thread, threads);
}

/// A table and packed rows of numbers, with an index that has some bad rows.
template <class T>
struct problem {
  std::int64_t elements = draw(1, 70), rows = draw(1, 9), count = draw(0, 40);
  std::vector<std::int64_t> index;
  std::vector<T> table = std::vector<T>(static_cast<std::size_t>(rows * elements)),
                 packed = std::vector<T>(static_cast<std::size_t>(count * elements));
  bad_index bad;

  explicit problem(bool has_bad) {
    for (std::int64_t i = 0; i < count; ++i)
      index.push_back(has_bad && draw(0, 5) == 0 ? draw(-3, -1) : draw(0, rows - 1));
    for (auto* numbers : {&table, &packed})
      for (T& each : *numbers) each = static_cast<T>(static_cast<float>(draw(-8, 8)));
  }
  row_arguments arguments(T* table_at, T* packed_at, const std::int64_t* index_at) {
    return {.table = reinterpret_cast<std::byte*>(table_at),
            .table_rows = rows,
            .stride = elements * static_cast<std::int64_t>(sizeof(T)),
            .index = index_at,
            .count = count,
            .packed = reinterpret_cast<std::byte*>(packed_at),
            .row_elements = elements,
            .bad = &bad,
            .operation = 2,
            .lane_bits = static_cast<std::int32_t>(draw(0, 5)),
            .is_wide = 1};
  }
  bool is_row(std::int64_t row) const { return row >= 0 && row < rows; }
  void expect_noted() const {
    const auto first = std::ranges::find_if(index, [&](std::int64_t row) { return !is_row(row); });
    ASSERT_EQ(bad.position, first == index.end() ? bad_index::none : static_cast<std::uint64_t>(first - index.begin()));
    if (first == index.end()) return;
    EXPECT_EQ(bad.value, *first);
    EXPECT_EQ(bad.table_rows, rows);
    EXPECT_EQ(bad.operation, 2u);
  }
};

TEST(kernel_bodies, gather_stays_inside) {
  for (int round = 0; round < 200; ++round) {
    problem<float> of(round % 3 == 0);
    const auto table = block_of(of.table), packed = block_of(of.packed);
    const auto index = block_of(of.index);
    run(of.arguments(table.get(), packed.get(), index.get()), draw(32, 300), copy_rows<4, false>);
    of.expect_noted();
    const auto row = static_cast<std::size_t>(of.elements);
    for (std::size_t i = 0; i < of.index.size(); ++i)
      if (of.is_row(of.index[i]))
        std::copy_n(&of.table[static_cast<std::size_t>(of.index[i]) * row], row, &of.packed[i * row]);
      else
        std::fill_n(&of.packed[i * row], row, 0.0F);
    ASSERT_TRUE(std::equal(of.packed.begin(), of.packed.end(), packed.get())) << round;
  }
}

template <class T, class Body>
void check_sums(Body&& body, bool at_once) {
  for (int round = 0; round < 100; ++round) {
    problem<T> of(round % 3 == 0);
    // An odd number of 16-bit numbers ends within a word, of which a device's page has both halves.
    std::vector<T> padded = of.table;
    if (padded.size() % 2 != 0) padded.push_back(T{});
    const auto table = block_of(padded), packed = block_of(of.packed);
    const auto index = block_of(of.index);
    const row_arguments given = of.arguments(table.get(), packed.get(), index.get());
    if (at_once) {
      const std::int64_t threads = std::int64_t{4} << given.lane_bits;
      std::vector<std::jthread> all;
      for (std::int64_t first = 0; first < 2; ++first)
        all.emplace_back([&, first] {
          for (std::int64_t thread = first; thread < threads; thread += 2) body(given, thread, threads);
        });
    } else {
      run(given, draw(32, 300), body);
    }
    of.expect_noted();
    const auto row = static_cast<std::size_t>(of.elements);
    std::vector<float> wanted;
    for (const T each : of.table) wanted.push_back(static_cast<float>(each));
    for (std::size_t i = 0; i < of.index.size(); ++i)
      for (std::size_t k = 0; k < row && of.is_row(of.index[i]); ++k)
        wanted[static_cast<std::size_t>(of.index[i]) * row + k] += static_cast<float>(of.packed[i * row + k]);
    for (std::size_t k = 0; k < wanted.size(); ++k) ASSERT_EQ(static_cast<float>(table[k]), wanted[k]) << round;
  }
}

TEST(kernel_bodies, sums_are_exact_in_any_order) {
  check_sums<float>(add_rows<float>, false);
  check_sums<base::float16>(add_half_rows<base::float16>, false);
  check_sums<base::bfloat16>(add_half_rows<base::bfloat16>, false);
}

TEST(kernel_bodies, threads_at_once_lose_no_sum_and_note_the_first_bad_index) {
  check_sums<float>(add_rows<float>, true);
  check_sums<base::float16>(add_half_rows<base::float16>, true);
}

/// Sorts a list of rows by the kernels.
std::vector<listed_row> sorted_list(const std::vector<std::int64_t>& index, std::int64_t rows, bad_index& bad) {
  const auto count = static_cast<std::int64_t>(index.size());
  const auto given = block_of(index);
  auto from = block_of(std::vector<listed_row>(index.size())), to = block_of(std::vector<listed_row>(index.size()));
  run(list_arguments{given.get(), count, from.get(), rows, &bad, 2, 1}, draw(1, 99), list_rows);
  for (std::int64_t length = 1; length < count; length *= 2) {
    run(merge_arguments{from.get(), to.get(), count, length}, draw(1, 99), merge_lists);
    from.swap(to);
  }
  return {from.get(), from.get() + count};
}

TEST(kernel_bodies, lists_are_sorted_and_equal_rows_stay_in_order) {
  for (int round = 0; round < 200; ++round) {
    problem<float> of(round % 3 == 0);
    const std::vector<listed_row> found = sorted_list(of.index, of.rows, of.bad);
    of.expect_noted();
    std::vector<std::pair<std::int64_t, std::int64_t>> wanted;
    for (std::size_t i = 0; i < of.index.size(); ++i)
      wanted.emplace_back(of.is_row(of.index[i]) ? of.index[i] : listed_row::none, static_cast<std::int64_t>(i));
    std::ranges::stable_sort(wanted, {}, [](const auto& each) { return each.first; });
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(found[i].row, wanted[i].first) << round;
      ASSERT_EQ(found[i].position, wanted[i].second) << round;
    }
  }
}

/// Several updates of the same rows at once, by threads: AdaGrad's sums of squares of whole numbers are exact.
TEST(kernel_bodies, updates_at_once_are_all_done) {
  for (int round = 0; round < 100; ++round) {
    problem<float> of(round % 3 == 0);
    const auto table = block_of(of.table), packed = block_of(of.packed),
               state = block_of(std::vector<float>(of.table.size()));
    const auto locks = block_of(std::vector<std::uint32_t>(static_cast<std::size_t>(of.rows)));
    const auto list = block_of(sorted_list(of.index, of.rows, of.bad));
    const std::int64_t row_bytes = of.elements * static_cast<std::int64_t>(sizeof(float));
    const update_arguments given{.by = {.rate = 0.5, .decay1 = 0.0, .decay2 = 0.0, .eps = 1.0},
                                 .table = reinterpret_cast<std::byte*>(table.get()),
                                 .table_rows = of.rows,
                                 .stride = row_bytes,
                                 .state = reinterpret_cast<std::byte*>(state.get()),
                                 .state_stride = row_bytes,
                                 .list = list.get(),
                                 .count = of.count,
                                 .gradients = reinterpret_cast<std::byte*>(packed.get()),
                                 .row_elements = of.elements,
                                 .slot_elements = of.elements,
                                 .locks = locks.get(),
                                 .bad = &of.bad,
                                 .operation = 4,
                                 .lane_bits = static_cast<std::int32_t>(draw(0, 5)),
                                 .longest_wait = UINT64_MAX};
    const std::int64_t threads = std::int64_t{2} << given.lane_bits;
    {
      std::vector<std::jthread> all;
      for (int update = 0; update < 3; ++update)
        all.emplace_back([&] {
          for (std::int64_t thread = 0; thread < threads; ++thread)
            update_rows<optim::adagrad, float>(given, thread, threads);
        });
    }
    std::vector<float> sums(of.table.size());
    const auto row = static_cast<std::size_t>(of.elements);
    for (std::size_t i = 0; i < of.index.size(); ++i)
      for (std::size_t k = 0; k < row && of.is_row(of.index[i]); ++k)
        sums[static_cast<std::size_t>(of.index[i]) * row + k] += of.packed[i * row + k];
    for (std::size_t k = 0; k < sums.size(); ++k) ASSERT_EQ(state[k], 3 * sums[k] * sums[k]) << round;
    for (std::int64_t k = 0; k < of.rows; ++k) ASSERT_EQ(locks[static_cast<std::size_t>(k)], 0u);
  }
}

}  // namespace
