// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <syncyte/base.hpp>

namespace syncyte::test {

/// Checks the error that a call throws: its code, and words of its message. GoogleTest's macros do not check the
/// message.
template <typename Call>
void expect_error(status code, std::initializer_list<const char*> words, Call call) {
  try {
    call();
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.code(), code) << thrown.what();
    for (const char* word : words) {
      EXPECT_NE(std::string(thrown.what()).find(word), std::string::npos)
          << "no '" << word << "' in: " << thrown.what();
    }
    return;
  }
  ADD_FAILURE() << "nothing was thrown, expected " << syncyte_status_name(static_cast<syncyte_status_t>(code));
}

}  // namespace syncyte::test
