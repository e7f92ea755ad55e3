#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/target.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

/// Operations of memory_target. Arguments and payload of each; further arguments are for the rank that asks:
///
///   read          offset, bytes
///   write         offset; the bytes
///   add           offset, bytes, op; the bytes, all in one row
///   read_rows     row bytes, rows, shift; the list of rows
///   write_rows    row bytes, rows, shift; the list of rows, the rows
///   add_rows      row bytes, rows, shift, op; the list of rows, the rows
///   combine       offset, dtype, op, 1 if the old elements are wanted; the elements
///   compare_swap  offset, dtype; the expected and the desired element
///
/// A list of rows has each row's offset: in units of 2^shift bytes, as 32-bit numbers; or in bytes, as 64-bit numbers,
/// if shift is row_list::wide.
enum class memory_operation : std::uint16_t {
  read = 1,
  write,
  add,
  read_rows,
  write_rows,
  add_rows,
  combine,
  compare_swap
};

/// Encodes a list of rows' offsets for a request.
class row_list {
 public:
  static constexpr std::uint64_t wide = 64;

  /// Chooses the encoding for all of an operation's requests.
  explicit row_list(std::span<const std::size_t> offsets);

  std::uint64_t shift() const { return shift_; }
  std::size_t bytes_each() const { return bytes_each(shift_); }
  static std::size_t bytes_each(std::uint64_t shift) { return shift == wide ? 8 : 4; }

  void encode(std::span<const std::size_t> offsets, std::byte* list) const;
  static std::size_t decode(const std::byte* list, std::size_t i, std::uint64_t shift);

 private:
  std::uint64_t shift_;
};

/// Memory of this rank, at which it serves other ranks' requests (fabric_remote).
class memory_target final : public fabric::target {
 public:
  /// `owner` keeps the memory. `adder` may be empty.
  memory_target(std::span<std::byte> memory, std::shared_ptr<void> owner, row_adder adder)
      : memory_(memory), owner_(std::move(owner)), adder_(std::move(adder)) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;

 private:
  std::byte* at(std::size_t offset, std::size_t bytes) const;
  std::byte* atomic_at(std::size_t offset, std::size_t bytes, std::size_t element) const;
  bool add(fabric::served_request& request) const;
  void read_rows(const fabric::served_request& request, fabric::answer& reply) const;
  void write_rows(const fabric::served_request& request) const;
  bool add_rows(fabric::served_request& request) const;
  void combine(const fabric::served_request& request, fabric::answer& reply) const;
  void compare_swap(const fabric::served_request& request, fabric::answer& reply) const;

  std::span<std::byte> memory_;
  std::shared_ptr<void> owner_;
  row_adder adder_;
};

}  // namespace syncyte::window
