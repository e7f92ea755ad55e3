// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "cache/model_layout.hpp"
#include "memory/device.hpp"

namespace syncyte::cache {

/// Hashes of the bytes of a model's tensors. `first`: where its first group begins.
std::vector<std::uint64_t> checksums(const model_layout& layout, const memory::place& first);

}  // namespace syncyte::cache
