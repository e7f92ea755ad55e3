// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace syncyte::torch_binding {

/// The derivatives of an operation that are wanted. They are equal on all ranks: otherwise some ranks would wait for
/// others that never come, or get the data of another operation. A schema's last argument holds them in one integer,
/// because a compiled graph keeps nothing of a call but its arguments.
struct derivatives {
  bool needs_gradient = false;      ///< backward will be run
  bool has_tangent = false;         ///< forward mode: the operation follows once more, for the tangent
  std::int64_t forward_number = 0;  ///< in a backward pass: which forward it belongs to; 0: not known, or no backward

  static derivatives unpacked(std::int64_t value) { return {(value & 1) != 0, (value & 2) != 0, value >> 2}; }
  std::int64_t packed() const { return forward_number * 4 + (has_tangent ? 2 : 0) + (needs_gradient ? 1 : 0); }
};

}  // namespace syncyte::torch_binding
