// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/transfer.hpp"
#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "rows/combine_pieces.hpp"
#include "tensor/box_transfer.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

/// About how many packed bytes of other nodes' elements, with the list of pieces, are transferred in a round.
inline constexpr std::size_t round_bytes = std::size_t{64} << 20;

/// An operation on a box of elements, whose two forms are access::run and access::start. The blocking form works in
/// rounds, so that a large box needs little extra memory; the started form has one round.
class box_operation {
 protected:
  box_operation(whole_tensor& of, base::array_argument<std::int64_t> lower, const syncyte_buffer_t* array,
                const char* array_name);

  /// Bytes of the contiguous pieces of the box in the tensor, or less.
  std::size_t piece_bytes() const;

  whole_tensor& of_;
  base::array_argument<std::int64_t> lower_;
  const syncyte_buffer_t* raw_;  // user_, as the caller gave it
  base::buffer user_;            // the caller's array, of any strides; checked
};

/// Copies elements of the box at `lower` between a checked array, of any strides, and the tensor. Those of memory that
/// is not mapped here go by copies_of() the same tensor.
void copy_elements(const whole_tensor& of, std::span<const std::int64_t> lower, const base::buffer& user, bool gets,
                   box_transfer& others);
std::unique_ptr<box_transfer> copies_of(const whole_tensor& of, const char* operation, bool gets,
                                        std::size_t most_bytes = box_transfer::one_round);

/// Copies a box. The caller's memory stays until the end of a get; a put has read it when begin() returns.
class copy_box : public box_operation {
 public:
  std::unique_ptr<access::transfer> begin();
  void run();

 protected:
  copy_box(whole_tensor& of, base::array_argument<std::int64_t> lower, const syncyte_buffer_t* array, bool gets);

 private:
  std::unique_ptr<access::transfer> copy(base::array_argument<std::int64_t> lower, const base::buffer& user,
                                         std::size_t most_bytes);

  bool gets_;
};

class get_box final : public copy_box {
 public:
  get_box(whole_tensor& of, base::array_argument<std::int64_t> lower, const syncyte_buffer_t* output)
      : copy_box(of, lower, output, true) {}
};

class put_box final : public copy_box {
 public:
  put_box(whole_tensor& of, base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source)
      : copy_box(of, lower, source, false) {}
};

/// Combines a box with the tensor's elements. `alpha` may be null. begin() has read the caller's memory.
class accumulate_box final : public box_operation {
 public:
  accumulate_box(whole_tensor& of, base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source,
                 const void* alpha, syncyte_op_t op);
  std::unique_ptr<access::transfer> begin();
  void run();

 private:
  /// Whether the additions wait for sync(): those of a deterministic tensor.
  bool is_staged() const { return of_.staged() != nullptr && op_ == SYNCYTE_OP_SUM; }
  std::unique_ptr<access::transfer> combine(base::array_argument<std::int64_t> lower, const base::buffer& user,
                                            std::size_t most_bytes);
  /// Combines packed pieces with rows that are mapped here, or stages them.
  void combine_here(const std::vector<rows::row_piece>& pieces, std::size_t piece_bytes, const std::byte* packed);

  syncyte_op_t op_;
  const void* alpha_;
};

}  // namespace syncyte::tensor
