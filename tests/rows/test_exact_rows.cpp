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

template <class T>
T sum_of(syncyte_dtype_t dtype, const std::vector<T>& terms) {
  rows::exact_rows sums(dtype, 1);
  for (const T& term : terms) sums.add(0, reinterpret_cast<const std::byte*>(&term));
  T result;
  sums.round(0, reinterpret_cast<std::byte*>(&result));
  return result;
}

double sum64(const std::vector<double>& terms) { return sum_of(SYNCYTE_FLOAT64, terms); }
float sum32(const std::vector<float>& terms) { return sum_of(SYNCYTE_FLOAT32, terms); }

TEST(ExactRows, CancellationLosesNothing) {
  EXPECT_EQ(sum64({1e300, 1, -1e300}), 1);
  EXPECT_EQ(sum64({1e300, 1e-300, -1e300}), 1e-300);
  EXPECT_EQ(sum64({-1e300, -1, 1e300}), -1);
  EXPECT_EQ(sum64({1, -1}), 0);
  EXPECT_FALSE(std::signbit(sum64({-0.0, -0.0})));
  EXPECT_EQ(sum32({1e30f, 3e-30f, -1e30f}), 3e-30f);
}

TEST(ExactRows, RoundsToNearestEvenOnce) {
  const double half = std::ldexp(1.0, -53);
  EXPECT_EQ(sum64({1, half}), 1);
  EXPECT_EQ(sum64({1, half, std::ldexp(1.0, -1074)}), std::nextafter(1.0, 2.0));
  EXPECT_EQ(sum64({std::nextafter(1.0, 2.0), half}), 1 + 4 * half);
  EXPECT_EQ(sum64({-1, -half, -std::ldexp(1.0, -200)}), -std::nextafter(1.0, 2.0));
  EXPECT_EQ(sum32({1, std::ldexp(1.0f, -24)}), 1);
  EXPECT_EQ(sum32({1, std::ldexp(1.0f, -24), std::ldexp(1.0f, -140)}), std::nextafter(1.0f, 2.0f));
}

TEST(ExactRows, LimitsOfTheTypes) {
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

TEST(ExactRows, HalfPrecision) {
  using base::bfloat16, base::float16;
  const auto half = sum_of<float16>(SYNCYTE_FLOAT16, {float16(2048.f), float16(1.f), float16(0x1p-24f)});
  EXPECT_EQ(static_cast<float>(half), 2050.f);
  EXPECT_EQ(static_cast<float>(sum_of<float16>(SYNCYTE_FLOAT16, {float16(65504.f), float16(65504.f)})),
            std::numeric_limits<float>::infinity());
  const auto brain = sum_of<bfloat16>(SYNCYTE_BFLOAT16, {bfloat16(256.f), bfloat16(1.f), bfloat16(0x1p-100f)});
  EXPECT_EQ(static_cast<float>(brain), 258.f);
}

TEST(ExactRows, ComplexNumbersHaveTwoSums) {
  const std::vector<std::complex<double>> terms{{1e300, 1}, {1, 1e-300}, {-1e300, -1}};
  EXPECT_EQ(sum_of(SYNCYTE_COMPLEX128, terms), std::complex<double>(1, 1e-300));
}

/// Numbers whose sum a 128-bit integer holds, in units of 2^-40.
TEST(ExactRows, ManyNumbersInAnyOrderEqualIntegers) {
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
TEST(ExactRows, PartsThatAreMerged) {
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
  std::vector<rows::exact_rows> parts(5, rows::exact_rows(SYNCYTE_FLOAT32, elements));
  for (std::size_t i = 0; i < terms; ++i) parts[i * 7 % 5].add(static_cast<std::int64_t>(i % 2), bytes(i));
  rows::exact_rows merged(SYNCYTE_FLOAT32, elements);
  for (std::size_t p = parts.size(); p-- > 0;)
    for (const std::int64_t row : parts[p].numbers()) {
      std::vector<std::int64_t> record;
      parts[p].move_to_record(row, record);
      EXPECT_EQ(merged.record_words(record.data()), record.size());
      merged.merge(record.data());
    }
  EXPECT_EQ(merged.numbers(), (std::vector<std::int64_t>{0, 1}));
  for (const std::int64_t row : {0, 1}) {
    std::vector<float> expected(elements), result(elements);
    whole.round(row, reinterpret_cast<std::byte*>(expected.data()));
    merged.round(row, reinterpret_cast<std::byte*>(result.data()));
    EXPECT_EQ(std::memcmp(result.data(), expected.data(), elements * sizeof(float)), 0) << row;
  }
}

}  // namespace
