// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ranks.hpp"
#include "syncyte/bundle.hpp"

namespace syncyte::hdf5 {

/// A field of a bundle, whose array the file holds whole. It goes there slab by slab: a slab is a box of the
/// array whose elements follow each other in the file. Each rank writes or reads a part of it, which relocation
/// collects from the blocks of all ranks, or sends to them. So a rank needs memory for a part only.
class bundle_field {
 public:
  /// Local.
  bundle_field(syncyte_bundle_t bundle, std::int64_t number);

  const std::string& name() const { return name_; }
  /// An equal part of the rows, for the file's description of the array; without memory. Local.
  syncyte_buffer_t rows();
  const layout& cut() const { return cut_; }
  /// Divides rows and slabs among the ranks. Collective.
  void divide(const ranks& all);

  std::int64_t slabs() const { return slabs_; }
  /// Memory for a part. Local.
  void allocate() { memory_.resize(static_cast<std::size_t>(longest_ * index_bytes_)); }
  void release() { memory_ = {}; }
  /// This rank's part of a slab: its place in the array's row-major bytes, and memory that the next slab re-uses.
  /// Collective; after allocate().
  struct part {
    std::uint64_t first_byte;
    std::span<std::byte> bytes;
  };
  part part_of(std::int64_t slab);
  /// From the blocks to the last part_of(), and back. Collective.
  void collect();
  void distribute();

 private:
  std::vector<buffer> blocks() const;
  buffer part_array();

  std::string name_;
  layout cut_;
  dtype type_{};
  extents whole_;
  extents rows_;  // shape of this rank's
  std::vector<syncyte_buffer_t> arrays_;
  // A slab has one index of the axes before this one, up to `length_` of it, and all of the others.
  std::size_t axis_ = 0;
  std::int64_t length_ = 0;
  std::int64_t longest_ = 0;    // of a rank's part
  std::int64_t per_index_ = 0;  // slabs along axis_, for one index of the axes before it
  std::int64_t slabs_ = 0;
  std::int64_t index_bytes_ = 0;  // of an index of axis_
  layout by_parts_;               // of the last slab
  extents slab_;                  // its shape
  extents first_;                 // its first point
  extents part_shape_;
  std::vector<std::byte> memory_;
};

}  // namespace syncyte::hdf5
