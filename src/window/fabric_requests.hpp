#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "fabric/caller.hpp"
#include "window/memory_target.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

/// Requests to one owner's memory_target.
class memory_requests : public fabric::request_source {
 public:
  memory_requests(std::string owner, fabric::object_name object) : owner_(std::move(owner)), object_(object) {}
  std::string owner_name() const override { return owner_; }

 protected:
  std::shared_ptr<fabric::message> request(memory_operation operation, std::initializer_list<std::uint64_t> arguments,
                                           std::size_t payload_bytes) const;

 private:
  std::string owner_;
  fabric::object_name object_;
};

/// Long rows, or any number of bytes as one: each row by one or more requests.
class piece_requests final : public memory_requests {
 public:
  /// `operation`: read, write or add. `op`: of add.
  piece_requests(std::string owner, fabric::object_name object, memory_operation operation, const remote_rows& rows,
                 syncyte_op_t op = SYNCYTE_OP_REPLACE)
      : memory_requests(std::move(owner), object), operation_(operation), op_(op), rows_(rows) {}

  std::shared_ptr<fabric::message> next() override;
  void on_answer(const fabric::message_header& request, std::span<const std::byte> payload) override;

 private:
  memory_operation operation_;
  syncyte_op_t op_;
  remote_rows rows_;
  std::size_t row_ = 0;   // of the next request
  std::size_t done_ = 0;  // bytes of this row
};

/// Short rows: many in a request.
class row_requests final : public memory_requests {
 public:
  static constexpr std::size_t longest_row = fabric::most_payload / 2;

  /// `operation`: read_rows, write_rows or add_rows. `op`: of add_rows.
  row_requests(std::string owner, fabric::object_name object, memory_operation operation, const remote_rows& rows,
               syncyte_op_t op)
      : memory_requests(std::move(owner), object), operation_(operation), op_(op), rows_(rows), list_(rows.offsets) {}

  std::shared_ptr<fabric::message> next() override;
  void on_answer(const fabric::message_header& request, std::span<const std::byte> payload) override;

 private:
  memory_operation operation_;
  syncyte_op_t op_;
  remote_rows rows_;
  row_list list_;
  std::size_t done_ = 0;
};

/// Elements that are combined, in pieces, or one that is compared and swapped.
class element_requests final : public memory_requests {
 public:
  struct change {
    memory_operation operation;
    std::size_t offset;
    syncyte_dtype_t dtype;
    syncyte_op_t op;                     // of combine
    std::span<const std::byte> operand;  // elements; the expected and the desired one
    std::byte* previous;                 // may be null
  };

  element_requests(std::string owner, fabric::object_name object, const change& what)
      : memory_requests(std::move(owner), object), what_(what) {}

  std::shared_ptr<fabric::message> next() override;
  void on_answer(const fabric::message_header& request, std::span<const std::byte> payload) override;

 private:
  change what_;
  std::size_t done_ = 0;
};

}  // namespace syncyte::window
