// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "comm/agreement.hpp"

namespace syncyte::tensor {

inline std::string with_name(const base::error& error, const std::string& tensor) {
  return tensor.empty() ? error.what() : fmt::format("{} (on this rank: {})", error.what(), tensor);
}

/// Runs a collective step and adds the tensor of this rank's call to its error, because ranks that disagree may have
/// passed different tensors. `text` is called only for an error, and may return an empty string.
template <class Text, class Step>
auto naming(const Text& text, Step&& step) -> decltype(step()) {
  try {
    return std::forward<Step>(step)();
  } catch (const comm::agreed_error& error) {
    comm::agreed_error named(error.status(), with_name(error, text()), error.fields());
    named.own_rank = error.own_rank;
    throw named;
  } catch (const base::error& error) {
    throw base::error(error.status(), with_name(error, text()), error.fields());
  }
}

}  // namespace syncyte::tensor
