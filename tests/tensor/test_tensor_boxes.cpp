// Boxes of whole tensors, against loops over all elements.

#include <gtest/gtest.h>

#include <limits>

#include "base/buffer.hpp"
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
      tensor->get_box(lower, &output);
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

TEST(TensorBoxes, GetEqualsTheLoop) {
  for (const auto& parts : partitions(shape[0])) check_get<double>(SYNCYTE_FLOAT64, parts);
  for (const auto dtype : all_dtypes)
    base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) { check_get<T>(dtype, {}); });
}

TEST(TensorBoxes, PutEqualsTheLoop) {
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
        if (rank() == writer) tensor->put_box(lower, &source);
        tensor->sync();
        EXPECT_EQ(read_all<std::int32_t>(*tensor), expected);
        tensor->sync();
      }
}

TEST(TensorBoxes, OneDimension) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {29});
  fill<std::int64_t>(*tensor);
  std::vector<std::int64_t> values(40, -1);
  syncyte_buffer_t output = buffer_of(values, SYNCYTE_INT64, {20});
  output.strides[0] = 16;  // every other one
  const std::int64_t lower[] = {5};
  tensor->get_box(lower, &output);
  for (std::int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(2 * i)], filled<std::int64_t>(5 + i));
    EXPECT_EQ(values[static_cast<std::size_t>(2 * i + 1)], -1);
  }
  barrier();
}

TEST(TensorBoxes, LargerThanIsTransferredAtOnce) {
  if (ranks() != 2) GTEST_SKIP() << "two ranks are enough for 70 MiB";
  constexpr std::int64_t rows = 72, row = std::int64_t{1} << 20, width = row - 3;
  const auto tensor = make_tensor(SYNCYTE_UINT8, {rows, row}, {1, rows - 1});
  std::vector<std::uint8_t> put(static_cast<std::size_t>((rows - 1) * width)), got(put.size());
  for (std::size_t i = 0; i < put.size(); ++i) put[i] = static_cast<std::uint8_t>(i * 2654435761u >> 16);
  const syncyte_buffer_t source = buffer_of(put, SYNCYTE_UINT8, {rows - 1, width});
  const syncyte_buffer_t output = buffer_of(got, SYNCYTE_UINT8, {rows - 1, width});
  const std::int64_t lower[] = {0, 2};
  if (rank() == 0) tensor->put_box(lower, &source);
  tensor->sync();
  tensor->get_box(lower, &output);
  EXPECT_TRUE(got == put);
  std::vector<std::int64_t> backwards(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < backwards.size(); ++i) backwards[i] = rows - 1 - static_cast<std::int64_t>(i);
  std::vector<std::uint8_t> gathered(static_cast<std::size_t>(rows * row));
  const syncyte_buffer_t index = index_of(backwards);
  const syncyte_buffer_t packed = buffer_of(gathered, SYNCYTE_UINT8, {rows, row});
  tensor->gather(&index, &packed);
  for (std::int64_t r = 0; r < rows - 1; ++r)
    EXPECT_EQ(std::memcmp(&gathered[static_cast<std::size_t>((rows - 1 - r) * row + 2)],
                          &put[static_cast<std::size_t>(r * width)], static_cast<std::size_t>(width)),
              0)
        << r;
  barrier();
}

TEST(TensorBoxes, OutsideIsAnErrorAndWritesNothing) {
  const auto tensor = make_tensor(SYNCYTE_INT8, shape);
  std::vector<std::int8_t> values(330, 7);
  const auto attempt = [&](const extents& lower, const extents& size) {
    const syncyte_buffer_t output = buffer_of(values, SYNCYTE_INT8, size);
    return outcome_of([&] { tensor->get_box(lower, &output); });
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
  expect_error(outcome_of([&] { tensor->put_box(origin, &wrong); }), SYNCYTE_ERR_TYPE, "expected int8");
  const syncyte_buffer_t good = base::make_buffer(values.data(), SYNCYTE_INT8, extents{1, 1, 1});
  expect_error(outcome_of([&] { tensor->put_box({nullptr, 3}, &good); }), SYNCYTE_ERR_ARGUMENT, "lower is null");
  EXPECT_EQ(values, std::vector<std::int8_t>(330, 7));
  barrier();
}

}  // namespace
