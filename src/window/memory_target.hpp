// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "access/item_list.hpp"
#include "fabric/target.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

/// Operations of memory_target. The first three have a list of items (access::served_items), pieces of memory of one
/// size; their arguments are the bytes of an item and, of add, the op. Arguments and payload of the others:
///
///   combine       offset, dtype, op, 1 if the old elements are wanted; the elements
///   compare_swap  offset, dtype; the expected and the desired element
enum class memory_operation : std::uint16_t { read = 1, write, add, combine, compare_swap };

/// A request's items, which all have the same size, and where the data of each is, in a request that carries them.
struct equal_items : access::served_items {
  equal_items(const fabric::served_request& request, bool carries);

  std::size_t bytes;  // of each item
  const std::byte* packed;
};

/// Memory of this rank, at which it serves other ranks' requests (fabric_remote).
class memory_target final : public fabric::target {
 public:
  /// `owner` keeps the memory. `adder` may be empty.
  memory_target(std::span<std::byte> memory, std::shared_ptr<void> owner, row_adder adder)
      : memory_(memory), owner_(std::move(owner)), adder_(std::move(adder)) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;

 private:
  std::byte* at(std::uint64_t offset, std::size_t bytes) const;
  std::byte* atomic_at(std::size_t offset, std::size_t bytes, std::size_t element) const;
  void read(const fabric::served_request& request, fabric::answer& reply) const;
  void write(const fabric::served_request& request) const;
  bool add(fabric::served_request& request) const;
  void combine(const fabric::served_request& request, fabric::answer& reply) const;
  void compare_swap(const fabric::served_request& request, fabric::answer& reply) const;

  std::span<std::byte> memory_;
  std::shared_ptr<void> owner_;
  row_adder adder_;
};

}  // namespace syncyte::window
