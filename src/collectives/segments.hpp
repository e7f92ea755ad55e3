#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "memory/scratch.hpp"

namespace syncyte::collectives {

/// An array as MPI's v-collectives want it: cut along an axis, the parts dense and one after the other. Where the array
/// lies in memory that way this is its own memory; otherwise it is scratch, which load() fills from the array, and
/// store() writes back to it.
class segments {
 public:
  /// Takes the array as it is, in one part.
  explicit segments(const base::buffer& array);
  /// `extents` are those of the parts along the axis; their sum is the array's.
  segments(const base::buffer& array, int axis, std::span<const std::int64_t> extents);

  std::byte* data() const;
  std::span<const std::int64_t> counts() const { return counts_; }  ///< elements of each part

  void load();
  void store();

 private:
  template <class Step>
  void for_each_part(Step&& step);

  base::buffer array_;
  int axis_;
  std::vector<std::int64_t> part_extents_;
  std::vector<std::int64_t> counts_;
  bool is_in_place_;
  memory::scratch packed_;
};

}  // namespace syncyte::collectives
