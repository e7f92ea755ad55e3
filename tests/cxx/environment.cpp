// SPDX-License-Identifier: BSD-3-Clause
// Starts Syncyte before the first test and ends it after the last one.

#include <gtest/gtest.h>

#include <memory>
#include <syncyte/comm.hpp>

namespace {

class syncyte_environment : public testing::Environment {
  void SetUp() override { started_ = std::make_unique<syncyte::environment>(); }
  void TearDown() override { started_.reset(); }
  std::unique_ptr<syncyte::environment> started_;
};

[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(new syncyte_environment);

}  // namespace
