// SPDX-License-Identifier: BSD-3-Clause
// Exact sums of rows: against sums of 128-bit integers, at the limits of each type, and in any order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/dtype.hpp"
#include "rows/exact_rows.hpp"

namespace {

using namespace syncyte;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Adds the sums of rows from 0 on to zeros.
template <class T>
std::vector<T> totals(rows::exact_rows& sums, std::size_t rows, std::size_t elements) {
  std::vector<T> result(rows * elements);
  const rows::row_range all{0, static_cast<std::int64_t>(rows), reinterpret_cast<std::byte*>(result.data())};
  sums.add_all_to(rows::row_map({&all, 1}, elements * sizeof(T)));
  return result;
}

template <class T>
T sum_of(syncyte_dtype_t dtype, const std::vector<T>& terms) {
  rows::exact_rows sums(dtype, 1);
  for (const T& term : terms) sums.add(0, reinterpret_cast<const std::byte*>(&term));
  return totals<T>(sums, 1, 1)[0];
}

double sum64(const std::vector<double>& terms) { return sum_of(SYNCYTE_FLOAT64, terms); }
float sum32(const std::vector<float>& terms) { return sum_of(SYNCYTE_FLOAT32, terms); }

TEST(exact_rows, cancellation_loses_nothing) {
  EXPECT_EQ(sum64({1e300, 1, -1e300}), 1);
  EXPECT_EQ(sum64({1e300, 1e-300, -1e300}), 1e-300);
  EXPECT_EQ(sum64({-1e300, -1, 1e300}), -1);
  EXPECT_EQ(sum64({1, -1}), 0);
  EXPECT_FALSE(std::signbit(sum64({-0.0, -0.0})));
  EXPECT_EQ(sum32({1e30f, 3e-30f, -1e30f}), 3e-30f);
}

TEST(exact_rows, rounds_to_nearest_even_once) {
  const double half = std::ldexp(1.0, -53);
  EXPECT_EQ(sum64({1, half}), 1);
  EXPECT_EQ(sum64({1, half, std::ldexp(1.0, -1074)}), std::nextafter(1.0, 2.0));
  EXPECT_EQ(sum64({std::nextafter(1.0, 2.0), half}), 1 + 4 * half);
  EXPECT_EQ(sum64({-1, -half, -std::ldexp(1.0, -200)}), -std::nextafter(1.0, 2.0));
  EXPECT_EQ(sum32({1, std::ldexp(1.0f, -24)}), 1);
  EXPECT_EQ(sum32({1, std::ldexp(1.0f, -24), std::ldexp(1.0f, -140)}), std::nextafter(1.0f, 2.0f));
}

TEST(exact_rows, limits_of_the_types) {
  constexpr double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(sum64({largest, largest, -largest}), largest);
  EXPECT_EQ(sum64({largest, largest}), infinity);
  EXPECT_EQ(sum64({-largest, -largest}), -infinity);
  EXPECT_EQ(sum64({smallest, smallest, smallest}), 3 * smallest);
  EXPECT_EQ(sum32({std::numeric_limits<float>::max(), std::numeric_limits<float>::max()}),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(sum32({std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::denorm_min()}),
            2 * std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(sum64({infinity, 1}), infinity);
  EXPECT_EQ(sum64({-infinity, largest, largest}), -infinity);
  EXPECT_TRUE(std::isnan(sum64({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(sum64({std::nan(""), 1})));
}

TEST(exact_rows, half_precision) {
  using base::bfloat16, base::float16;
  const auto half = sum_of<float16>(SYNCYTE_FLOAT16, {float16(2048.f), float16(1.f), float16(0x1p-24f)});
  EXPECT_EQ(static_cast<float>(half), 2050.f);
  EXPECT_EQ(static_cast<float>(sum_of<float16>(SYNCYTE_FLOAT16, {float16(65504.f), float16(65504.f)})),
            std::numeric_limits<float>::infinity());
  const auto brain = sum_of<bfloat16>(SYNCYTE_BFLOAT16, {bfloat16(256.f), bfloat16(1.f), bfloat16(0x1p-100f)});
  EXPECT_EQ(static_cast<float>(brain), 258.f);
}

TEST(exact_rows, complex_numbers_have_two_sums) {
  const std::vector<std::complex<double>> terms{{1e300, 1}, {1, 1e-300}, {-1e300, -1}};
  EXPECT_EQ(sum_of(SYNCYTE_COMPLEX128, terms), std::complex<double>(1, 1e-300));
}

/// Numbers whose sum a 128-bit integer holds, in units of 2^-40.
TEST(exact_rows, many_numbers_in_any_order_equal_integers) {
  std::mt19937_64 random(5);
  std::vector<double> terms;
  __int128 total = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto integer = static_cast<std::int64_t>(random()) >> 12;  // 52 bits and the sign
    const int shift = static_cast<int>(random() % 40);
    terms.push_back(std::ldexp(static_cast<double>(integer), shift - 40));
    total += static_cast<__int128>(integer) << shift;
  }
  const double expected = std::ldexp(static_cast<double>(total), -40);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(terms.begin(), terms.end(), random);
    EXPECT_EQ(sum64(terms), expected);
  }
}

/// Sums that are made in parts, and merged as records in any order, have the same bits.
TEST(exact_rows, parts_that_are_merged) {
  constexpr std::size_t elements = 3, terms = 300;
  std::mt19937_64 random(6);
  std::vector<float> values;
  for (std::size_t i = 0; i < elements * terms; ++i) {
    const int exponent = static_cast<int>(random() % 200) - 100;
    values.push_back(std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())), exponent - 31));
  }
  const auto bytes = [&](std::size_t term) { return reinterpret_cast<const std::byte*>(&values[term * elements]); };
  rows::exact_rows whole(SYNCYTE_FLOAT32, elements);
  for (std::size_t i = 0; i < terms; ++i) whole.add(static_cast<std::int64_t>(i % 2), bytes(i));
  std::vector<rows::exact_rows> parts;
  for (int i = 0; i < 5; ++i) parts.emplace_back(SYNCYTE_FLOAT32, elements);
  for (std::size_t i = 0; i < terms; ++i) parts[i * 7 % 5].add(static_cast<std::int64_t>(i % 2), bytes(i));
  rows::exact_rows merged(SYNCYTE_FLOAT32, elements);
  for (std::size_t p = parts.size(); p-- > 0;)
    for (const std::int64_t row : parts[p].rows()) {
      std::vector<std::int64_t> record;
      parts[p].move_to_record(row, record);
      EXPECT_EQ(merged.record_words(record.data()), record.size());
      merged.merge(record.data());
    }
  EXPECT_EQ(merged.rows().size(), 2);
  const std::vector<float> expected = totals<float>(whole, 2, elements), result = totals<float>(merged, 2, elements);
  EXPECT_EQ(std::memcmp(result.data(), expected.data(), 2 * elements * sizeof(float)), 0);
  EXPECT_TRUE(whole.empty());
  EXPECT_TRUE(merged.empty());
}

/// A sum of finite numbers as an integer in units of 2^-1074, bit by bit: slow and simple.
class integer_sum {
 public:
  void add(double value) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    const auto integer = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    for (int i = 0; i < 53; ++i)  // below position 0, a subnormal number has only zeros
      if ((std::abs(integer) >> i & 1) != 0)
        bits_.at(static_cast<std::size_t>(exponent + 1021 + i)) += value < 0 ? -1 : 1;
  }

  /// Rounds to a precision in bits, and to whole multiples of 2^smallest.
  double rounded(int precision, int smallest) {
    propagate();
    const bool is_negative = bits_.back() < 0;
    if (is_negative) {
      for (int& bit : bits_) bit = -bit;
      propagate();
    }
    int highest = static_cast<int>(bits_.size()) - 1;
    while (highest >= 0 && bit(highest) == 0) --highest;
    const int lowest = std::max(highest - precision + 1, smallest + 1074);
    double integer = 0;
    for (int i = highest; i >= lowest; --i) integer = 2 * integer + bit(i);
    bool has_rest = bit(lowest) != 0;  // or the number is odd
    for (int i = 0; i < lowest - 1; ++i) has_rest |= bit(i) != 0;
    if (bit(lowest - 1) != 0 && has_rest) ++integer;
    return std::ldexp(is_negative ? -integer : integer, lowest - 1074);
  }

 private:
  int bit(int position) const { return position < 0 ? 0 : bits_.at(static_cast<std::size_t>(position)); }
  /// Leaves 0 or 1 in all bits but the highest, which has the sign.
  void propagate() {
    for (std::size_t i = 0; i + 1 < bits_.size(); ++i) {
      bits_[i + 1] += bits_[i] >> 1;
      bits_[i] &= 1;
    }
  }

  std::vector<int> bits_ = std::vector<int>(2150);
};

/// Numbers of a type, `span` binary orders of magnitude above 2^lowest; some have few bits, some cancel earlier ones.
template <class T>
std::vector<T> make_terms(std::mt19937_64& random, int lowest, int span) {
  using wide = std::conditional_t<std::same_as<T, double>, double, float>;
  std::vector<T> terms(1 + random() % 30);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto integer = static_cast<double>(static_cast<std::int64_t>(random()) >> (random() % 63));
    const int exponent = lowest + static_cast<int>(random() % static_cast<std::uint64_t>(span));
    const double value = std::ldexp(std::ldexp(integer, -63), exponent);
    terms[i] = T(random() % 3 == 0 ? -static_cast<wide>(terms[random() % (i + 1)]) : static_cast<wide>(value));
    if (!std::isfinite(static_cast<wide>(terms[i]))) terms[i] = T(wide(0));
  }
  return terms;
}

/// The sum of a row that is added in two parts, of which one becomes a record.
template <class T>
T sum_of_parts(syncyte_dtype_t dtype, const std::vector<T>& terms) {
  rows::exact_rows first(dtype, 1), second(dtype, 1);
  for (std::size_t i = 0; i < terms.size(); ++i)
    (i % 3 == 0 ? second : first).add(0, reinterpret_cast<const std::byte*>(&terms[i]));
  std::vector<std::int64_t> record;
  second.move_to_record(0, record);
  first.merge(record.data());
  return totals<T>(first, 1, 1)[0];
}

/// `smallest`, `largest`: the type's smallest number is 2^smallest, and all are less than 2^largest.
template <class T>
void check_against_integers(syncyte_dtype_t dtype, int precision, int smallest, int largest) {
  using wide = std::conditional_t<std::same_as<T, double>, double, float>;
  std::mt19937_64 random(7);
  for (int i = 0; i < 1'000; ++i) {
    const int lowest = smallest + static_cast<int>(random() % static_cast<std::uint64_t>(largest - smallest));
    const int most = largest + 1 - lowest, span = i % 2 == 0 ? most : std::min(most, 40);
    const std::vector<T> terms = make_terms<T>(random, lowest, span);
    integer_sum sum;
    for (const T& term : terms) sum.add(static_cast<double>(static_cast<wide>(term)));
    const T expected(static_cast<wide>(sum.rounded(precision, smallest) + 0.0));
    const T result = sum_of(dtype, terms), merged = sum_of_parts(dtype, terms);
    ASSERT_EQ(std::memcmp(&result, &expected, sizeof(T)), 0) << i;
    ASSERT_EQ(std::memcmp(&merged, &expected, sizeof(T)), 0) << i;
  }
}

TEST(exact_rows, any_magnitudes_equal_integers) {
  check_against_integers<float>(SYNCYTE_FLOAT32, 24, -149, 128);
  check_against_integers<double>(SYNCYTE_FLOAT64, 53, -1074, 1024);
  check_against_integers<base::float16>(SYNCYTE_FLOAT16, 11, -24, 16);
  check_against_integers<base::bfloat16>(SYNCYTE_BFLOAT16, 8, -133, 128);
}

/// A row that was added once, to one that has a number: NaN and zero have the same bits as after several additions.
TEST(exact_rows, one_addition_has_the_bits_of_several) {
  const std::vector<float> special{
      0.0f, -0.0f, 1.5f, static_cast<float>(infinity), -static_cast<float>(infinity), std::nanf("7")};
  for (const float own : special)
    for (const float term : special) {
      float once = own, twice = own;
      const float zero = 0;
      for (float* const target : {&once, &twice}) {
        rows::exact_rows sums(SYNCYTE_FLOAT32, 1);
        sums.add(0, reinterpret_cast<const std::byte*>(&term));
        if (target == &twice) sums.add(0, reinterpret_cast<const std::byte*>(&zero));
        const rows::row_range row{0, 1, reinterpret_cast<std::byte*>(target)};
        sums.add_all_to(rows::row_map({&row, 1}, sizeof(float)));
      }
      EXPECT_EQ(std::memcmp(&once, &twice, sizeof(float)), 0) << own << " + " << term;
    }
}

/// Rows are found again after others were forgotten, and after they were forgotten themselves.
TEST(exact_rows, many_rows_that_are_forgotten_and_added_again) {
  constexpr std::int64_t count = 1'000;
  rows::exact_rows sums(SYNCYTE_FLOAT64, 1);
  const auto add = [&](std::int64_t row, double value) { sums.add(row, reinterpret_cast<std::byte*>(&value)); };
  for (std::int64_t row = 0; row < count; ++row) add(row, static_cast<double>(row));
  std::vector<std::int64_t> records;
  for (std::int64_t row = 0; row < count; row += 2) sums.move_to_record(row, records);
  EXPECT_EQ(sums.rows().size(), std::size_t{count / 2});
  EXPECT_EQ(sums.rows().front(), 1);
  for (std::int64_t row = 0; row < count; row += 3) add(row, 0.5);
  for (std::size_t at = 0; at < records.size(); at += sums.record_words(&records[at])) sums.merge(&records[at]);
  const auto result = totals<double>(sums, count, 1);
  for (std::int64_t row = 0; row < count; ++row)
    EXPECT_EQ(result[static_cast<std::size_t>(row)], static_cast<double>(row) + (row % 3 == 0 ? 0.5 : 0));
  EXPECT_TRUE(sums.empty());
}

}  // namespace
