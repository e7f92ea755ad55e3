// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "base/error.hpp"

namespace syncyte::test {

/// Status and message of the error that a function throws; SYNCYTE_SUCCESS if it throws none.
template <class Function>
std::pair<syncyte_status_t, std::string> outcome(Function&& function) {
  try {
    std::forward<Function>(function)();
    return {SYNCYTE_SUCCESS, ""};
  } catch (const base::error& thrown) {
    return {thrown.status(), thrown.what()};
  }
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace syncyte::test
