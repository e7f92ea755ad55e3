#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/caller.hpp"
#include "fabric/target.hpp"
#include "tensor/row_updates.hpp"
#include "window/memory_target.hpp"

namespace syncyte::tensor {

/// Rows of this rank that it updates for ranks of other nodes. A request has one operation, update; its arguments are
/// the number of rows, the first element of each row and the number of elements, and the encoding of the list of rows
/// (window::row_list). The payload is an optim::step, the list of rows, counted from this rank's first one, and their
/// gradients.
class update_target final : public fabric::target {
 public:
  update_target(std::shared_ptr<row_updates> rows, int rank) : rows_(std::move(rows)), rank_(rank) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;

 private:
  std::shared_ptr<row_updates> rows_;
  int rank_;
};

/// An update's requests to one owner. A row that is longer than a message travels in several of them.
class update_requests final : public fabric::request_source {
 public:
  /// The caller keeps `rows` and `gradients`.
  update_requests(std::string owner_name, fabric::object_name object, const optim::step& by, const layout& shape,
                  int owner, std::span<const std::int64_t> rows, std::span<const std::byte* const> gradients);

  std::shared_ptr<fabric::message> next() override;
  void on_answer(const fabric::message_header&, std::span<const std::byte>) override {}
  std::string owner_name() const override { return owner_name_; }

 private:
  element_range next_range();

  const std::string owner_name_;
  const fabric::object_name object_;
  const optim::step by_;
  const std::size_t element_bytes_;
  const std::size_t row_elements_;
  std::vector<std::size_t> rows_;  // counted from the owner's first one
  std::span<const std::byte* const> gradients_;
  window::row_list list_;
  std::size_t done_ = 0;           // rows
  std::size_t done_elements_ = 0;  // of the next row
};

}  // namespace syncyte::tensor
