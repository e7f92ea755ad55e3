// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace syncyte::tensor {

/// The elements of a box that one owner has in one array of its memory.
struct owned_part {
  int owner = 0;
  std::vector<std::int64_t> inset;    // of its first element in the box
  std::vector<std::int64_t> shape;    // in elements; none is 0
  std::vector<std::int64_t> strides;  // of the array, in bytes
  std::size_t offset = 0;             // of its first element in the owner's memory, in bytes
};

using part_visitor = std::function<void(const owned_part&)>;

}  // namespace syncyte::tensor
