// SPDX-License-Identifier: BSD-3-Clause
// Boxes between any strides, against nested loops over all elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/streaming_copy.hpp"
#include "base/strided_copy.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using extents = std::vector<std::int64_t>;
using bytes = std::vector<std::byte>;

/// Calls visitor(position) for all elements of a shape.
template <class Visitor>
void for_each_element(const extents& shape, Visitor&& visitor) {
  extents position(shape.size(), 0);
  for (const auto extent : shape)
    if (extent == 0) return;
  while (true) {
    visitor(position);
    std::size_t d = shape.size();
    while (d > 0 && ++position[d - 1] == shape[d - 1]) position[--d] = 0;
    if (d == 0) return;
  }
}

std::int64_t place(const extents& position, const extents& strides) {
  std::int64_t result = 0;
  for (std::size_t d = 0; d < position.size(); ++d) result += position[d] * strides[d];
  return result;
}

bytes pattern(std::size_t count) {
  bytes result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<std::byte>(reference::random_bits(1, 0, static_cast<std::int64_t>(i)));
  return result;
}

void check(const extents& shape, const extents& target_strides, const extents& source_strides, std::size_t element) {
  constexpr std::size_t size = 1 << 16, middle = 1 << 15;
  const bytes source = pattern(size);
  bytes target(size), expected(size);
  for_each_element(shape, [&](const extents& at) {
    std::memcpy(expected.data() + middle + place(at, target_strides),
                source.data() + middle + place(at, source_strides), element);
  });
  base::copy_strided(target.data() + middle, target_strides, source.data() + middle, source_strides, shape, element);
  EXPECT_EQ(target, expected);
  bytes streamed(size);
  base::stream_strided(streamed.data() + middle, target_strides, source.data() + middle, source_strides, shape,
                       element);
  base::finish_streaming();
  EXPECT_EQ(streamed, expected);
}

TEST(strided_copy, dense_to_dense) {
  for (const std::size_t element : {1, 2, 4, 8, 16}) {
    for (const extents& shape :
         {extents{}, {7}, {3, 5}, {2, 3, 4}, {1, 6, 1, 2}, {2, 2, 2, 2, 2, 2, 2, 2}, {0}, {3, 0, 2}}) {
      const extents strides = base::dense_strides(shape, element);
      check(shape, strides, strides, element);
    }
  }
}

TEST(strided_copy, transposed_negative_broadcast_and_padded) {
  for (const std::int64_t element : {1, 2, 4, 8, 16}) {
    const auto size = static_cast<std::size_t>(element);
    check({5, 7}, {element, 5 * element}, {7 * element, element}, size);
    check({5, 7}, {7 * element, element}, {-7 * element, -element}, size);
    check({5, 7}, {7 * element, element}, {0, element}, size);
    check({5, 7}, {7 * element, element}, {0, 0}, size);
    check({4, 3, 6}, {40 * element, 9 * element, element}, {18 * element, 6 * element, element}, size);
    check({4, 3, 6}, {element, 4 * element, 12 * element}, {100 * element, 20 * element, 2 * element}, size);
    check({4, 1, 6}, {6 * element, 999, element}, {7 * element, -3, element}, size);
  }
}

TEST(strided_copy, unaligned_elements) { check({3, 4}, {37, 9}, {51, 11}, 8); }

TEST(strided_copy, long_runs_from_any_address) {
  for (std::int64_t length = 500; length < 600; ++length) check({3, length}, {2 * length + 1, 1}, {length + 3, 1}, 1);
  check({2, 300}, {8 * 300 + 4, 8}, {8 * 301, 8}, 8);
}

TEST(strided_add, adds_and_zeroes_the_box_alone) {
  std::vector<std::int32_t> table(30, 1), numbers(6);  // 5 x 6
  for (std::size_t i = 0; i < 6; ++i) numbers[i] = static_cast<std::int32_t>(10 * i);
  auto* const corner = reinterpret_cast<std::byte*>(table.data() + 8);  // rows 1 to 3, columns 2 and 3
  const extents shape{3, 2}, rows{24, 4}, transposed{4, 12};
  base::add_strided(corner, rows, reinterpret_cast<const std::byte*>(numbers.data()), transposed, shape, SYNCYTE_INT32);
  for (std::int64_t i = 0; i < 30; ++i) {
    const std::int64_t row = i / 6 - 1, column = i % 6 - 2;
    const bool is_inside = row >= 0 && row < 3 && column >= 0 && column < 2;
    EXPECT_EQ(table[static_cast<std::size_t>(i)], is_inside ? 1 + 10 * (3 * column + row) : 1) << i;
  }
  base::zero_strided(corner, rows, shape, 4);
  EXPECT_EQ(std::count(table.begin(), table.end(), 0), 6);
  EXPECT_EQ(std::count(table.begin(), table.end(), 1), 24);
  base::add_strided(corner, rows, corner, rows, extents{0, 2}, SYNCYTE_INT32);  // nothing
}

TEST(find_pieces, of_a_box_of_rows) {
  // Rows 2 and 3 of a 10 x 6 array of 4 bytes: one piece.
  const auto rows = base::find_pieces(2 * 24, extents{24, 4}, extents{2, 6}, 4);
  EXPECT_EQ(rows.bytes, 48u);
  EXPECT_EQ(rows.offsets, std::vector<std::size_t>{48});
  // Columns 1 to 3 of rows 2 to 4: a piece a row.
  const auto columns = base::find_pieces(2 * 24 + 4, extents{24, 4}, extents{3, 3}, 4);
  EXPECT_EQ(columns.bytes, 12u);
  EXPECT_EQ(columns.offsets, (std::vector<std::size_t>{52, 76, 100}));
  EXPECT_TRUE(base::find_pieces(0, extents{24, 4}, extents{3, 0}, 4).offsets.empty());
}

}  // namespace
