// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "collectives/along_checks.hpp"
#include "collectives/half_precision.hpp"
#include "collectives/reduction_ops.hpp"
#include "collectives/started_collective.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {

// Collectives on arrays that are cut along an axis: each rank has one part of the whole. `counts` are all ranks'
// extents there; negative axes count from the end. Arrays may have any strides; parts that are not dense go through
// scratch (dense_parts).

/// A gather to a root, and an allgather.
class gathering_along final : public data_operation {
 public:
  gathering_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int axis, int root,
                  given_counts counts, const syncyte_buffer_t* output)
      : gathering_along(terms, how, input, axis, std::optional(root), counts, on_root(terms, root, output, "output")) {}

  gathering_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int axis, given_counts counts,
                  const syncyte_buffer_t* output)
      : gathering_along(terms, how, input, axis, std::nullopt, counts, output) {
    base::expect(output != nullptr, SYNCYTE_ERR_ARGUMENT, "output", "null", "a syncyte_buffer_t");
  }

  void move(mover& by) override {
    if (root_)
      by.gather(given_.part.data(), given_.counts, *root_, given_.whole_data(), given_.dtype);
    else
      by.allgather(given_.part.data(), given_.counts, given_.whole->data(), given_.dtype);
  }
  void finish() override {
    if (given_.whole) given_.whole->unpack();
  }

 private:
  gathering_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int axis, std::optional<int> root,
                  given_counts counts, const syncyte_buffer_t* output)
      : given_(checked_partition(terms, any_strides_to_move(input, "input", how), axis, counts, output, "output")),
        root_(root) {
    if (given_.whole) given_.whole->array().require_writable();
    given_.part.pack();
  }

  partitioned given_;
  std::optional<int> root_;
};

using gather_along = gathering_along;
using allgather_along = gathering_along;

class scatter_along final : public data_operation {
 public:
  scatter_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int axis, int root,
                given_counts counts, const syncyte_buffer_t* output)
      : given_(checked_partition(terms, any_strides_to_move(output, "output", how).require_writable(), axis, counts,
                                 on_root(terms, root, input, "input"), "input")),
        root_(root) {
    if (given_.whole) given_.whole->pack();
  }

  void move(mover& by) override {
    by.scatter(given_.whole_data(), given_.counts, root_, given_.part.data(), given_.dtype);
  }
  void finish() override { given_.part.unpack(); }

 private:
  partitioned given_;
  int root_;
};

/// Half-precision elements are widened as a whole, and rounded once.
class reduce_scatter_along final : public data_operation {
 public:
  reduce_scatter_along(comm::agreement& terms, form, const syncyte_buffer_t* input, int axis, syncyte_op_t op,
                       given_counts counts, const syncyte_buffer_t* output)
      : given_(checked(terms, input, axis, op, counts, output)),
        op_(op),
        own_(given_.counts[static_cast<std::size_t>(terms.comm().rank())]) {
    given_.whole->pack();
    if (!base::is_half_precision(given_.dtype)) return;
    const std::int64_t total = mpi::sum_of(given_.counts);
    wide_whole_.emplace(total);
    wide_part_.emplace(own_);
    widen_half(given_.whole->data(), total, given_.dtype, wide_whole_->data());
  }

  void move(mover& by) override {
    if (wide_whole_)
      by.reduce_scatter(wide_whole_->bytes(), given_.counts, wide_part_->bytes(), SYNCYTE_FLOAT32, op_);
    else
      by.reduce_scatter(given_.whole->data(), given_.counts, given_.part.data(), given_.dtype, op_);
  }
  void finish() override {
    if (wide_part_) round_half(wide_part_->data(), own_, given_.dtype, given_.part.data());
    given_.part.unpack();
  }

 private:
  static partitioned checked(comm::agreement& terms, const syncyte_buffer_t* input, int axis, syncyte_op_t op,
                             given_counts counts, const syncyte_buffer_t* output) {
    const base::buffer part = any_strides(output, "output").require_aligned().require_writable();
    require_reducible(part.dtype(), op);
    any_strides(input, "input").require_aligned();
    partitioned result = checked_partition(terms, part, axis, counts, input, "input");
    terms.named_fact("op", op, base::op_name);
    return result;
  }

  partitioned given_;
  syncyte_op_t op_;
  std::int64_t own_;
  std::optional<wide_elements> wide_whole_;
  std::optional<wide_elements> wide_part_;
};

/// Gathers along one axis and scatters along the other: gather_counts are all ranks' extents of input along
/// gather_axis, scatter_counts those of output along scatter_axis.
class alltoall_along final : public data_operation {
 public:
  alltoall_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int gather_axis, int scatter_axis,
                 given_counts gather_counts, given_counts scatter_counts, const syncyte_buffer_t* output)
      : given_(checked_change(terms, any_strides_to_move(input, "input", how), gather_axis, gather_counts, scatter_axis,
                              scatter_counts, output)) {
    given_.from.pack();
  }

  void move(mover& by) override {
    by.alltoall(given_.from.data(), given_.from.counts(), given_.to.counts(), given_.to.data(), given_.dtype,
                {.is_long = given_.all_elements > mpi::piece_limit(),
                 .is_short = by.fits_share(given_.all_elements, given_.dtype)});
  }
  void finish() override { given_.to.unpack(); }

 private:
  repartitioned given_;
};

}  // namespace syncyte::collectives
