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

#include "access/item_list.hpp"
#include "fabric/target.hpp"
#include "rows/distinct_rows.hpp"
#include "tensor/row_updates.hpp"

namespace syncyte::tensor {

/// A request at the owner of rows. Its items are rows, counted from the owner's first one, and their data are
/// gradients. The operation's own bytes are an optim::step, its arguments the first element of each row and the number
/// of elements.
struct served_update {
  /// `rank`: the owner. Throws SYNCYTE_ERR_INTERNAL unless the request fits a tensor of `shape`.
  served_update(const fabric::served_request& request, const layout& shape, int rank);

  /// Counted from the owner's first one; throws SYNCYTE_ERR_INTERNAL.
  std::int64_t row(std::size_t i) const;
  const std::byte* gradients(std::size_t i) const { return items.data().data() + i * gradient_bytes; }

  optim::step by;
  access::served_items items;
  element_range part;
  std::size_t gradient_bytes;  // of each row
  int rank;
  std::int64_t rows;  // of the owner
};

/// Rows of this rank that it updates for ranks of other nodes.
class update_target final : public fabric::target {
 public:
  update_target(std::shared_ptr<row_updates> rows, int rank) : rows_(std::move(rows)), rank_(rank) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;

 private:
  std::shared_ptr<row_updates> rows_;
  int rank_;
};

/// Distinct rows of one owner with their gradients.
struct row_gradients {
  std::span<const std::int64_t> rows;
  std::span<const std::byte* const> sums;
};

/// Rows of an update at one owner's update_target, for access::item_requests. A row that is longer than half a message
/// is several items, each in a request of its own.
class update_items {
 public:
  /// `its`: the owner's rows of `changed`.
  update_items(std::string owner_name, const optim::step& by, const layout& shape, int owner,
               std::shared_ptr<const rows::distinct_rows> changed, const row_gradients& its)
      : owner_name_(std::move(owner_name)),
        by_(by),
        element_bytes_(shape.element_bytes()),
        row_elements_(static_cast<std::size_t>(shape.row_elements())),
        part_elements_(std::min(row_elements_, fabric::most_payload / 2 / element_bytes_)),
        parts_((row_elements_ + part_elements_ - 1) / part_elements_),
        first_row_(shape.partition().first(owner)),
        changed_(std::move(changed)),
        its_(its) {}

  std::string owner_name() const { return owner_name_; }
  std::uint16_t operation() const { return 1; }
  bool happens_once() const { return true; }
  bool reads() const { return false; }
  std::span<const std::byte> own() const { return std::as_bytes(std::span(&by_, 1)); }

  std::size_t size() const { return its_.rows.size() * parts_; }
  std::size_t most_together() const { return parts_ == 1 ? size() : 1; }
  std::uint64_t offset(std::size_t i) const { return static_cast<std::uint64_t>(its_.rows[row(i)] - first_row_); }
  std::size_t bytes(std::size_t i) const { return range(i).count * element_bytes_; }
  std::array<std::uint64_t, 2> arguments(std::size_t i) const { return {range(i).first, range(i).count}; }
  void write(std::size_t first, std::size_t count, std::byte* to) const;
  void read(std::size_t, std::size_t, const std::byte*) const {}

 private:
  std::size_t row(std::size_t i) const { return parts_ == 1 ? i : i / parts_; }
  /// Elements of an item's row.
  element_range range(std::size_t i) const {
    const std::size_t first = parts_ == 1 ? 0 : i % parts_ * part_elements_;
    return {first, std::min(part_elements_, row_elements_ - first)};
  }

  std::string owner_name_;
  optim::step by_;
  std::size_t element_bytes_;
  std::size_t row_elements_;
  std::size_t part_elements_;
  std::size_t parts_;  // of a row
  std::int64_t first_row_;
  std::shared_ptr<const rows::distinct_rows> changed_;
  row_gradients its_;
};

}  // namespace syncyte::tensor
