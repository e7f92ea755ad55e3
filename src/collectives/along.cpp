// Collectives on arrays that are cut along an axis: each rank has one part of the whole. Arrays may have any strides;
// parts that are not dense go through scratch (dense_parts).

#include <algorithm>
#include <optional>
#include <utility>

#include "collectives/along_checks.hpp"
#include "collectives/collectives.hpp"
#include "collectives/dense_parts.hpp"
#include "collectives/forms.hpp"
#include "collectives/half_precision.hpp"
#include "collectives/reduction_ops.hpp"
#include "mpi/exchange.hpp"

namespace syncyte::collectives {
namespace {

/// The root's array; null elsewhere.
const syncyte_buffer_t* on_root(comm::agreement& terms, int root, const syncyte_buffer_t* buffer,
                                const char* argument) {
  if (terms.comm().rank() != checked_root(terms, root)) return nullptr;
  if (buffer == nullptr)
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = argument, .value = "null", .expected = "an array on root"},
                 fmt::format("{} is null on root; expected a syncyte_buffer_t", argument));
  return buffer;
}

std::byte* data_of(const std::optional<dense_parts>& side) { return side ? side->data() : nullptr; }

/// A gather to a root, and an allgather.
class gathering_along final : public data_operation {
 public:
  gathering_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int axis, given_counts counts,
                  int root, const syncyte_buffer_t* output)
      : gathering_along(terms, how, input, axis, counts, std::optional(root), on_root(terms, root, output, "output")) {}

  gathering_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int axis, given_counts counts,
                  const syncyte_buffer_t* output)
      : gathering_along(terms, how, input, axis, counts, std::nullopt, output) {
    base::expect(output != nullptr, SYNCYTE_ERR_ARGUMENT, "output", "null", "a syncyte_buffer_t");
  }

  void move(moves& by) override {
    if (root_)
      by.gather(given_.part.data(), given_.counts, *root_, data_of(given_.whole), given_.dtype);
    else
      by.allgather(given_.part.data(), given_.counts, given_.whole->data(), given_.dtype);
  }
  void finish() override {
    if (given_.whole) given_.whole->store();
  }

 private:
  gathering_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int axis, given_counts counts,
                  std::optional<int> root, const syncyte_buffer_t* output)
      : given_(checked_partition(terms, any_strides_to_move(input, "input", how), axis, counts, output, "output")),
        root_(root) {
    given_.part.load();
  }

  partitioned given_;
  std::optional<int> root_;
};

class scattering_along final : public data_operation {
 public:
  scattering_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int axis, given_counts counts,
                   int root, const syncyte_buffer_t* output)
      : given_(checked_partition(terms, any_strides_to_move(output, "output", how), axis, counts,
                                 on_root(terms, root, input, "input"), "input")),
        root_(root) {
    if (given_.whole) given_.whole->load();
  }

  void move(moves& by) override {
    by.scatter(data_of(given_.whole), given_.counts, root_, given_.part.data(), given_.dtype);
  }
  void finish() override { given_.part.store(); }

 private:
  partitioned given_;
  int root_;
};

/// Half-precision elements are widened as a whole, and rounded once.
class reduce_scattering_along final : public data_operation {
 public:
  reduce_scattering_along(comm::agreement& terms, form, const syncyte_buffer_t* input, int axis, given_counts counts,
                          syncyte_op_t op, const syncyte_buffer_t* output)
      : given_(checked(terms, input, axis, counts, op, output)),
        op_(op),
        own_(given_.counts[static_cast<std::size_t>(terms.comm().rank())]) {
    given_.whole->load();
    if (!is_half(given_.dtype)) return;
    const std::int64_t total = mpi::sum_of(given_.counts);
    wide_whole_.emplace(total);
    wide_part_.emplace(own_);
    widen_half(given_.whole->data(), total, given_.dtype, wide_whole_->data());
  }

  void move(moves& by) override {
    if (wide_whole_)
      by.reduce_scatter(wide_whole_->bytes(), given_.counts, wide_part_->bytes(), SYNCYTE_FLOAT32, op_);
    else
      by.reduce_scatter(given_.whole->data(), given_.counts, given_.part.data(), given_.dtype, op_);
  }
  void finish() override {
    if (wide_part_) round_half(wide_part_->data(), own_, given_.dtype, given_.part.data());
    given_.part.store();
  }

 private:
  static partitioned checked(comm::agreement& terms, const syncyte_buffer_t* input, int axis, given_counts counts,
                             syncyte_op_t op, const syncyte_buffer_t* output) {
    const base::buffer part = any_strides(output, "output").require_aligned();
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

class all_to_all_along final : public data_operation {
 public:
  all_to_all_along(comm::agreement& terms, form how, const syncyte_buffer_t* input, int gather_axis,
                   given_counts gather_counts, int scatter_axis, given_counts scatter_counts,
                   const syncyte_buffer_t* output)
      : given_(checked_change(terms, any_strides_to_move(input, "input", how), gather_axis, gather_counts, scatter_axis,
                              scatter_counts, output)) {
    given_.from.load();
  }

  void move(moves& by) override {
    by.alltoall(given_.from.data(), given_.from.counts(), given_.to.counts(), given_.to.data(), given_.dtype,
                given_.is_long);
  }
  void finish() override { given_.to.store(); }

 private:
  repartitioned given_;
};

}  // namespace

void counts(comm::communicator& comm, std::int64_t count, std::int64_t* counts, std::int64_t counts_length,
            const extras& extras) {
  comm::collective_call call(comm, "comm_counts");
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    base::expect(count >= 0, SYNCYTE_ERR_ARGUMENT, "count", count, "0 or more");
    given_counts{counts, counts_length}.checked("counts", comm.size(), "rank");
    add_facts(call, extras);
  });
  call.agree();
  if (comm.is_alone()) return void(*counts = count);
  std::ranges::copy(mpi::allgather(count, comm.data()), counts);
}

void gather_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, given_counts counts, int root,
                  const syncyte_buffer_t* output, const extras& extras) {
  run<gathering_along>(comm, "comm_gather_along", extras, input, axis, counts, root, output);
}

void allgather_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, given_counts counts,
                     const syncyte_buffer_t* output, const extras& extras) {
  run<gathering_along>(comm, "comm_allgather_along", extras, input, axis, counts, output);
}

started_t iallgather_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input, int axis,
                           given_counts counts, const syncyte_buffer_t* output, const extras& extras) {
  return start<gathering_along>(comm, "comm_iallgather_along", extras, input, axis, counts, output);
}

void scatter_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, given_counts counts, int root,
                   const syncyte_buffer_t* output, const extras& extras) {
  run<scattering_along>(comm, "comm_scatter_along", extras, input, axis, counts, root, output);
}

void reduce_scatter_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, given_counts counts,
                          syncyte_op_t op, const syncyte_buffer_t* output, const extras& extras) {
  run<reduce_scattering_along>(comm, "comm_reduce_scatter_along", extras, input, axis, counts, op, output);
}

started_t ireduce_scatter_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                                int axis, given_counts counts, syncyte_op_t op, const syncyte_buffer_t* output,
                                const extras& extras) {
  return start<reduce_scattering_along>(comm, "comm_ireduce_scatter_along", extras, input, axis, counts, op, output);
}

void alltoall_along(comm::communicator& comm, const syncyte_buffer_t* input, int gather_axis,
                    given_counts gather_counts, int scatter_axis, given_counts scatter_counts,
                    const syncyte_buffer_t* output, const extras& extras) {
  run<all_to_all_along>(comm, "comm_alltoall_along", extras, input, gather_axis, gather_counts, scatter_axis,
                        scatter_counts, output);
}

started_t ialltoall_along(const std::shared_ptr<comm::communicator>& comm, const syncyte_buffer_t* input,
                          int gather_axis, given_counts gather_counts, int scatter_axis, given_counts scatter_counts,
                          const syncyte_buffer_t* output, const extras& extras) {
  return start<all_to_all_along>(comm, "comm_ialltoall_along", extras, input, gather_axis, gather_counts, scatter_axis,
                                 scatter_counts, output);
}

}  // namespace syncyte::collectives
