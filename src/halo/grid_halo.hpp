// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "halo/plan.hpp"
#include "halo/transfer.hpp"

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

/// The halo of one array of a given shape, which the dimensions of a Cartesian communicator cut.
class grid_halo final : public plan {
 public:
  /// Collective over a Cartesian communicator.
  static std::shared_ptr<grid_halo> create(std::shared_ptr<comm::communicator> cart, description asked);

  syncyte_dtype_t dtype() const { return description_.dtype; }
  std::span<const std::int64_t> shape() const { return description_.shape; }

  const char* name_of(operation way) const override;

  /// The cells that are no ghosts of any neighbour or edge.
  distribution::box interior() const;

 private:
  grid_halo(std::shared_ptr<comm::communicator> comm, description asked, std::uint64_t number);
  void add_side(int dimension, bool is_low, phase& sides) const;
  distribution::box across(int dimension) const;
  void require_equal_extents() const;

  description description_;
};

/// Starts a transfer of an array. Throws SYNCYTE_ERR_BUSY while another transfer of this halo is in flight; all other
/// errors come at the end. The names of extra facts must stay until then.
std::unique_ptr<transfer> start(const std::shared_ptr<grid_halo>& on, const syncyte_buffer_t* array, operation way,
                                const collectives::caller_facts& caller = {});

}  // namespace syncyte::halo
