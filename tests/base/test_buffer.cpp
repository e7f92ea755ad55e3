#include <gtest/gtest.h>

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
  EXPECT_NE(message.find("input 99 is unknown"), std::string::npos) << message;
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

TEST(buffer, an_empty_dimension_forgives_huge_ones) {
  const std::int64_t shape[] = {std::int64_t{1} << 62, 0, std::int64_t{1} << 62};
  const auto raw = make_buffer(nullptr, SYNCYTE_FLOAT64, shape);
  EXPECT_EQ(buffer(&raw, "input").elements(), 0);
}

}  // namespace
