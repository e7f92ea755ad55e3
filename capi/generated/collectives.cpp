// Generated from syncyte/collectives.h and syncyte/nonblocking.h by bindings/generate; do not edit.
// clang-format off
#include "collectives/collectives.hpp"

#include "collective_calls.hpp"
#include "guard.hpp"
#include "syncyte/collectives.h"
#include "syncyte/nonblocking.h"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_comm_bcast(syncyte_comm_t comm, int32_t root, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* buffer) {
  return started<forks_too>("comm_bcast", [&] {
    trace_buffer(buffer);
    trace_peer(root);
    collectives::run<collectives::bcast>(*find_comm(comm), "comm_bcast", extras(options), root, buffer);
  });
}

syncyte_status_t syncyte_comm_allreduce(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_allreduce", [&] {
    trace_buffer(input != nullptr ? input : output);
    collectives::run<collectives::allreduce>(*find_comm(comm), "comm_allreduce", extras(options), input, op, output);
  });
}

syncyte_status_t syncyte_comm_allgather(syncyte_comm_t comm, const syncyte_buffer_t* input,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_allgather", [&] {
    trace_buffer(input);
    collectives::run<collectives::allgather>(*find_comm(comm), "comm_allgather", extras(options), input, output);
  });
}

syncyte_status_t syncyte_comm_allgatherv(syncyte_comm_t comm, const syncyte_buffer_t* input, const int64_t* counts,
    int64_t counts_length, const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_allgatherv", [&] {
    trace_buffer(input);
    collectives::run<collectives::allgatherv>(*find_comm(comm), "comm_allgatherv", extras(options), input,
        collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_alltoallv(syncyte_comm_t comm, const syncyte_buffer_t* input, const int64_t* send_counts,
    int64_t send_counts_length, const int64_t* recv_counts, int64_t recv_counts_length,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_alltoallv", [&] {
    trace_buffer(input);
    collectives::run<collectives::alltoallv>(*find_comm(comm), "comm_alltoallv", extras(options), input,
        collectives::given_counts{send_counts, send_counts_length},
        collectives::given_counts{recv_counts, recv_counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_neighbor_alltoall(syncyte_comm_t comm, const syncyte_buffer_t* input,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_neighbor_alltoall", [&] {
    trace_buffer(input);
    collectives::run<collectives::neighbor_alltoall>(*find_comm(comm), "comm_neighbor_alltoall", extras(options), input,
        output);
  });
}

syncyte_status_t syncyte_comm_reduce(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op, int32_t root,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_reduce", [&] {
    trace_buffer(input != nullptr ? input : output);
    trace_peer(root);
    collectives::run<collectives::reduce>(*find_comm(comm), "comm_reduce", extras(options), input, op, root, output);
  });
}

syncyte_status_t syncyte_comm_scan(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
    syncyte_scan_t from, const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_scan", [&] {
    trace_buffer(input != nullptr ? input : output);
    collectives::run<collectives::scan>(*find_comm(comm), "comm_scan", extras(options), input, op, from, output);
  });
}

syncyte_status_t syncyte_comm_exscan(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
    syncyte_scan_t from, const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_exscan", [&] {
    trace_buffer(input != nullptr ? input : output);
    collectives::run<collectives::exscan>(*find_comm(comm), "comm_exscan", extras(options), input, op, from, output);
  });
}

syncyte_status_t syncyte_comm_counts(syncyte_comm_t comm, int64_t count, const syncyte_collective_options_t* options,
    int64_t* counts, int64_t counts_length) {
  return started<forks_too>("comm_counts", [&] {
    collectives::run<collectives::counts>(*find_comm(comm), "comm_counts", extras(options), count, counts,
        counts_length);
  });
}

syncyte_status_t syncyte_comm_gather_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    const int64_t* counts, int64_t counts_length, int32_t root, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output) {
  return started<forks_too>("comm_gather_along", [&] {
    trace_buffer(input);
    trace_peer(root);
    collectives::run<collectives::gather_along>(*find_comm(comm), "comm_gather_along", extras(options), input, axis,
        collectives::given_counts{counts, counts_length}, root, output);
  });
}

syncyte_status_t syncyte_comm_allgather_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    const int64_t* counts, int64_t counts_length, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output) {
  return started<forks_too>("comm_allgather_along", [&] {
    trace_buffer(input);
    collectives::run<collectives::allgather_along>(*find_comm(comm), "comm_allgather_along", extras(options), input,
        axis, collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    const int64_t* counts, int64_t counts_length, int32_t root, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output) {
  return started<forks_too>("comm_scatter_along", [&] {
    trace_buffer(input != nullptr ? input : output);
    trace_peer(root);
    collectives::run<collectives::scatter_along>(*find_comm(comm), "comm_scatter_along", extras(options), input, axis,
        collectives::given_counts{counts, counts_length}, root, output);
  });
}

syncyte_status_t syncyte_comm_reduce_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    const int64_t* counts, int64_t counts_length, syncyte_op_t op, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output) {
  return started<forks_too>("comm_reduce_scatter_along", [&] {
    trace_buffer(input);
    collectives::run<collectives::reduce_scatter_along>(*find_comm(comm), "comm_reduce_scatter_along", extras(options),
        input, axis, collectives::given_counts{counts, counts_length}, op, output);
  });
}

syncyte_status_t syncyte_comm_alltoall_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t gather_axis,
    const int64_t* gather_counts, int64_t gather_counts_length, int32_t scatter_axis, const int64_t* scatter_counts,
    int64_t scatter_counts_length, const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return started<forks_too>("comm_alltoall_along", [&] {
    trace_buffer(input);
    collectives::run<collectives::alltoall_along>(*find_comm(comm), "comm_alltoall_along", extras(options), input,
        gather_axis, collectives::given_counts{gather_counts, gather_counts_length}, scatter_axis,
        collectives::given_counts{scatter_counts, scatter_counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_ibcast(syncyte_comm_t comm, int32_t root, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* buffer, syncyte_request_t* request) {
  return start_request("comm_ibcast", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(buffer);
    trace_peer(root);
    return collectives::start<collectives::bcast>(group, "comm_ibcast", more, root, buffer);
  });
}

syncyte_status_t syncyte_comm_iallreduce(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request("comm_iallreduce", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(input != nullptr ? input : output);
    return collectives::start<collectives::allreduce>(group, "comm_iallreduce", more, input, op, output);
  });
}

syncyte_status_t syncyte_comm_iallgather_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    const int64_t* counts, int64_t counts_length, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request("comm_iallgather_along", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(input);
    return collectives::start<collectives::allgather_along>(group, "comm_iallgather_along", more, input, axis,
        collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_ireduce_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    const int64_t* counts, int64_t counts_length, syncyte_op_t op, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request("comm_ireduce_scatter_along", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(input);
    return collectives::start<collectives::reduce_scatter_along>(group, "comm_ireduce_scatter_along", more, input, axis,
        collectives::given_counts{counts, counts_length}, op, output);
  });
}

syncyte_status_t syncyte_comm_ialltoall_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t gather_axis,
    const int64_t* gather_counts, int64_t gather_counts_length, int32_t scatter_axis, const int64_t* scatter_counts,
    int64_t scatter_counts_length, const syncyte_collective_options_t* options, const syncyte_buffer_t* output,
    syncyte_request_t* request) {
  return start_request("comm_ialltoall_along", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(input);
    return collectives::start<collectives::alltoall_along>(group, "comm_ialltoall_along", more, input, gather_axis,
        collectives::given_counts{gather_counts, gather_counts_length}, scatter_axis,
        collectives::given_counts{scatter_counts, scatter_counts_length}, output);
  });
}
}
