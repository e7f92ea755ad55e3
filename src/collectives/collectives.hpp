// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/overlap.hpp"
#include "collectives/along.hpp"
#include "collectives/checks.hpp"
#include "collectives/forms.hpp"
#include "collectives/reductions.hpp"
#include "comm/cart.hpp"
#include "mpi/process.hpp"
#include "mpi/small_collectives.hpp"
#include "syncyte/messages.h"

namespace syncyte::collectives {

// The collectives of collectives.h and nonblocking.h, in the forms of forms.hpp. Each has the name of its C functions,
// and arguments in their order: bindings/generate writes the C functions by that rule. The caller keeps contiguous
// arrays until a started operation has ended; strided arrays are copied, at the start and at the end.

void barrier(comm::communicator& comm);

class bcast final : public data_operation {
 public:
  bcast(comm::agreement& terms, form how, int root, const syncyte_buffer_t* array)
      : root_(checked_root(terms, root)), array_(checked_to_move(array, "array", how)) {
    if (terms.comm().rank() != root_) array_.require_writable();
    terms.named_fact("dtype of array", array_.dtype(), base::dtype_name);
    terms.fact("elements of array", array_.elements());
  }

  void move(mover& by) override { by.bcast(array_.data(), array_.elements(), root_, array_.dtype()); }

 private:
  int root_;
  base::buffer array_;
};

/// allgather, with equal counts, and allgatherv.
class all_gathering final : public data_operation {
 public:
  all_gathering(comm::agreement& terms, form how, const syncyte_buffer_t* input, const syncyte_buffer_t* output)
      : all_gathering(terms, input, output, how) {
    output_.require_elements(input_.elements() * terms.comm().size());
    terms.fact("elements of input", input_.elements());
    counts_.assign(static_cast<std::size_t>(terms.comm().size()), input_.elements());
  }

  all_gathering(comm::agreement& terms, form how, const syncyte_buffer_t* input, given_counts counts,
                const syncyte_buffer_t* output)
      : all_gathering(terms, input, output, how) {
    const auto all = checked_counts(terms.comm(), counts, "counts");
    output_.require_elements(mpi::sum_of(all), ", the sum of counts");
    input_.require_elements(all[static_cast<std::size_t>(terms.comm().rank())], ", this rank's in counts");
    comm::add_counts(terms, all, "sum of counts", "hash of counts");
    counts_.assign(all.begin(), all.end());
  }

  void move(mover& by) override { by.allgather(input_.data(), counts_, output_.data(), input_.dtype()); }

 private:
  all_gathering(comm::agreement& terms, const syncyte_buffer_t* input, const syncyte_buffer_t* output, form how)
      : input_(checked_to_move(input, "input", how)), output_(checked_to_move(output, "output", how)) {
    output_.require_dtype(input_.dtype()).require_writable();
    base::require_apart(input_, output_);
    terms.named_fact("dtype of input", input_.dtype(), base::dtype_name);
  }

  base::buffer input_;
  base::buffer output_;
  std::vector<std::int64_t> counts_;
};

using allgather = all_gathering;
using allgatherv = all_gathering;

class alltoallv final : public data_operation {
 public:
  alltoallv(comm::agreement& terms, form how, const syncyte_buffer_t* input, given_counts send_counts,
            given_counts recv_counts, const syncyte_buffer_t* output)
      : input_(checked_to_move(input, "input", how)),
        output_(checked_to_move(output, "output", how)),
        send_counts_(checked_counts(terms.comm(), send_counts, "send_counts")),
        recv_counts_(checked_counts(terms.comm(), recv_counts, "recv_counts")) {
    const auto rank = static_cast<std::size_t>(terms.comm().rank());
    input_.require_elements(mpi::sum_of(send_counts_), ", the sum of send_counts");
    output_.require_dtype(input_.dtype()).require_writable();
    output_.require_elements(mpi::sum_of(recv_counts_), ", the sum of recv_counts");
    base::require_apart(input_, output_);
    base::expect(send_counts_[rank] == recv_counts_[rank], SYNCYTE_ERR_ARGUMENT, {"recv_counts", rank},
                 recv_counts_[rank], "{}, as this rank's own send_counts[{}]", send_counts_[rank], rank);
    terms.named_fact("dtype of input", input_.dtype(), base::dtype_name);
  }

  /// Agrees on the size, which must be equal on all ranks though their counts differ. The agreement also compares what
  /// each rank sends with what the others expect.
  void compare(comm::collective_call& call) override;

  void move(mover& by) override {
    by.alltoall(input_.data(), send_counts_, recv_counts_, output_.data(), input_.dtype(), size_);
  }

 private:
  base::buffer input_;
  base::buffer output_;
  mpi::counts_view send_counts_;
  mpi::counts_view recv_counts_;
  alltoall_size size_;
};

/// A block to and from each neighbour on the grid; blocks of missing neighbours stay as they are.
class neighbor_alltoall final : public data_operation {
 public:
  neighbor_alltoall(comm::agreement& terms, form how, const syncyte_buffer_t* input, const syncyte_buffer_t* output)
      : input_(checked_to_move(input, "input", how)), output_(checked_to_move(output, "output", how)) {
    mpi::require_rank_process();  // in a forked child even a grid of one rank would send messages
    const int dimensions = comm::require_grid(terms.comm()).ndim();
    for (int d = 0; d < dimensions; ++d) {
      const auto [below, above] = comm::shift_along(terms.comm(), d, 1);
      neighbours_.insert(neighbours_.end(), {below, above});
    }
    base::expect(input_.elements() % (2 * dimensions) == 0, SYNCYTE_ERR_SHAPE, "input",
                 fmt::format("of {} elements", input_.elements()), "a multiple of {}, a block for each neighbour",
                 2 * dimensions);
    output_.require_dtype(input_.dtype()).require_elements(input_.elements()).require_writable();
    base::require_apart(input_, output_);
    terms.named_fact("dtype of input", input_.dtype(), base::dtype_name);
    terms.fact("elements of input", input_.elements());
  }

  /// Blocks of the two neighbours of a dimension lie next to each other. If they are one rank, its messages keep their
  /// order, and the first one, which it sends downwards, comes from above.
  void move(mover& by) override {
    const std::int64_t block = input_.elements() / std::ssize(neighbours_);
    const std::size_t block_bytes = static_cast<std::size_t>(block) * base::dtype_size(input_.dtype());
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      if (const std::size_t opposite = i ^ 1; neighbours_[opposite] != SYNCYTE_PROC_NULL)
        by.receive(neighbours_[opposite], output_.data() + opposite * block_bytes, block, input_.dtype());
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      if (neighbours_[i] != SYNCYTE_PROC_NULL)
        by.send(neighbours_[i], input_.data() + i * block_bytes, block, input_.dtype());
    by.wait_for_messages();
  }

 private:
  base::buffer input_;
  base::buffer output_;
  std::vector<int> neighbours_;
};

/// Gathers one number of each rank on all of them.
class counts final : public data_operation {
 public:
  counts(comm::agreement& terms, form, std::int64_t count, std::int64_t length, std::int64_t* all)
      : comm_(terms.comm()), count_(count), all_(all) {
    base::expect(count >= 0, SYNCYTE_ERR_ARGUMENT, "count", count, "0 or more");
    given_counts{all, length}.checked("counts", comm_.size(), "rank");
  }

  void move(mover&) override {
    if (comm_.bypasses_mpi())
      *all_ = count_;
    else
      std::ranges::copy(mpi::allgather(count_, comm_.data()), all_);
  }

 private:
  comm::communicator& comm_;
  std::int64_t count_;
  std::int64_t* all_;
};

}  // namespace syncyte::collectives
