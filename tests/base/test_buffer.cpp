// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/buffer.hpp"

namespace {

using namespace syncyte::base;

syncyte_buffer_t valid(void* data) {
  const std::int64_t shape[] = {2, 3};
  return make_buffer(data, SYNCYTE_FLOAT32, shape);
}

syncyte_status_t status_of(const syncyte_buffer_t* raw, std::string* message) {
  try {
    buffer(raw, "input").require_host().require_contiguous();
  } catch (const error& caught) {
    *message = caught.what();
    return caught.status();
  }
  return SYNCYTE_SUCCESS;
}

TEST(buffer, describes_what_it_is_given) {
  float data[6];
  const syncyte_buffer_t raw = valid(data);
  const buffer checked(&raw, "input");
  EXPECT_EQ(checked.elements(), 6);
  EXPECT_EQ(checked.bytes(), 24u);
  EXPECT_EQ(checked.stride(0), 12);
  EXPECT_TRUE(checked.is_contiguous());
}

TEST(buffer, every_wrong_member_is_named) {
  float data[6];
  std::string message;
  EXPECT_EQ(status_of(nullptr, &message), SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(message, "input is null; expected a syncyte_buffer_t");

  auto raw = valid(data);
  raw.struct_size = 3;
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_ARGUMENT);
  raw = valid(data);
  raw.dtype = 99;
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_TYPE);
  EXPECT_NE(message.find("input is 99; expected one of"), std::string::npos) << message;
  raw = valid(data);
  raw.ndim = 9;
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_SHAPE);
  raw = valid(data);
  raw.shape[1] = -3;
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_SHAPE);
  EXPECT_EQ(message, "input: extent -3 of dimension 1 is negative");
  raw = valid(data);
  raw.shape[0] = raw.shape[1] = std::int64_t{1} << 32;
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_SHAPE);
  EXPECT_NE(message.find("more than 2^63 - 1 bytes"), std::string::npos) << message;
  raw = valid(nullptr);
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_ARGUMENT);
  raw = valid(data);
  raw.memory = 7;
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_ARGUMENT);
  raw = valid(data);
  raw.memory = SYNCYTE_MEMORY_CUDA;
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_UNSUPPORTED);
  raw = valid(data);
  raw.strides[0] = 16;
  EXPECT_EQ(status_of(&raw, &message), SYNCYTE_ERR_SHAPE);
  EXPECT_NE(message.find("is not contiguous"), std::string::npos) << message;
}

TEST(buffer, strides_that_are_never_used_do_not_matter) {
  float data[3];
  auto raw = valid(data);
  raw.shape[0] = 1;
  raw.strides[0] = -77;
  EXPECT_TRUE(buffer(&raw, "input").is_contiguous());
  raw = valid(nullptr);
  raw.shape[1] = 0;
  raw.strides[1] = 5;
  EXPECT_TRUE(buffer(&raw, "input").is_contiguous());
  EXPECT_EQ(buffer(&raw, "input").elements(), 0);
}

TEST(buffer, strides_whose_span_leaves_64_bits_are_refused) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  float data[6];
  const auto outcome = [&](std::int64_t first, std::int64_t second) {
    auto raw = valid(data);
    raw.strides[0] = first;
    raw.strides[1] = second;
    std::string message;
    try {
      const buffer checked(&raw, "input");
    } catch (const error& caught) {
      EXPECT_EQ(caught.status(), SYNCYTE_ERR_SHAPE);
      message = caught.what();
    }
    return message;
  };
  EXPECT_EQ(outcome(huge, 4),
            "input: layout is shape [2, 3] with strides [4611686018427387904, 4] (bytes); expected a span of at most "
            "2^63 - 1 bytes");
  for (const std::int64_t bad : {huge, -huge, INT64_MAX, INT64_MIN}) {
    EXPECT_NE(outcome(bad, bad), "") << bad;
    EXPECT_NE(outcome(12, bad), "") << bad;
  }
  EXPECT_NE(outcome(huge / 2, -huge / 2), "");  // both offsets fit 64 bits, their distance does not
  EXPECT_EQ(outcome(huge / 2, 4), "");
  EXPECT_EQ(outcome(-12, -4), "");
}

TEST(buffer, what_is_written_has_separate_elements) {
  float data[6];
  const std::int64_t shape[] = {2, 1, 3};
  auto raw = make_buffer(data, SYNCYTE_FLOAT32, shape);
  raw.strides[1] = 0;  // one element there
  EXPECT_NO_THROW(buffer(&raw, "output").require_writable());
  raw.strides[0] = 0;
  try {
    buffer(&raw, "output").require_writable();
    ADD_FAILURE() << "expected an error";
  } catch (const error& caught) {
    EXPECT_EQ(caught.status(), SYNCYTE_ERR_SHAPE);
    EXPECT_NE(std::string(caught.what()).find("output: strides[0] is 0; expected separate elements"), std::string::npos)
        << caught.what();
  }
}

TEST(buffer, misaligned_elements_are_refused_where_that_is_asked_for) {
  alignas(16) std::byte data[40];
  const std::int64_t shape[] = {2};
  const auto aligned = [&](std::size_t offset, syncyte_dtype_t dtype) {
    const auto raw = make_buffer(data + offset, dtype, shape);
    try {
      buffer(&raw, "input").require_aligned();
    } catch (const error& caught) {
      EXPECT_EQ(caught.status(), SYNCYTE_ERR_SHAPE);
      EXPECT_NE(std::string(caught.what()).find("expected a multiple of"), std::string::npos) << caught.what();
      return false;
    }
    return true;
  };
  EXPECT_TRUE(aligned(8, SYNCYTE_FLOAT64));
  EXPECT_FALSE(aligned(4, SYNCYTE_FLOAT64));
  EXPECT_FALSE(aligned(1, SYNCYTE_FLOAT16));
  EXPECT_TRUE(aligned(1, SYNCYTE_INT8));
  EXPECT_TRUE(aligned(4, SYNCYTE_COMPLEX64));
  EXPECT_FALSE(aligned(2, SYNCYTE_COMPLEX64));
}

TEST(buffer, an_empty_dimension_forgives_huge_ones) {
  const std::int64_t shape[] = {std::int64_t{1} << 62, 0, std::int64_t{1} << 62};
  const auto raw = make_buffer(nullptr, SYNCYTE_FLOAT64, shape);
  EXPECT_EQ(buffer(&raw, "input").elements(), 0);
}

}  // namespace
