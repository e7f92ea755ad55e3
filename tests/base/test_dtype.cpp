// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/dtype.hpp"

namespace {

using namespace syncyte::base;

TEST(dtype, sizes_agree_with_the_types_that_store_them) {
  for (syncyte_dtype_t dtype = SYNCYTE_FLOAT16; dtype <= known::dtype::last; ++dtype)
    visit_dtype(dtype, [&](auto tag) { EXPECT_EQ(dtype_size(dtype), sizeof(typename decltype(tag)::type)); });
}

TEST(dtype, unknown_numbers_are_refused) {
  for (const syncyte_dtype_t dtype : {-1, 0, 16, 1000}) {
    EXPECT_STREQ(dtype_name(dtype), "unknown");
    EXPECT_THROW(dtype_size(dtype), error);
    EXPECT_THROW(visit_dtype(dtype, [](auto) {}), error);
  }
}

/// The value of a binary16, by its definition.
double value_of(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31) return fraction ? std::nan("") : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(float16, every_value_converts_exactly_and_back) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float wide = static_cast<float>(half);
    if (std::isnan(value_of(half.bits))) {
      EXPECT_TRUE(std::isnan(wide));
      EXPECT_TRUE(std::isnan(static_cast<float>(float16(wide))));
    } else {
      ASSERT_EQ(wide, value_of(half.bits)) << bits;
      ASSERT_EQ(float16(wide).bits, half.bits) << bits;
    }
  }
}

/// Between two neighbouring values: the nearer one, and the even one from the middle.
TEST(float16, rounds_to_nearest_even) {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const double a = value_of(low);
    const double b = value_of(static_cast<std::uint16_t>(low + 1));
    const auto middle = static_cast<float>((a + b) / 2);  // exact in binary32
    ASSERT_EQ(float16(middle).bits, low % 2 == 0 ? low : low + 1) << bits;
    ASSERT_EQ(float16(std::nextafter(middle, 0.0f)).bits, low) << bits;
    ASSERT_EQ(float16(std::nextafter(middle, 1e30f)).bits, low + 1) << bits;
  }
  EXPECT_EQ(float16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(float16(-65520.0f).bits, 0xfc00);
  EXPECT_EQ(float16(-1e-10f).bits, 0x8000);
}

TEST(bfloat16, keeps_the_upper_half_and_rounds_to_nearest_even) {
  EXPECT_EQ(bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(static_cast<float>(bfloat16(-2.5f)), -2.5f);
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);  // tie, to even
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0x3f808001u)).bits, 0x3f81);
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(known, is_what_the_header_declares) {
  for (const syncyte_op_t op : {1, 9, 11}) EXPECT_TRUE(known::reduction::contains(op)) << op;
  for (const syncyte_op_t op : {0, 10, 12}) EXPECT_FALSE(known::reduction::contains(op)) << op;
  EXPECT_TRUE(known::op::contains(SYNCYTE_OP_REPLACE));
  EXPECT_STREQ(known::reduction::text, "SYNCYTE_OP_SUM (1) to SYNCYTE_OP_BXOR (9) or SYNCYTE_OP_LXOR (11)");
  EXPECT_STREQ(known::compare::text, "SYNCYTE_COMPARE_EQ (1), NE (2), GE (3) or LE (4)");
}

TEST(op, names) {
  EXPECT_STREQ(op_name(SYNCYTE_OP_SUM), "SUM");
  EXPECT_STREQ(op_name(SYNCYTE_OP_BXOR), "BXOR");
  EXPECT_STREQ(op_name(SYNCYTE_OP_REPLACE), "REPLACE");
  EXPECT_STREQ(op_name(SYNCYTE_OP_LXOR), "LXOR");
  for (const syncyte_op_t op : {-1, 0, 12}) EXPECT_STREQ(op_name(op), "unknown");
}

}  // namespace
