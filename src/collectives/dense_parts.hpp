// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "memory/scratch.hpp"

namespace syncyte::collectives {

/// Elements at one index of the axis.
std::int64_t elements_across(const base::buffer& array, int axis);

/// An array cut along an axis for MPI's v-collectives, which take parts that are dense and one after the other. An
/// array that lies in memory that way is used as it is; otherwise pack() packs it into scratch, and unpack() unpacks
/// it.
class dense_parts {
 public:
  /// The whole array as one part.
  explicit dense_parts(const base::buffer& array);
  /// `extents`: of the parts along the axis; their sum is the array's extent.
  dense_parts(const base::buffer& array, int axis, std::span<const std::int64_t> extents);

  const base::buffer& array() const { return array_; }
  std::byte* data() const;
  std::span<const std::int64_t> counts() const { return counts_; }  ///< elements of each part

  void pack() { copy(true); }
  void unpack() { copy(false); }

 private:
  void copy(bool packs);

  base::buffer array_;
  int axis_;
  std::vector<std::int64_t> part_extents_;
  std::vector<std::int64_t> counts_;
  bool is_in_place_;
  memory::scratch packed_;
};

}  // namespace syncyte::collectives
