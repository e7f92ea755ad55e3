// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "fabric/module.hpp"

namespace {

using namespace syncyte;

TEST(module, a_missing_file_is_a_reason) {
  std::string reason;
  EXPECT_EQ(fabric::open_module("libsyncyte_none.so.0", reason), nullptr);
  EXPECT_NE(reason.find("libsyncyte_none.so.0"), std::string::npos) << reason;
}

TEST(module, a_library_without_the_function_is_a_reason) {
  std::string reason;
  EXPECT_EQ(fabric::open_module("libm.so.6", reason), nullptr);
  EXPECT_NE(reason.find(fabric::open_transport_name), std::string::npos) << reason;
}

}  // namespace
