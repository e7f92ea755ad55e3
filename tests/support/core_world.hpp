// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Starts the core in a test program that links syncyte_core. MPI_Finalize() in the harness's main() ends it.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "lifecycle/lifecycle.hpp"
#include "runtime/roots.hpp"

namespace syncyte::test {

inline std::shared_ptr<comm::communicator> shared_world() {
  lifecycle::start(3);
  return runtime::world();
}

inline comm::communicator& world() { return *shared_world(); }

/// Status and message of a call's error; success and an empty message if it throws no error.
struct outcome {
  syncyte_status_t status = SYNCYTE_SUCCESS;
  std::string message;
};

template <class Call>
outcome outcome_of(Call&& call) {
  try {
    std::forward<Call>(call)();
    return {};
  } catch (const base::error& caught) {
    return {caught.status(), caught.what()};
  }
}

/// Checks that the status is the expected one, and that the message contains the text.
inline void expect_error(const outcome& actual, syncyte_status_t status, const std::string& text) {
  EXPECT_EQ(actual.status, status) << base::status_name(actual.status) << ": " << actual.message;
  EXPECT_NE(actual.message.find(text), std::string::npos) << actual.message << "\nlacks: " << text;
}

}  // namespace syncyte::test
