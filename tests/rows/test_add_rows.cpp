// SPDX-License-Identifier: BSD-3-Clause
// Adding rows: every dtype against a simple loop, and exact sums when several processes add to the same rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/ops.hpp"
#include "elements.hpp"
#include "reference.hpp"
#include "rows/add_rows.hpp"
#include "shared_bytes.hpp"

namespace {

using namespace syncyte;
using test::all_dtypes;
using test::number;

bool always_alive(int) { return true; }

std::vector<std::uint64_t> lock_words(std::int64_t rows) {
  return std::vector<std::uint64_t>(static_cast<std::size_t>(atomics::lock_table::words_for(rows)));
}

template <class T>
std::vector<T> numbers(std::uint64_t seed, std::size_t count) {
  std::vector<T> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(number<T>(reference::random_integer(seed, 0, static_cast<std::int64_t>(i), 0, 3)));
  return result;
}

template <class T>
void check_adds(syncyte_dtype_t dtype, std::size_t row_elements, std::size_t shift) {
  constexpr std::int64_t rows = 61;
  const std::size_t row_bytes = row_elements * sizeof(T);
  const auto index = reference::random_rows<std::int64_t>(1, 0, 700, rows);
  const auto source = numbers<T>(2, index.size() * row_elements);
  std::vector<T> table = numbers<T>(3, rows * row_elements);
  alignas(16) static std::byte memory[61 * 40 * 16 + 16];
  std::memcpy(memory + shift, table.data(), rows * row_bytes);
  for (std::size_t i = 0; i < index.size(); ++i)
    for (std::size_t e = 0; e < row_elements; ++e) {
      T& place = table[static_cast<std::size_t>(index[i]) * row_elements + e];
      place = base::combine<T, SYNCYTE_OP_SUM>(place, source[i * row_elements + e]);
    }
  const rows::row_range all{0, rows, memory + shift};
  auto words = lock_words(rows);
  atomics::lock_table locks(words, 0, always_alive);
  rows::add_rows(rows::row_map({&all, 1}, row_bytes), rows::row_index(std::span(index)),
                 reinterpret_cast<const std::byte*>(source.data()), dtype, locks);
  EXPECT_EQ(std::memcmp(memory + shift, table.data(), rows * row_bytes), 0)
      << base::dtype_name(dtype) << ", rows of " << row_elements << ", shifted by " << shift;
  EXPECT_EQ(words, lock_words(rows)) << "a lock is still held";
}

TEST(add_rows, equals_the_loop_for_every_dtype) {
  for (const auto dtype : all_dtypes)
    base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
      for (const std::size_t row_elements : {1, 2, 3, 7, 8, 19, 40})
        for (const std::size_t shift : {0, 1}) check_adds<T>(dtype, row_elements, shift);
    });
}

TEST(add_rows, rounds_sixteen_bit_floats_once) {
  // 1 + 2^-11 and 1 + 3 * 2^-11 are halfway between two float16: rounded to even they are 1 and 1 + 2^-9.
  for (const std::size_t row_elements : {1, 16}) {
    std::vector<base::float16> table(row_elements, base::float16(1.0f));
    const std::vector<base::float16> half_unit(row_elements, base::float16(0x1p-11f));
    const std::vector<base::float16> more(row_elements, base::float16(3 * 0x1p-11f));
    const rows::row_range all{0, 1, reinterpret_cast<std::byte*>(table.data())};
    auto words = lock_words(1);
    atomics::lock_table locks(words, 0, always_alive);
    const std::vector<std::int32_t> index{0};
    const auto add = [&](const std::vector<base::float16>& source) {
      rows::add_rows(rows::row_map({&all, 1}, row_elements * 2), rows::row_index(std::span(index)),
                     reinterpret_cast<const std::byte*>(source.data()), SYNCYTE_FLOAT16, locks);
    };
    add(half_unit);
    EXPECT_EQ(static_cast<float>(table.back()), 1.0f);
    add(more);
    EXPECT_EQ(static_cast<float>(table.back()), 1.0f + 0x1p-9f);
  }
}

TEST(add_rows, at_positions_equals_the_loop) {
  for (const std::size_t row_elements : {1, 5}) {
    std::vector<std::int32_t> table(8 * row_elements, 100), expected = table, source(6 * row_elements);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::int32_t>(i * i);
    const std::vector<std::int64_t> index{7, 0, 7}, positions{5, 1, 0};
    for (std::size_t i = 0; i < index.size(); ++i)
      for (std::size_t e = 0; e < row_elements; ++e)
        expected[static_cast<std::size_t>(index[i]) * row_elements + e] +=
            source[static_cast<std::size_t>(positions[i]) * row_elements + e];
    const rows::row_range all{0, 8, reinterpret_cast<std::byte*>(table.data())};
    auto words = lock_words(8);
    atomics::lock_table locks(words, 0, always_alive);
    rows::add_rows_at(rows::row_map({&all, 1}, row_elements * 4), rows::row_index(std::span(index)), positions,
                      reinterpret_cast<const std::byte*>(source.data()), SYNCYTE_INT32, locks);
    EXPECT_EQ(table, expected) << "rows of " << row_elements;
    EXPECT_EQ(words, lock_words(8));
  }
}

/// Several processes with two threads each add ones to a few rows: no add is lost.
template <class T>
void check_contention(syncyte_dtype_t dtype, std::size_t row_elements) {
  constexpr int processes = 3, threads = 2, rounds = 200;
  constexpr std::int64_t rows = 4;
  const test::shared_bytes words(4096), table(1 << 16);
  const std::span lock_table(words.as<std::uint64_t>(), static_cast<std::size_t>(atomics::lock_table::words_for(rows)));
  const rows::row_range all{0, rows, table.as<std::byte>()};
  const rows::row_map map({&all, 1}, row_elements * sizeof(T));
  const std::vector<std::int32_t> index{0, 1, 2, 3, 1, 1};
  const std::vector<T> ones(index.size() * row_elements, number<T>(1));
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process)
    children.push_back(test::fork_to([&] {
      const auto work = [&] {
        atomics::lock_table locks(lock_table, process, always_alive);
        for (int round = 0; round < rounds; ++round)
          rows::add_rows(map, rows::row_index(std::span(index)), reinterpret_cast<const std::byte*>(ones.data()), dtype,
                         locks);
      };
      std::vector<std::jthread> workers;
      for (int thread = 0; thread < threads; ++thread) workers.emplace_back(work);
    }));
  for (const pid_t child : children) EXPECT_EQ(test::exit_code(child), 0);
  constexpr int once = processes * threads * rounds;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::size_t e = 0; e < row_elements; ++e) {
      const T value = table.as<T>()[static_cast<std::size_t>(row) * row_elements + e];
      EXPECT_EQ(value, static_cast<T>(row == 1 ? 3 * once : once)) << base::dtype_name(dtype) << ", row " << row;
    }
}

TEST(add_rows, loses_nothing_under_contention) {
  for (const std::size_t row_elements : {1, 3, 64}) {
    check_contention<float>(SYNCYTE_FLOAT32, row_elements);
    check_contention<double>(SYNCYTE_FLOAT64, row_elements);
    check_contention<std::complex<float>>(SYNCYTE_COMPLEX64, row_elements);
    check_contention<std::int16_t>(SYNCYTE_INT16, row_elements);
    check_contention<std::int64_t>(SYNCYTE_INT64, row_elements);
  }
}

}  // namespace
