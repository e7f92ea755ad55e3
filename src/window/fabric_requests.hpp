// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "access/item_requests.hpp"
#include "window/memory_target.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

/// Rows of one owner's memory_target that are read, written or added to. A long row is several items, each in a request
/// of its own.
class row_items {
 public:
  /// `operation`: read, write or add. `source`: the rows here, for write and add, instead of rows.packed. `op`: of add.
  /// `origin`: where the offsets count from.
  row_items(std::string owner, memory_operation operation, const remote_rows& rows, const std::byte* source,
            syncyte_op_t op, std::size_t origin)
      : owner_(std::move(owner)),
        operation_(operation),
        op_(op),
        rows_(rows),
        source_(source),
        origin_(origin),
        piece_bytes_(rows.row_bytes <= longest_row ? rows.row_bytes : longest_piece),
        pieces_(piece_bytes_ == 0 ? 0 : (rows.row_bytes + piece_bytes_ - 1) / piece_bytes_) {}

  std::string owner_name() const { return owner_; }
  std::uint16_t operation() const { return static_cast<std::uint16_t>(operation_); }
  bool happens_once() const { return !reads(); }
  bool reads() const { return operation_ == memory_operation::read; }
  std::span<const std::byte> own() const { return {}; }

  std::size_t size() const { return pieces_ * rows_.offsets.size(); }
  std::size_t most_together() const { return pieces_ == 1 ? size() : 1; }
  std::uint64_t offset(std::size_t i) const { return origin_ + rows_.offsets[row(i)] + inset(i); }
  std::size_t bytes(std::size_t i) const { return std::min(piece_bytes_, rows_.row_bytes - inset(i)); }
  std::array<std::uint64_t, 2> arguments(std::size_t i) const { return {bytes(i), static_cast<std::uint64_t>(op_)}; }
  void write(std::size_t first, std::size_t count, std::byte* to) const;
  void read(std::size_t first, std::size_t count, const std::byte* from) const;

 private:
  static constexpr std::size_t longest_row = fabric::most_payload / 2;
  /// Begins and ends between elements, whose sizes divide 64; leaves room for the list of items.
  static constexpr std::size_t longest_piece = fabric::most_payload - 64;

  std::size_t row(std::size_t i) const { return pieces_ == 1 ? i : i / pieces_; }
  std::size_t inset(std::size_t i) const { return pieces_ == 1 ? 0 : i % pieces_ * piece_bytes_; }

  std::string owner_;
  memory_operation operation_;
  syncyte_op_t op_;
  remote_rows rows_;
  const std::byte* source_;
  std::size_t origin_;
  std::size_t piece_bytes_;
  std::size_t pieces_;  // of a row
};

/// Elements at one owner's memory_target that are combined, in pieces, or one that is compared and swapped.
class element_requests final : public fabric::request_source {
 public:
  struct change {
    memory_operation operation;
    std::size_t offset;
    syncyte_dtype_t dtype;
    syncyte_op_t op;                     // of combine
    std::span<const std::byte> operand;  // elements; the expected and the desired one
    std::byte* previous;                 // may be null
  };

  /// Copies a short operand, such as one element; the caller keeps a longer one until the end.
  element_requests(std::string owner, fabric::object_name object, const change& what);
  element_requests(const element_requests&) = delete;
  element_requests& operator=(const element_requests&) = delete;

  std::string owner_name() const override { return owner_; }
  std::shared_ptr<fabric::message> next() override;
  void on_answer(const fabric::message_header& request, std::span<const std::byte> payload) override;

 private:
  std::string owner_;
  fabric::object_name object_;
  change what_;
  std::array<std::byte, 32> copy_;
  std::size_t done_ = 0;
};

}  // namespace syncyte::window
