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
template <class Body>
void run(const row_arguments& given, std::int64_t threads, Body&& body) {
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

}  // namespace
