// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "distribution/box.hpp"
#include "halo/transfer_slot.hpp"
#include "memory/scratch.hpp"

namespace syncyte::halo {

/// Operations of halos and bundles. Their numbers travel in messages.
enum class operation : std::int32_t {
  exchange = 1,    // cells to the ghosts that show them
  accumulate = 2,  // the adjoint: ghosts to the cells that they show
  sum = 3          // all copies of a point to each place of it
};

/// Numbers that are compared between neighbours, 0 where there are fewer. The first ones are the caller's.
using facts = std::array<std::int64_t, 8>;

/// The head of each message of a halo, in front of its elements.
struct header {
  std::int32_t status;   // the sender's; elements follow only if it is success
  std::int32_t way;      // halo::operation of the sender
  std::uint64_t number;  // of the transfer on this halo
  halo::facts facts;
};
static_assert(sizeof(header) == 80);

/// A box of one of this rank's arrays, as a message carries it.
struct place {
  int array;
  distribution::box box;             // of the array, ghosts counted
  std::int64_t turn = 0;             // among the places of a sum, which are added in this order
  std::size_t offset = 0;            // of the packed box in a message
  distribution::per_axis strides{};  // of the packed box

  std::span<const std::int64_t> extents(int ndim) const { return {box.count.data(), static_cast<std::size_t>(ndim)}; }
  std::span<const std::int64_t> strides_of(int ndim) const { return {strides.data(), static_cast<std::size_t>(ndim)}; }
};

/// An array's form, as far as messages depend on it.
struct element_form {
  int ndim;
  std::size_t element_bytes;
};

/// Bytes to whose multiples the places of a message are aligned: those of the largest element.
inline constexpr std::size_t place_alignment = 16;

/// Gives the places of a message their offsets and strides. `arrays`: by the number of the array. Returns the bytes of
/// the message.
std::size_t lay_out(std::span<place> message, std::span<const element_form> arrays);

/// A neighbour on one side, or two: the ghosts that are cells of one, and the cells that are ghosts of the other. An
/// exchange receives the ghosts and sends the cells; an accumulate does the reverse.
struct side {
  int receive_from;           // the rank with the cells of these ghosts; SYNCYTE_PROC_NULL at an edge
  int send_to;                // the rank whose ghosts are this rank's cells; SYNCYTE_PROC_NULL at an edge
  std::vector<place> ghosts;  // the neighbour's cells have the same boxes, in the same order
  std::vector<place> cells;
  std::size_t room;     // most bytes of elements in a message of any operation, equal on both ranks
  int tag;              // of an exchange, on the control communicator; by the direction in which messages travel
  int adjoint_tag;      // of an accumulate, whose messages travel the other way
  memory::scratch out;  // a header and elements
  memory::scratch in;
  int missing;  // pieces of the message that have not arrived
};

/// The neighbours and what they exchange: made once, collectively, and used between neighbours only. As a linear map on
/// the arrays of all ranks, an exchange copies cells into the ghosts that show them; its adjoint, accumulate, adds
/// these ghosts to the cells and sets them to zero.
class plan {
 public:
  virtual ~plan() = default;

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }

  /// "halo" or "bundle", and the name of an operation for messages: string literals.
  const char* noun() const { return noun_; }
  virtual const char* name_of(operation way) const = 0;

  /// Transfers begun on this rank.
  std::uint64_t sequence() const { return slot_.count(); }

  /// The rank with which this one exchanges messages, itself included; SYNCYTE_PROC_NULL if there is none, or several.
  int only_neighbour() const { return only_neighbour_; }

  /// Number of this halo among the collective calls of its communicator, equal on all ranks.
  std::uint64_t number() const { return number_; }

  /// Phases in the order of an exchange, with memory for the messages of the transfer in flight.
  using phase = std::vector<side>;  // messages that can be in flight together
  std::span<phase> phases() { return phases_; }
  transfer_slot& slot() { return slot_; }

  /// Places that an accumulate sets to zero beside those that this rank sends.
  virtual std::span<const place> cleared() const { return {}; }

  /// Says in which fact this rank and a neighbour differ; `name` is the fact's.
  virtual std::string difference(std::size_t fact, const char* name, std::int64_t theirs, int sender,
                                 std::int64_t mine) const;

 protected:
  /// `noun` names the object in messages: a string literal.
  plan(const char* noun, std::shared_ptr<comm::communicator> comm, std::uint64_t number)
      : noun_(noun), comm_(std::move(comm)), number_(number), slot_(noun) {}
  void set_phases(std::vector<phase> phases);

 private:
  const char* noun_;
  std::shared_ptr<comm::communicator> comm_;
  std::uint64_t number_;
  std::vector<phase> phases_;
  int only_neighbour_ = -1;
  transfer_slot slot_;
};

}  // namespace syncyte::halo
