// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "distribution/partition.hpp"

namespace syncyte::tensor {

/// Metadata of a tensor: element type, global shape, and the partition of its rows among ranks.
class layout {
 public:
  /// `shape` has at least one dimension, and its bytes fit into 63 bits; shape[0] is the partition's total.
  layout(std::string name, syncyte_dtype_t dtype, std::vector<std::int64_t> shape, distribution::partition rows);

  syncyte_dtype_t dtype() const { return dtype_; }
  std::span<const std::int64_t> shape() const { return shape_; }
  const distribution::partition& partition() const { return rows_; }
  distribution::partition& partition() { return rows_; }

  std::int64_t rows() const { return shape_[0]; }
  std::size_t element_bytes() const { return element_bytes_; }
  std::int64_t row_elements() const { return row_elements_; }
  std::size_t row_bytes() const { return static_cast<std::size_t>(row_elements_) * element_bytes_; }
  std::size_t local_bytes(int rank) const { return static_cast<std::size_t>(rows_.count(rank)) * row_bytes(); }

  /// Offset of a row in its owner's memory.
  std::size_t offset_at_owner(int owner, std::int64_t row) const {
    return static_cast<std::size_t>(row - rows_.first(owner)) * row_bytes();
  }

  /// Bytes between neighbours along each dimension.
  std::vector<std::int64_t> strides() const;

  /// Throws SYNCYTE_ERR_INDEX unless a box lies in the tensor. Both arrays have its number of dimensions.
  void require_inside(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent) const;

  /// `tensor "depth" (float32, [10, 4])`, for messages.
  std::string text() const;

 private:
  std::string name_;
  syncyte_dtype_t dtype_;
  std::vector<std::int64_t> shape_;
  distribution::partition rows_;
  std::size_t element_bytes_;
  std::int64_t row_elements_;
};

/// Bytes from the beginning of a row to the lower corner of a box, in a tensor of these strides.
std::int64_t inset_of(std::span<const std::int64_t> strides, const std::int64_t* lower);

}  // namespace syncyte::tensor
