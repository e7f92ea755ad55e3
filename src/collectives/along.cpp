// Collectives on arrays that are cut along an axis: each rank has one part of the whole. Arrays may have any strides;
// parts that are not dense go through scratch (segments).

#include <numeric>
#include <optional>

#include "collectives/alone.hpp"
#include "collectives/along_checks.hpp"
#include "collectives/checks.hpp"
#include "collectives/reduce.hpp"
#include "collectives/segments.hpp"
#include "collectives/transport.hpp"
#include "comm/collective.hpp"
#include "mpi/call.hpp"

namespace syncyte::collectives {
namespace {

const syncyte_buffer_t* on_root(const comm::communicator& comm, int root, const syncyte_buffer_t* buffer,
                                const char* argument) {
  if (comm.rank() != root) return nullptr;
  base::require(buffer != nullptr, SYNCYTE_ERR_ARGUMENT, "{} is null on root; expected a syncyte_buffer_t", argument);
  return buffer;
}

std::byte* data_of(const std::optional<segments>& side) { return side ? side->data() : nullptr; }

}  // namespace

void lengths(comm::communicator& comm, std::int64_t length, std::int64_t* lengths, const extras& extras) {
  comm::collective_call call(comm, "comm_lengths");
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    base::require(length >= 0, SYNCYTE_ERR_ARGUMENT, "length is {}; expected 0 or more", length);
    base::require(lengths != nullptr, SYNCYTE_ERR_ARGUMENT, "lengths is null; expected room for {} numbers",
                  comm.size());
    add_facts(call, extras);
  });
  call.agree();
  if (comm.is_alone()) return void(*lengths = length);
  mpi::check(MPI_Allgather(&length, 1, MPI_INT64_T, lengths, 1, MPI_INT64_T, comm.data()), "MPI_Allgather");
}

void gather_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, const std::int64_t* lengths,
                  int root, const syncyte_buffer_t* output, const extras& extras) {
  comm::collective_call call(comm, "comm_gather_along");
  partitioned given;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    require_root(comm, root);
    const base::buffer part = any_strides_to_move(input, "input");
    given = checked_partition(call, part, axis, lengths, on_root(comm, root, output, "output"), "output");
    call.fact("root", root);
    add_facts(call, extras);
  });
  call.agree();
  given.part->load();
  gather_pieces(comm, given.part->data(), given.counts, root, data_of(given.whole), given.dtype);
  if (given.whole) given.whole->store();
}

void allgather_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, const std::int64_t* lengths,
                     const syncyte_buffer_t* output, const extras& extras) {
  comm::collective_call call(comm, "comm_allgather_along");
  partitioned given;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    const base::buffer part = any_strides_to_move(input, "input");
    base::require(output != nullptr, SYNCYTE_ERR_ARGUMENT, "output is null; expected a syncyte_buffer_t");
    given = checked_partition(call, part, axis, lengths, output, "output");
    add_facts(call, extras);
  });
  call.agree();
  given.part->load();
  allgather_pieces(comm, given.part->data(), given.counts, given.whole->data(), given.dtype);
  given.whole->store();
}

void scatter_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis, const std::int64_t* lengths,
                   int root, const syncyte_buffer_t* output, const extras& extras) {
  comm::collective_call call(comm, "comm_scatter_along");
  partitioned given;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    require_root(comm, root);
    const base::buffer part = any_strides_to_move(output, "output");
    given = checked_partition(call, part, axis, lengths, on_root(comm, root, input, "input"), "input");
    call.fact("root", root);
    add_facts(call, extras);
  });
  call.agree();
  if (given.whole) given.whole->load();
  scatter_pieces(comm, data_of(given.whole), given.counts, root, given.part->data(), given.dtype);
  given.part->store();
}

void reduce_scatter_along(comm::communicator& comm, const syncyte_buffer_t* input, int axis,
                          const std::int64_t* lengths, syncyte_op_t op, const syncyte_buffer_t* output,
                          const extras& extras) {
  comm::collective_call call(comm, "comm_reduce_scatter_along");
  partitioned given;
  memory::scratch wide;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    given = checked_reduce_scatter(call, input, axis, lengths, op, output);
    wide = memory::scratch(reduce_scatter_scratch(
        std::accumulate(given.counts.begin(), given.counts.end(), std::int64_t{0}), given.dtype));
    add_facts(call, extras);
  });
  call.agree();
  given.whole->load();
  reduce_scatter_pieces(comm, given.whole->data(), given.counts, given.part->data(), given.dtype, op, wide.data());
  given.part->store();
}

void alltoall_along(comm::communicator& comm, const syncyte_buffer_t* raw_input, const axis_change& asked,
                    const syncyte_buffer_t* raw_output, const extras& extras) {
  comm::collective_call call(comm, "comm_alltoall_along");
  repartitioned given;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    given = checked_change(call, any_strides_to_move(raw_input, "input"), asked, raw_output);
    add_facts(call, extras);
  });
  call.agree();
  given.from->load();
  exchange_pieces(comm, given.from->data(), given.from->counts(), given.to->counts(), given.to->data(), given.dtype,
                  given.is_long);
  given.to->store();
}

}  // namespace syncyte::collectives
