// SPDX-License-Identifier: BSD-3-Clause
// Boxes of whole tensors, against loops over all elements.

#include <gtest/gtest.h>

#include <limits>

#include "base/buffer.hpp"
#include "base/strided_copy.hpp"
#include "tensor/box_parts.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

const extents shape{11, 6, 5};

/// A buffer of a box, dense in column-major (Fortran's) or row-major order.
template <class T>
syncyte_buffer_t box_of(std::vector<T>& values, syncyte_dtype_t dtype, const extents& box, bool is_transposed) {
  syncyte_buffer_t result = buffer_of(values, dtype, box);
  if (!is_transposed) return result;
  std::int64_t stride = sizeof(T);
  for (std::size_t d = 0; d < box.size(); ++d) {
    result.strides[d] = stride;
    stride *= box[d];
  }
  return result;
}

std::int64_t place_in(const syncyte_buffer_t& b, std::int64_t i, std::int64_t j, std::int64_t k, std::size_t element) {
  return (i * b.strides[0] + j * b.strides[1] + k * b.strides[2]) / static_cast<std::int64_t>(element);
}

struct box_case {
  extents lower, size;
};

const std::vector<box_case> boxes{{{0, 0, 0}, {11, 6, 5}}, {{2, 0, 0}, {7, 6, 5}},  {{1, 2, 3}, {9, 3, 2}},
                                  {{10, 5, 4}, {1, 1, 1}}, {{0, 3, 0}, {11, 1, 5}}, {{4, 1, 1}, {0, 2, 2}},
                                  {{3, 0, 2}, {5, 6, 1}}};

template <class T>
void check_get(syncyte_dtype_t dtype, const reference::lengths& parts) {
  const auto tensor = make_tensor(dtype, shape, parts);
  fill<T>(*tensor);
  for (const auto& [lower, size] : boxes)
    for (const bool is_transposed : {false, true}) {
      std::vector<T> values(static_cast<std::size_t>(product(size)) + 1, number<T>(1));
      const syncyte_buffer_t output = box_of(values, dtype, size, is_transposed);
      run<tensor::get_box>(*tensor, lower, &output);
      for (std::int64_t i = 0; i < size[0]; ++i)
        for (std::int64_t j = 0; j < size[1]; ++j)
          for (std::int64_t k = 0; k < size[2]; ++k) {
            const std::int64_t global = ((lower[0] + i) * shape[1] + lower[1] + j) * shape[2] + lower[2] + k;
            const T expected = filled<T>(global);
            const auto place = static_cast<std::size_t>(place_in(output, i, j, k, sizeof(T)));
            ASSERT_EQ(std::memcmp(&values[place], &expected, sizeof(T)), 0) << i << " " << j << " " << k;
          }
    }
  barrier();
}

TEST(tensor_boxes, get_equals_the_loop) {
  for (const auto& parts : partitions(shape[0])) check_get<double>(SYNCYTE_FLOAT64, parts);
  for (const auto dtype : all_dtypes)
    base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) { check_get<T>(dtype, {}); });
}

TEST(tensor_boxes, put_equals_the_loop) {
  for (const auto& parts : partitions(shape[0]))
    for (const auto& [lower, size] : boxes)
      for (int writer = 0; writer < ranks(); ++writer) {
        const auto tensor = make_tensor(SYNCYTE_INT32, shape, parts);
        auto expected = std::vector<std::int32_t>(static_cast<std::size_t>(product(shape)), 0);
        std::vector<std::int32_t> values(static_cast<std::size_t>(product(size)) + 1);
        std::iota(values.begin(), values.end(), 1);
        const syncyte_buffer_t source = box_of(values, SYNCYTE_INT32, size, writer % 2 == 1);
        for (std::int64_t i = 0; i < size[0]; ++i)
          for (std::int64_t j = 0; j < size[1]; ++j)
            for (std::int64_t k = 0; k < size[2]; ++k)
              expected[static_cast<std::size_t>(((lower[0] + i) * shape[1] + lower[1] + j) * shape[2] + lower[2] + k)] =
                  values[static_cast<std::size_t>(place_in(source, i, j, k, 4))];
        tensor->sync();
        if (rank() == writer) run<tensor::put_box>(*tensor, lower, &source);
        tensor->sync();
        EXPECT_EQ(read_all<std::int32_t>(*tensor), expected);
        tensor->sync();
      }
}

TEST(tensor_boxes, one_dimension) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {29});
  fill<std::int64_t>(*tensor);
  std::vector<std::int64_t> values(40, -1);
  syncyte_buffer_t output = buffer_of(values, SYNCYTE_INT64, {20});
  output.strides[0] = 16;  // every other one
  const std::int64_t lower[] = {5};
  run<tensor::get_box>(*tensor, lower, &output);
  for (std::int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(2 * i)], filled<std::int64_t>(5 + i));
    EXPECT_EQ(values[static_cast<std::size_t>(2 * i + 1)], -1);
  }
  barrier();
}

TEST(tensor_boxes, larger_than_is_transferred_at_once) {
  if (ranks() != 2) GTEST_SKIP() << "two ranks are enough for 70 MiB";
  constexpr std::int64_t rows = 72, row = std::int64_t{1} << 20, width = row - 3;
  const auto tensor = make_tensor(SYNCYTE_UINT8, {rows, row}, {1, rows - 1});
  std::vector<std::uint8_t> put(static_cast<std::size_t>((rows - 1) * width)), got(put.size());
  for (std::size_t i = 0; i < put.size(); ++i) put[i] = static_cast<std::uint8_t>(i * 2654435761u >> 16);
  const syncyte_buffer_t source = buffer_of(put, SYNCYTE_UINT8, {rows - 1, width});
  const syncyte_buffer_t output = buffer_of(got, SYNCYTE_UINT8, {rows - 1, width});
  const std::int64_t lower[] = {0, 2};
  if (rank() == 0) run<tensor::put_box>(*tensor, lower, &source);
  tensor->sync();
  run<tensor::get_box>(*tensor, lower, &output);
  EXPECT_TRUE(got == put);
  std::vector<std::int64_t> backwards(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < backwards.size(); ++i) backwards[i] = rows - 1 - static_cast<std::int64_t>(i);
  std::vector<std::uint8_t> gathered(static_cast<std::size_t>(rows * row));
  const syncyte_buffer_t index = index_of(backwards);
  const syncyte_buffer_t packed = buffer_of(gathered, SYNCYTE_UINT8, {rows, row});
  run<tensor::gather>(*tensor, &index, &packed);
  for (std::int64_t r = 0; r < rows - 1; ++r)
    EXPECT_EQ(std::memcmp(&gathered[static_cast<std::size_t>((rows - 1 - r) * row + 2)],
                          &put[static_cast<std::size_t>(r * width)], static_cast<std::size_t>(width)),
              0)
        << r;
  barrier();
}

/// Adds the sizes of parts, and counts each element's visits by way of its address.
void check_parts(const extents& box, std::size_t most_bytes, std::size_t parts) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(product(box)), 0);
  const syncyte_buffer_t whole = buffer_of(values, SYNCYTE_INT32, box);
  const extents corner(box.size(), 5);
  std::size_t count = 0;
  tensor::visit_box(corner, whole, base::buffer(&whole, "whole"), most_bytes, [&](auto lower, const auto& part) {
    ++count;
    EXPECT_TRUE(parts == 1 || part.bytes() <= std::max<std::size_t>(most_bytes, sizeof(std::int32_t)));
    std::int64_t place = 0;
    for (int d = 0; d < part.ndim(); ++d) place += (lower.values[d] - 5) * whole.strides[d];
    EXPECT_EQ(part.data(), static_cast<std::byte*>(whole.data) + place);
    const std::vector<std::int32_t> ones(static_cast<std::size_t>(part.elements()), 1);
    base::add_strided(part.data(), part.strides(), std::as_bytes(std::span(ones)).data(),
                      base::dense_strides(part.shape(), sizeof(std::int32_t)), part.shape(), SYNCYTE_INT32);
  });
  EXPECT_EQ(count, parts);
  EXPECT_EQ(values, std::vector<std::int32_t>(values.size(), 1));
}

TEST(tensor_boxes, parts_of_large_rows_cover_each_element_once) {
  check_parts({7, 4, 10}, 160, 1);  // rows of 160 bytes: transferred in rounds
  check_parts({3, 5, 10}, 80, 3 * 3);
  check_parts({3, 5, 10}, 24, 3 * 5 * 2);
  check_parts({2, 3}, 1, 6);  // no part is smaller than an element
  check_parts({1, 1, 1, 9}, 16, 3);
  check_parts({4}, 16, 1);
  check_parts({0, 3}, 4, 1);
}

TEST(tensor_boxes, small_pieces_are_transferred_with_their_list) {
  EXPECT_EQ(tensor::packed_bytes_in(1200, 4), 400u);
  EXPECT_EQ(tensor::packed_bytes_in(1200, 1), 133u);
  EXPECT_EQ(tensor::packed_bytes_in(1200, 1199), 1199u);
  EXPECT_EQ(tensor::packed_bytes_in(1200, 1192), 1192u);
  EXPECT_EQ(tensor::packed_bytes_in(1200, 5000), 1200u);
}

TEST(tensor_boxes, rows_larger_than_is_transferred_at_once) {
  if (ranks() != 2) GTEST_SKIP() << "two ranks are enough for 70 MiB";
  constexpr std::int64_t height = 72, width = std::int64_t{1} << 20, inner = width - 3;
  const auto tensor = make_tensor(SYNCYTE_UINT8, {2, height, width});
  std::vector<std::uint8_t> put(static_cast<std::size_t>(height * inner)), got(put.size());
  for (std::size_t i = 0; i < put.size(); ++i) put[i] = static_cast<std::uint8_t>(i * 2654435761u >> 16);
  const syncyte_buffer_t source = buffer_of(put, SYNCYTE_UINT8, {1, height, inner});
  const syncyte_buffer_t output = buffer_of(got, SYNCYTE_UINT8, {1, height, inner});
  const extents next{1 - rank(), 0, 2}, mine{rank(), 0, 2};
  run<tensor::put_box>(*tensor, next, &source);
  tensor->sync();
  run<tensor::get_box>(*tensor, next, &output);
  EXPECT_TRUE(got == put);
  if (tensor->held()->mapped_rows().covers(2) || has_fabric()) {
    tensor->sync();
    run<tensor::accumulate_box>(*tensor, next, &source, nullptr, SYNCYTE_OP_SUM);
    tensor->sync();
    run<tensor::get_box>(*tensor, mine, &output);
    bool is_sum = true;
    for (std::size_t i = 0; i < put.size(); ++i) is_sum = is_sum && got[i] == static_cast<std::uint8_t>(2 * put[i]);
    EXPECT_TRUE(is_sum);
  }
  barrier();
}

TEST(tensor_boxes, outside_is_an_error_and_writes_nothing) {
  const auto tensor = make_tensor(SYNCYTE_INT8, shape);
  std::vector<std::int8_t> values(330, 7);
  const auto attempt = [&](const extents& lower, const extents& size) {
    const syncyte_buffer_t output = buffer_of(values, SYNCYTE_INT8, size);
    return outcome_of([&] { run<tensor::get_box>(*tensor, lower, &output); });
  };
  expect_error(attempt({-1, 0, 0}, {1, 1, 1}), SYNCYTE_ERR_INDEX,
               "lower[0] is -1; expected a box of extent 1 within 0 to");
  expect_error(attempt({0, 4, 0}, {1, 3, 1}), SYNCYTE_ERR_INDEX, "lower[1] is 4; expected a box of extent 3");
  expect_error(attempt({0, 0, std::numeric_limits<std::int64_t>::max()}, {1, 1, 1}), SYNCYTE_ERR_INDEX, "lower[2] is");
  expect_error(attempt({0, 0, 0}, {12, 1, 1}), SYNCYTE_ERR_INDEX, "a box of extent 12");
  expect_error(attempt({0, 0, 0}, {1, 1}), SYNCYTE_ERR_SHAPE, "ndim is 2; expected 3");
  expect_error(attempt({0, 0}, {1, 1, 1}), SYNCYTE_ERR_SHAPE,
               "lower has 2 entries; expected 3, one for each dimension");
  const std::int64_t origin[] = {0, 0, 0};
  const syncyte_buffer_t wrong = base::make_buffer(values.data(), SYNCYTE_BOOL, extents{1, 1, 1});
  expect_error(outcome_of([&] { run<tensor::put_box>(*tensor, origin, &wrong); }), SYNCYTE_ERR_TYPE, "expected int8");
  const syncyte_buffer_t good = base::make_buffer(values.data(), SYNCYTE_INT8, extents{1, 1, 1});
  expect_error(
      outcome_of([&] { run<tensor::put_box>(*tensor, base::array_argument<std::int64_t>(nullptr, 3), &good); }),
      SYNCYTE_ERR_ARGUMENT, "lower is null");
  EXPECT_EQ(values, std::vector<std::int8_t>(330, 7));
  barrier();
}

}  // namespace
