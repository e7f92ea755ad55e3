// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "comm/communicator.hpp"
#include "halo/transfer_slot.hpp"
#include "memory/scratch.hpp"

namespace syncyte::halo {

/// The halo that a caller asks for, on every rank of a Cartesian communicator.
struct description {
  syncyte_dtype_t dtype = 0;
  std::vector<std::int64_t> shape;  // of this rank's array, ghost cells included
  std::vector<int> axes;            // of the array, one for each dimension of the grid; empty: the first ones
  std::vector<std::int64_t> low;    // widths, one for each dimension of the grid
  std::vector<std::int64_t> high;
  bool has_corners = true;
  std::optional<base::error> error;  // found by the caller on this rank; all ranks get it
};

/// Numbers that libraries on top compare between neighbours, 0 where there are fewer.
using facts = std::array<std::int64_t, 6>;

/// The head of each message of a halo, in front of its elements.
struct header {
  std::int32_t status;   // the sender's; elements follow only if it is success
  std::int32_t way;      // halo::operation of the sender
  std::uint64_t number;  // of the transfer on this halo
  halo::facts facts;
};
static_assert(sizeof(header) == 64);

/// A part of this rank's array.
struct box {
  std::array<std::int64_t, SYNCYTE_MAX_NDIM> first{};
  std::array<std::int64_t, SYNCYTE_MAX_NDIM> extents{};
};

/// The ghost cells at one end of one dimension, and the cells next to the opposite end, which go to the neighbour
/// there. Both boxes have the same extents. An exchange receives the ghosts and sends the cells; an accumulate does the
/// reverse.
struct side {
  int receive_from;                         // the rank with the cells of these ghosts; SYNCYTE_PROC_NULL at an edge
  int send_to;                              // the rank whose ghosts are this rank's cells; SYNCYTE_PROC_NULL at an edge
  box ghosts;                               // unused at an edge
  box cells;                                // unused at an edge
  std::vector<std::int64_t> dense_strides;  // of a packed box
  std::size_t bytes;                        // of a packed box
  std::size_t room;     // bytes to receive: the larger of both boxes, as a neighbour may call the wrong operation
  int tag;              // of an exchange, on the control communicator; by the direction in which messages travel
  int adjoint_tag;      // of an accumulate, whose messages travel the other way
  memory::scratch out;  // a header and a packed box
  memory::scratch in;
  int missing;  // pieces of the message that have not arrived
};

/// The neighbours and the cells that they exchange, of arrays of one shape: made once, collectively, and used between
/// neighbours only. As a linear map on the arrays of all ranks, an exchange copies cells into the ghosts that show
/// them; its adjoint, accumulate, adds these ghosts to the cells and sets them to zero.
class plan {
 public:
  /// Collective over a Cartesian communicator.
  static std::shared_ptr<plan> create(std::shared_ptr<comm::communicator> cart, description asked);

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  syncyte_dtype_t dtype() const { return description_.dtype; }
  std::span<const std::int64_t> shape() const { return description_.shape; }
  std::size_t element_bytes() const { return element_bytes_; }

  /// Exchanges and accumulates begun on this rank.
  std::uint64_t sequence() const { return slot_.count(); }

  /// The rank with which this one exchanges messages, itself included; SYNCYTE_PROC_NULL if there is none, or several.
  int only_neighbour() const { return only_neighbour_; }

  /// The cells that are no ghosts of any neighbour or edge.
  box interior() const;

  /// Number of this halo among the collective calls of its communicator, equal on all ranks.
  std::uint64_t number() const { return number_; }
  /// Phases in the order of an exchange, with memory for the messages of the transfer in flight.
  using phase = std::vector<side>;  // messages that can be in flight together
  std::span<phase> phases() { return phases_; }
  transfer_slot& slot() { return slot_; }

 private:
  plan(std::shared_ptr<comm::communicator> comm, description asked, std::uint64_t number);
  void add_side(int dimension, bool is_low, phase& sides);
  box across(int dimension) const;
  int find_only_neighbour() const;
  void require_equal_extents() const;

  std::shared_ptr<comm::communicator> comm_;
  description description_;
  std::size_t element_bytes_ = 0;
  std::uint64_t number_;
  std::vector<phase> phases_;
  int only_neighbour_;
  transfer_slot slot_;
};

}  // namespace syncyte::halo
