// SPDX-License-Identifier: BSD-3-Clause
// Gather with a conversion, against the conversion of one element at a time.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "base/dtype.hpp"
#include "base/streaming_copy.hpp"
#include "reference.hpp"
#include "rows/convert_rows.hpp"
#include "rows/copy_rows.hpp"
#include "rows/wide_rows.hpp"

namespace {

using namespace syncyte;
using bytes = std::vector<std::byte>;

constexpr syncyte_dtype_t floats[] = {SYNCYTE_FLOAT16, SYNCYTE_BFLOAT16, SYNCYTE_FLOAT32, SYNCYTE_FLOAT64};

double read(const std::byte* from, syncyte_dtype_t dtype) {
  return base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) -> double {
    T value;
    std::memcpy(&value, from, sizeof value);
    if constexpr (std::is_same_v<T, double>)
      return value;
    else if constexpr (requires { static_cast<float>(value); })
      return static_cast<float>(value);
    else
      return 0;
  });
}

void write(std::byte* to, syncyte_dtype_t dtype, double number) {
  base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
    if constexpr (std::is_same_v<T, double>) {
      std::memcpy(to, &number, sizeof number);
    } else if constexpr (requires { T(1.0f); }) {
      const T value = T(static_cast<float>(number));
      std::memcpy(to, &value, sizeof value);
    }
  });
}

/// Normal numbers of all magnitudes, ties, subnormals, zeros, infinities and NaN.
std::vector<double> trying_numbers() {
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            65504.0,
                            65520.0,
                            65519.99,
                            -70000.0,
                            1e-7,
                            5.9604645e-8,
                            2.9802322e-8,
                            2.9802326e-8,
                            6.1e-5,
                            1.00048828125,
                            1.0009765625,
                            1.00390625,
                            1.01171875,
                            3.3e38,
                            1e39,
                            -1e300,
                            1e-300,
                            1e-42,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> numbers(std::begin(special), std::end(special));
  for (int i = 0; i < 1000; ++i) {
    const auto bits = reference::random_bits(7, 0, i);
    const double mantissa = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
    numbers.push_back(std::ldexp((bits & 1) != 0 ? -mantissa : mantissa, static_cast<int>(bits >> 1 & 63) - 32));
  }
  return numbers;
}

class conversions : public testing::TestWithParam<std::tuple<syncyte_dtype_t, syncyte_dtype_t>> {};

TEST_P(conversions, equal_those_of_one_element) {
  const auto [from, to] = GetParam();
  if (from == to) return;
  const std::size_t in = base::dtype_size(from), out = base::dtype_size(to);
  const std::vector<double> numbers = trying_numbers();
  bytes table(numbers.size() * in + 1);
  for (const std::size_t shift : {0, 1}) {  // also not aligned
    for (std::size_t i = 0; i < numbers.size(); ++i) write(table.data() + shift + i * in, from, numbers[i]);
    for (const std::size_t elements : {1, 3, 8, 9, 64}) {
      const auto rows = static_cast<std::int64_t>(numbers.size() / elements);
      const rows::row_range all{0, rows, table.data() + shift};
      const auto index = reference::random_rows<std::int64_t>(9, 0, 700, rows);
      bytes output(index.size() * elements * out + 1);
      rows::gather_converted_rows(rows::row_map({&all, 1}, elements * in), rows::row_index(std::span(index)),
                                  output.data() + shift, from, to);
      for (std::size_t i = 0; i < index.size() * elements; ++i) {
        const std::size_t source = static_cast<std::size_t>(index[i / elements]) * elements + i % elements;
        std::byte expected[8];
        write(expected, to, read(table.data() + shift + source * in, from));
        const std::byte* const found = output.data() + shift + i * out;
        if (std::isnan(read(expected, to)))
          ASSERT_TRUE(std::isnan(read(found, to)));
        else
          ASSERT_EQ(std::memcmp(found, expected, out), 0)
              << read(table.data() + shift + source * in, from) << " became " << read(found, to) << ", not "
              << read(expected, to);
      }
    }
  }
}

/// Conversion by the processor's instructions, and by the code for processors without them.
TEST_P(conversions, are_the_same_on_every_processor) {
  const auto [from, to] = GetParam();
  const rows::convert_function wide = rows::wide_convert(from, to, false);
  if (from == to || wide == nullptr) return;
  const std::size_t in = base::dtype_size(from), out = base::dtype_size(to);
  const std::vector<double> numbers = trying_numbers();
  bytes row(numbers.size() * in);
  for (std::size_t i = 0; i < numbers.size(); ++i) write(row.data() + i * in, from, numbers[i]);
  const std::vector<std::byte*> places(1 + rows::prefetch_distance, row.data());  // padding for prefetches
  const rows::row_block block{places.data(), 1, row.size()};
  bytes expected(numbers.size() * out), found(numbers.size() * out);
  rows::portable_convert(from, to)(block, numbers.size(), expected.data());
  wide(block, numbers.size(), found.data());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isnan(read(expected.data() + i * out, to)))
      ASSERT_EQ(std::memcmp(found.data() + i * out, expected.data() + i * out, out), 0) << numbers[i];
    else
      ASSERT_TRUE(std::isnan(read(found.data() + i * out, to)));
}

/// Conversions with streaming stores equal those of unaligned outputs, which use normal stores.
TEST_P(conversions, of_large_outputs_are_the_same) {
  const auto [from, to] = GetParam();
  if (from == to) return;
  constexpr std::size_t elements = 16;
  const std::size_t in = base::dtype_size(from), out = base::dtype_size(to);
  const std::vector<double> numbers = trying_numbers();
  bytes table(numbers.size() * in);
  for (std::size_t i = 0; i < numbers.size(); ++i) write(table.data() + i * in, from, numbers[i]);
  const auto rows = static_cast<std::int64_t>(numbers.size() / elements);
  const rows::row_range all{0, rows, table.data()};
  const rows::row_map map({&all, 1}, elements * in);
  const auto count = static_cast<std::int64_t>(base::streaming_threshold / (elements * out)) + 1;
  const auto index = reference::random_rows<std::int32_t>(10, 0, count, rows);
  const std::size_t size = index.size() * elements * out;
  bytes storage(2 * size + 128);
  void* place = storage.data();
  std::size_t space = storage.size();
  auto* const streamed = static_cast<std::byte*>(std::align(64, size, place, space));
  std::byte* const plain = streamed + size + 1;
  rows::gather_converted_rows(map, rows::row_index(std::span(index)), streamed, from, to);
  rows::gather_converted_rows(map, rows::row_index(std::span(index)), plain, from, to);
  EXPECT_EQ(std::memcmp(streamed, plain, size), 0);
}

INSTANTIATE_TEST_SUITE_P(pairs, conversions, testing::Combine(testing::ValuesIn(floats), testing::ValuesIn(floats)));

TEST(conversions, only_floats_are_converted) {
  for (syncyte_dtype_t from = SYNCYTE_FLOAT16; from <= base::known::dtype::last; ++from)
    for (syncyte_dtype_t to = SYNCYTE_FLOAT16; to <= base::known::dtype::last; ++to) {
      const auto is_float = [](syncyte_dtype_t dtype) {
        return std::find(std::begin(floats), std::end(floats), dtype) != std::end(floats);
      };
      EXPECT_EQ(rows::can_convert(from, to), from == to || (is_float(from) && is_float(to)));
    }
}

}  // namespace
