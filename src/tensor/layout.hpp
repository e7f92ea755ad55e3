// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "distribution/partition.hpp"
#include "tensor/block_memory.hpp"
#include "tensor/owned_part.hpp"

namespace syncyte::tensor {

/// Throws SYNCYTE_ERR_INDEX unless a box lies in an array of this shape. All have its number of dimensions.
void require_box_inside(std::span<const std::int64_t> shape, std::span<const std::int64_t> lower,
                        std::span<const std::int64_t> extent);

/// Metadata of a tensor: element type, global shape, and what each rank has. The ranks' memory consists of rows. They
/// are the tensor's own if it is cut by rows; otherwise it is cut by a layout (blocks()), and each row is one element.
class layout {
 public:
  /// `shape` has at least one dimension, and its bytes fit into 63 bits; shape[0] is the partition's total.
  layout(std::string name, syncyte_dtype_t dtype, std::vector<std::int64_t> shape, distribution::partition rows);
  layout(std::string name, syncyte_dtype_t dtype, std::shared_ptr<const block_memory> blocks);

  syncyte_dtype_t dtype() const { return dtype_; }
  std::span<const std::int64_t> shape() const { return shape_; }
  std::int64_t elements() const { return rows() * row_elements_; }
  /// Elements of tensor[i]; that is a row of the memory if the tensor is cut by rows.
  std::int64_t slice_elements() const { return slice_elements_; }

  /// Null if the tensor is cut by rows.
  const block_memory* blocks() const { return blocks_.get(); }
  /// Throws SYNCYTE_ERR_UNSUPPORTED unless the tensor is cut by rows.
  void require_rows() const;

  // The rows of the memory.
  const distribution::partition& partition() const { return rows_; }
  distribution::partition& partition() { return rows_; }
  std::int64_t rows() const { return rows_.extent(); }
  std::size_t element_bytes() const { return element_bytes_; }
  std::int64_t row_elements() const { return row_elements_; }
  std::size_t row_bytes() const { return static_cast<std::size_t>(row_elements_) * element_bytes_; }
  std::size_t local_bytes(int rank) const { return static_cast<std::size_t>(rows_.count(rank)) * row_bytes(); }

  /// Offset of a row in its owner's memory.
  std::size_t offset_at_owner(int owner, std::int64_t row) const {
    return static_cast<std::size_t>(row - rows_.first(owner)) * row_bytes();
  }

  /// Calls visit() with the parts of a box that lies in the tensor.
  void for_each_part(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent,
                     const part_visitor& visit) const;

  /// The owner of an element, given by its number in row-major order, and its offset in the owner's memory in bytes.
  std::pair<int, std::size_t> find_element(std::int64_t number) const;

  /// Bytes between neighbours along each dimension of a tensor that is cut by rows.
  std::vector<std::int64_t> strides() const;

  /// Throws SYNCYTE_ERR_INDEX unless a box lies in the tensor. Both arrays have its number of dimensions.
  void require_inside(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent) const {
    require_box_inside(shape_, lower, extent);
  }

  const std::string& name() const { return name_; }
  /// `tensor "depth" (float32, [10, 4])`, for messages.
  std::string text() const;

 private:
  std::string name_;
  syncyte_dtype_t dtype_;
  std::vector<std::int64_t> shape_;
  distribution::partition rows_;
  std::size_t element_bytes_;
  std::int64_t slice_elements_;
  std::int64_t row_elements_;
  std::shared_ptr<const block_memory> blocks_;
};

/// Bytes from the beginning of a row to the lower corner of a box, in a tensor of these strides.
std::int64_t inset_of(std::span<const std::int64_t> strides, const std::int64_t* lower);

}  // namespace syncyte::tensor
