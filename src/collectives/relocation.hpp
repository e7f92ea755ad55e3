// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/block_arrays.hpp"
#include "collectives/box_channel.hpp"
#include "collectives/started_collective.hpp"
#include "distribution/layout.hpp"
#include "distribution/route.hpp"
#include "memory/scratch.hpp"

namespace syncyte::collectives {

/// Moves an array from one layout to another: each place of the target's blocks gets the value that the owner of its
/// point has. Ghosts are neither read nor written. The array is never whole anywhere: pairs of ranks exchange messages
/// in rounds, through memory of at most `buffer_bytes` on each rank.
///
/// The adjoint sends what the arrays of `to` have the same ways back: each place of the arrays of `from` becomes the
/// sum of all places that get their value there, and 0 if none does. They are added in an order that the layouts and
/// buffer_bytes determine.
class relocation final : public data_operation {
 public:
  enum class direction { forward, adjoint };

  /// Finds what this rank sends and receives (distribution::find_route()); it may throw.
  using route_finder = std::function<std::shared_ptr<const distribution::route>()>;

  /// With `first` one of the arrays is a box of the other one, and begins at its point `first`; only that is moved.
  relocation(comm::agreement& terms, form how, direction way, syncyte_dtype_t dtype, const block_arrays& from,
             const block_arrays& to, const std::optional<distribution::per_axis>& first, const route_finder& find,
             std::size_t buffer_bytes);

  void compare(comm::collective_call& call) override;
  void move(mover& by) override;

 private:
  std::int64_t elements_for_others(std::span<const distribution::shipment> all) const;
  void exchange(mover& by);
  void copy_own() const;
  void pack(const box_message& what, std::byte* to) const;
  void unpack(const box_message& what, const std::byte* from) const;

  /// One side's arrays on this rank.
  struct blocks {
    blocks(const block_arrays& given, const comm::communicator& comm, syncyte_dtype_t dtype);
    const base::buffer& array_of(int block) const { return arrays[place_of(block)]; }
    std::size_t place_of(int block) const;
    /// The bytes of a box that lie together, which consists of whole rows; none if they do not.
    std::span<std::byte> run_of(const distribution::shipment& box) const;

    std::vector<int> numbers;  // ascending
    std::vector<base::buffer> arrays;
    std::vector<std::size_t> row_bytes;  // of arrays with dense rows that have no ghosts; otherwise 0
    distribution::ghost_widths ghosts;
  };

  void clear_targets() const;
  void store(const distribution::shipment& what, const std::byte* from, std::span<const std::int64_t> strides) const;

  int rank_;
  direction way_;
  syncyte_dtype_t dtype_;
  std::size_t element_bytes_;
  std::size_t buffer_bytes_;
  blocks read_, written_;
  bool streams_;  // past the caches
  std::shared_ptr<const distribution::route> route_;
  std::span<const distribution::shipment> sends_, receives_;
  std::int64_t most_elements_;  // of a message, equal on all ranks
  memory::scratch memory_;      // of the messages of a round
};

}  // namespace syncyte::collectives
