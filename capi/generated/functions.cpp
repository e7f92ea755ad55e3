// SPDX-License-Identifier: BSD-3-Clause
// Generated from syncyte/*.h by bindings/generate; do not edit.
// clang-format off
#include "collective_calls.hpp"
#include "collectives/collectives.hpp"
#include "collectives/shared_layout.hpp"
#include "guard.hpp"
#include "halo/bundle.hpp"
#include "halo/grid_halo.hpp"
#include "handle_tables.hpp"
#include "kv/worker.hpp"
#include "reducer/bucket_reducer.hpp"
#include "requests.hpp"
#include "syncyte/collectives.h"
#include "access/started.hpp"
#include "tensor/apply_gradients.hpp"
#include "tensor/box_operations.hpp"
#include "tensor/counter_operations.hpp"
#include "tensor/row_locks.hpp"
#include "window/operations.hpp"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_comm_rank(syncyte_comm_t comm, int32_t* rank) {
  return lookup_after_init("comm_rank", [&] {
    const auto object = find_traced(tables::comm(), comm, "comm");
    out(rank, "rank");
    *rank = static_cast<int32_t>(object->rank());
  });
}

syncyte_status_t syncyte_comm_size(syncyte_comm_t comm, int32_t* size) {
  return lookup_after_init("comm_size", [&] {
    const auto object = find_traced(tables::comm(), comm, "comm");
    out(size, "size");
    *size = static_cast<int32_t>(object->size());
  });
}

syncyte_status_t syncyte_comm_sequence(syncyte_comm_t comm, int64_t* number) {
  return lookup_after_init("comm_sequence", [&] {
    const auto object = find_traced(tables::comm(), comm, "comm");
    out(number, "number");
    *number = static_cast<int64_t>(object->sequence());
  });
}

syncyte_status_t syncyte_comm_id(syncyte_comm_t comm, int64_t* id) {
  return lookup_after_init("comm_id", [&] {
    const auto object = find_traced(tables::comm(), comm, "comm");
    out(id, "id");
    *id = static_cast<int64_t>(object->id());
  });
}

syncyte_status_t syncyte_comm_retain(syncyte_comm_t comm) {
  return guarded("comm_retain", [&] { tables::comm().retain(comm, "comm"); });
}

syncyte_status_t syncyte_comm_release(syncyte_comm_t comm) {
  return guarded("comm_release", [&] { tables::comm().release(comm, "comm"); });
}

syncyte_status_t syncyte_comm_destroy(syncyte_comm_t* comm) {
  return guarded("comm_destroy", [&] { tables::comm().destroy(comm, "comm"); });
}

syncyte_status_t syncyte_comm_bcast(syncyte_comm_t comm, int32_t root, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* array) {
  return after_init<forks_too>("comm_bcast", [&] {
    trace_buffer(array);
    trace_peer(root);
    collectives::run<collectives::bcast>(*find_comm(comm), "comm_bcast", facts_of(options), root, array);
  });
}

syncyte_status_t syncyte_comm_ibcast(syncyte_comm_t comm, int32_t root, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* array, syncyte_request_t* request) {
  return start_request("comm_ibcast", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(array);
    trace_peer(root);
    return collectives::start<collectives::bcast>(group, "comm_ibcast", more, root, array);
  });
}

syncyte_status_t syncyte_comm_allreduce(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_allreduce", [&] {
    trace_buffer(input != nullptr ? input : output);
    collectives::run<collectives::allreduce>(*find_comm(comm), "comm_allreduce", facts_of(options), input, op, output);
  });
}

syncyte_status_t syncyte_comm_iallreduce(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request("comm_iallreduce", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(input != nullptr ? input : output);
    return collectives::start<collectives::allreduce>(group, "comm_iallreduce", more, input, op, output);
  });
}

syncyte_status_t syncyte_comm_allgather(syncyte_comm_t comm, const syncyte_buffer_t* input,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_allgather", [&] {
    trace_buffer(input);
    collectives::run<collectives::allgather>(*find_comm(comm), "comm_allgather", facts_of(options), input, output);
  });
}

syncyte_status_t syncyte_comm_allgatherv(syncyte_comm_t comm, const syncyte_buffer_t* input, int64_t counts_length,
    const int64_t* counts, const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_allgatherv", [&] {
    trace_buffer(input);
    collectives::run<collectives::allgatherv>(*find_comm(comm), "comm_allgatherv", facts_of(options), input,
        collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_alltoallv(syncyte_comm_t comm, const syncyte_buffer_t* input, int64_t send_counts_length,
    const int64_t* send_counts, int64_t recv_counts_length, const int64_t* recv_counts,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_alltoallv", [&] {
    trace_buffer(input);
    collectives::run<collectives::alltoallv>(*find_comm(comm), "comm_alltoallv", facts_of(options), input,
        collectives::given_counts{send_counts, send_counts_length},
        collectives::given_counts{recv_counts, recv_counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_neighbor_alltoall(syncyte_comm_t comm, const syncyte_buffer_t* input,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_neighbor_alltoall", [&] {
    trace_buffer(input);
    collectives::run<collectives::neighbor_alltoall>(*find_comm(comm), "comm_neighbor_alltoall", facts_of(options),
        input, output);
  });
}

syncyte_status_t syncyte_comm_reduce(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op, int32_t root,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_reduce", [&] {
    trace_buffer(input != nullptr ? input : output);
    trace_peer(root);
    collectives::run<collectives::reduce>(*find_comm(comm), "comm_reduce", facts_of(options), input, op, root, output);
  });
}

syncyte_status_t syncyte_comm_scan(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op, int32_t reverse,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_scan", [&] {
    trace_buffer(input != nullptr ? input : output);
    collectives::run<collectives::scan>(*find_comm(comm), "comm_scan", facts_of(options), input, op, reverse, output);
  });
}

syncyte_status_t syncyte_comm_exscan(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
    int32_t reverse, const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_exscan", [&] {
    trace_buffer(input != nullptr ? input : output);
    collectives::run<collectives::exscan>(*find_comm(comm), "comm_exscan", facts_of(options), input, op, reverse,
        output);
  });
}

syncyte_status_t syncyte_comm_counts(syncyte_comm_t comm, int64_t count, const syncyte_collective_options_t* options,
    int64_t counts_length, int64_t* counts) {
  return after_init<forks_too>("comm_counts", [&] {
    collectives::run<collectives::counts>(*find_comm(comm), "comm_counts", facts_of(options), count, counts_length,
        counts);
  });
}

syncyte_status_t syncyte_comm_gather_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    int32_t root, int64_t counts_length, const int64_t* counts, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_gather_along", [&] {
    trace_buffer(input);
    trace_peer(root);
    collectives::run<collectives::gather_along>(*find_comm(comm), "comm_gather_along", facts_of(options), input, axis,
        root, collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_allgather_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    int64_t counts_length, const int64_t* counts, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_allgather_along", [&] {
    trace_buffer(input);
    collectives::run<collectives::allgather_along>(*find_comm(comm), "comm_allgather_along", facts_of(options), input,
        axis, collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_iallgather_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    int64_t counts_length, const int64_t* counts, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request("comm_iallgather_along", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(input);
    return collectives::start<collectives::allgather_along>(group, "comm_iallgather_along", more, input, axis,
        collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    int32_t root, int64_t counts_length, const int64_t* counts, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_scatter_along", [&] {
    trace_buffer(input != nullptr ? input : output);
    trace_peer(root);
    collectives::run<collectives::scatter_along>(*find_comm(comm), "comm_scatter_along", facts_of(options), input, axis,
        root, collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_reduce_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    syncyte_op_t op, int64_t counts_length, const int64_t* counts, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_reduce_scatter_along", [&] {
    trace_buffer(input);
    collectives::run<collectives::reduce_scatter_along>(*find_comm(comm), "comm_reduce_scatter_along",
        facts_of(options), input, axis, op, collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_ireduce_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
    syncyte_op_t op, int64_t counts_length, const int64_t* counts, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request("comm_ireduce_scatter_along", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(input);
    return collectives::start<collectives::reduce_scatter_along>(group, "comm_ireduce_scatter_along", more, input, axis,
        op, collectives::given_counts{counts, counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_alltoall_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t gather_axis,
    int32_t scatter_axis, int64_t gather_counts_length, const int64_t* gather_counts, int64_t scatter_counts_length,
    const int64_t* scatter_counts, const syncyte_collective_options_t* options, const syncyte_buffer_t* output) {
  return after_init<forks_too>("comm_alltoall_along", [&] {
    trace_buffer(input);
    collectives::run<collectives::alltoall_along>(*find_comm(comm), "comm_alltoall_along", facts_of(options), input,
        gather_axis, scatter_axis, collectives::given_counts{gather_counts, gather_counts_length},
        collectives::given_counts{scatter_counts, scatter_counts_length}, output);
  });
}

syncyte_status_t syncyte_comm_ialltoall_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t gather_axis,
    int32_t scatter_axis, int64_t gather_counts_length, const int64_t* gather_counts, int64_t scatter_counts_length,
    const int64_t* scatter_counts, const syncyte_collective_options_t* options, const syncyte_buffer_t* output,
    syncyte_request_t* request) {
  return start_request("comm_ialltoall_along", comm, options, request, [&](const auto& group, const auto& more) {
    trace_buffer(input);
    return collectives::start<collectives::alltoall_along>(group, "comm_ialltoall_along", more, input, gather_axis,
        scatter_axis, collectives::given_counts{gather_counts, gather_counts_length},
        collectives::given_counts{scatter_counts, scatter_counts_length}, output);
  });
}

syncyte_status_t syncyte_cache_retain(syncyte_cache_t cache) {
  return guarded("cache_retain", [&] { tables::cache().retain(cache, "cache"); });
}

syncyte_status_t syncyte_cache_release(syncyte_cache_t cache) {
  return guarded("cache_release", [&] { tables::cache().release(cache, "cache"); });
}

syncyte_status_t syncyte_cache_destroy(syncyte_cache_t* cache) {
  return guarded("cache_destroy", [&] { tables::cache().destroy(cache, "cache"); });
}

syncyte_status_t syncyte_models_retain(syncyte_models_t models) {
  return guarded("models_retain", [&] { tables::models().retain(models, "models"); });
}

syncyte_status_t syncyte_models_release(syncyte_models_t models) {
  return guarded("models_release", [&] { tables::models().release(models, "models"); });
}

syncyte_status_t syncyte_models_destroy(syncyte_models_t* models) {
  return guarded("models_destroy", [&] { tables::models().destroy(models, "models"); });
}

syncyte_status_t syncyte_publication_retain(syncyte_publication_t publication) {
  return guarded("publication_retain", [&] { tables::publication().retain(publication, "publication"); });
}

syncyte_status_t syncyte_publication_release(syncyte_publication_t publication) {
  return guarded("publication_release", [&] { tables::publication().release(publication, "publication"); });
}

syncyte_status_t syncyte_publication_destroy(syncyte_publication_t* publication) {
  return guarded("publication_destroy", [&] { tables::publication().destroy(publication, "publication"); });
}

syncyte_status_t syncyte_model_retain(syncyte_model_t model) {
  return guarded("model_retain", [&] { tables::model().retain(model, "model"); });
}

syncyte_status_t syncyte_model_release(syncyte_model_t model) {
  return guarded("model_release", [&] { tables::model().release(model, "model"); });
}

syncyte_status_t syncyte_model_destroy(syncyte_model_t* model) {
  return guarded("model_destroy", [&] { tables::model().destroy(model, "model"); });
}

syncyte_status_t syncyte_halo_retain(syncyte_halo_t halo) {
  return guarded("halo_retain", [&] { tables::halo().retain(halo, "halo"); });
}

syncyte_status_t syncyte_halo_release(syncyte_halo_t halo) {
  return guarded("halo_release", [&] { tables::halo().release(halo, "halo"); });
}

syncyte_status_t syncyte_halo_destroy(syncyte_halo_t* halo) {
  return guarded("halo_destroy", [&] { tables::halo().destroy(halo, "halo"); });
}

syncyte_status_t syncyte_halo_comm(syncyte_halo_t halo, syncyte_comm_t* cart) {
  return lookup_after_init("halo_comm", [&] {
    const auto object = find_traced(tables::halo(), halo, "halo");
    out(cart, "cart");
    *cart = handle_of(object->comm());
  });
}

syncyte_status_t syncyte_halo_sequence(syncyte_halo_t halo, int64_t* number) {
  return lookup_after_init("halo_sequence", [&] {
    const auto object = find_traced(tables::halo(), halo, "halo");
    out(number, "number");
    *number = static_cast<int64_t>(object->sequence());
  });
}

syncyte_status_t syncyte_layout_retain(syncyte_layout_t layout) {
  return guarded("layout_retain", [&] { tables::layout().retain(layout, "layout"); });
}

syncyte_status_t syncyte_layout_release(syncyte_layout_t layout) {
  return guarded("layout_release", [&] { tables::layout().release(layout, "layout"); });
}

syncyte_status_t syncyte_layout_destroy(syncyte_layout_t* layout) {
  return guarded("layout_destroy", [&] { tables::layout().destroy(layout, "layout"); });
}

syncyte_status_t syncyte_layout_comm(syncyte_layout_t layout, syncyte_comm_t* comm) {
  return lookup_after_init("layout_comm", [&] {
    const auto object = find_traced(tables::layout(), layout, "layout");
    out(comm, "comm");
    *comm = handle_of(object->comm());
  });
}

syncyte_status_t syncyte_bundle_retain(syncyte_bundle_t bundle) {
  return guarded("bundle_retain", [&] { tables::bundle().retain(bundle, "bundle"); });
}

syncyte_status_t syncyte_bundle_release(syncyte_bundle_t bundle) {
  return guarded("bundle_release", [&] { tables::bundle().release(bundle, "bundle"); });
}

syncyte_status_t syncyte_bundle_destroy(syncyte_bundle_t* bundle) {
  return guarded("bundle_destroy", [&] { tables::bundle().destroy(bundle, "bundle"); });
}

syncyte_status_t syncyte_bundle_comm(syncyte_bundle_t bundle, syncyte_comm_t* comm) {
  return lookup_after_init("bundle_comm", [&] {
    const auto object = find_traced(tables::bundle(), bundle, "bundle");
    out(comm, "comm");
    *comm = handle_of(object->comm());
  });
}

syncyte_status_t syncyte_bundle_fields(syncyte_bundle_t bundle, int64_t* count) {
  return lookup_after_init("bundle_fields", [&] {
    const auto object = find_traced(tables::bundle(), bundle, "bundle");
    out(count, "count");
    *count = static_cast<int64_t>(object->fields());
  });
}

syncyte_status_t syncyte_reducer_retain(syncyte_reducer_t reducer) {
  return guarded("reducer_retain", [&] { tables::reducer().retain(reducer, "reducer"); });
}

syncyte_status_t syncyte_reducer_release(syncyte_reducer_t reducer) {
  return guarded("reducer_release", [&] { tables::reducer().release(reducer, "reducer"); });
}

syncyte_status_t syncyte_reducer_destroy(syncyte_reducer_t* reducer) {
  return guarded("reducer_destroy", [&] { tables::reducer().destroy(reducer, "reducer"); });
}

syncyte_status_t syncyte_reducer_progress(syncyte_reducer_t reducer) {
  return after_init("reducer_progress", [&] {
    const auto object = find_traced(tables::reducer(), reducer, "reducer");
    object->progress();
  });
}

syncyte_status_t syncyte_reducer_wait(syncyte_reducer_t reducer) {
  return after_init("reducer_wait", [&] {
    const auto object = find_traced(tables::reducer(), reducer, "reducer");
    object->wait();
  });
}

syncyte_status_t syncyte_reducer_give_up(syncyte_reducer_t reducer) {
  return after_init("reducer_give_up", [&] {
    const auto object = find_traced(tables::reducer(), reducer, "reducer");
    object->give_up();
  });
}

syncyte_status_t syncyte_window_retain(syncyte_window_t window) {
  return guarded("window_retain", [&] { tables::window().retain(window, "window"); });
}

syncyte_status_t syncyte_window_release(syncyte_window_t window) {
  return guarded("window_release", [&] { tables::window().release(window, "window"); });
}

syncyte_status_t syncyte_window_destroy(syncyte_window_t* window) {
  return guarded("window_destroy", [&] { tables::window().destroy(window, "window"); });
}

syncyte_status_t syncyte_window_size(syncyte_window_t window, int32_t rank, int64_t* size) {
  return lookup_after_init("window_size", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    out(size, "size");
    *size = static_cast<int64_t>(object->size(rank));
  });
}

syncyte_status_t syncyte_window_put(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* source) {
  return after_init("window_put", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    trace_buffer(source);
    access::run<window::put>(*object, rank, offset, source);
  });
}

syncyte_status_t syncyte_window_iput(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* source, syncyte_request_t* request) {
  return after_init("window_iput", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    trace_buffer(source);
    out(request, "request");
    give_request(access::start<window::put>(object, rank, offset, source), "window_iput", request);
  });
}

syncyte_status_t syncyte_window_get(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* target) {
  return after_init<forks_too>("window_get", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    trace_buffer(target);
    access::run<window::get>(*object, rank, offset, target);
  });
}

syncyte_status_t syncyte_window_iget(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* target, syncyte_request_t* request) {
  return after_init("window_iget", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    trace_buffer(target);
    out(request, "request");
    give_request(access::start<window::get>(object, rank, offset, target), "window_iget", request);
  });
}

syncyte_status_t syncyte_window_accumulate(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* source, syncyte_op_t op) {
  return after_init("window_accumulate", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    trace_buffer(source);
    access::run<window::accumulate>(*object, rank, offset, source, op);
  });
}

syncyte_status_t syncyte_window_iaccumulate(syncyte_window_t window, int32_t rank, int64_t offset,
    const syncyte_buffer_t* source, syncyte_op_t op, syncyte_request_t* request) {
  return after_init("window_iaccumulate", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    trace_buffer(source);
    out(request, "request");
    give_request(access::start<window::accumulate>(object, rank, offset, source, op), "window_iaccumulate", request);
  });
}

syncyte_status_t syncyte_window_fetch_op(syncyte_window_t window, int32_t rank, int64_t offset, syncyte_dtype_t dtype,
    const void* operand, syncyte_op_t op, void* previous) {
  return after_init("window_fetch_op", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    access::run<window::fetch_op>(*object, rank, offset, dtype, operand, op, previous);
  });
}

syncyte_status_t syncyte_window_ifetch_op(syncyte_window_t window, int32_t rank, int64_t offset, syncyte_dtype_t dtype,
    const void* operand, syncyte_op_t op, void* previous, syncyte_request_t* request) {
  return after_init("window_ifetch_op", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    out(request, "request");
    give_request(access::start<window::fetch_op>(object, rank, offset, dtype, operand, op, previous),
        "window_ifetch_op", request);
  });
}

syncyte_status_t syncyte_window_compare_swap(syncyte_window_t window, int32_t rank, int64_t offset,
    syncyte_dtype_t dtype, const void* expected, const void* desired, void* previous) {
  return after_init("window_compare_swap", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    access::run<window::compare_swap>(*object, rank, offset, dtype, expected, desired, previous);
  });
}

syncyte_status_t syncyte_window_icompare_swap(syncyte_window_t window, int32_t rank, int64_t offset,
    syncyte_dtype_t dtype, const void* expected, const void* desired, void* previous, syncyte_request_t* request) {
  return after_init("window_icompare_swap", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    out(request, "request");
    give_request(access::start<window::compare_swap>(object, rank, offset, dtype, expected, desired, previous),
        "window_icompare_swap", request);
  });
}

syncyte_status_t syncyte_window_lock(syncyte_window_t window, int32_t rank, syncyte_lock_t kind) {
  return after_init("window_lock", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    object->lock(rank, kind);
  });
}

syncyte_status_t syncyte_window_unlock(syncyte_window_t window, int32_t rank) {
  return after_init("window_unlock", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    object->unlock(rank);
  });
}

syncyte_status_t syncyte_window_flush(syncyte_window_t window, int32_t rank) {
  return after_init("window_flush", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    trace_peer(rank);
    object->flush(rank);
  });
}

syncyte_status_t syncyte_window_fence(syncyte_window_t window) {
  return after_init("window_fence", [&] {
    const auto object = find_traced(tables::window(), window, "window");
    object->fence();
  });
}

syncyte_status_t syncyte_tensor_retain(syncyte_tensor_t tensor) {
  return guarded("tensor_retain", [&] { tables::tensor().retain(tensor, "tensor"); });
}

syncyte_status_t syncyte_tensor_release(syncyte_tensor_t tensor) {
  return guarded("tensor_release", [&] { tables::tensor().release(tensor, "tensor"); });
}

syncyte_status_t syncyte_tensor_destroy(syncyte_tensor_t* tensor) {
  return guarded("tensor_destroy", [&] { tables::tensor().destroy(tensor, "tensor"); });
}

syncyte_status_t syncyte_tensor_comm(syncyte_tensor_t tensor, syncyte_comm_t* comm) {
  return lookup_after_init("tensor_comm", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    out(comm, "comm");
    *comm = handle_of(object->comm());
  });
}

syncyte_status_t syncyte_tensor_rows(syncyte_tensor_t tensor, int32_t rank, int64_t* first, int64_t* count) {
  return lookup_after_init("tensor_rows", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_peer(rank);
    out(first, "first");
    out(count, "count");
    object->rows(rank, *first, *count);
  });
}

syncyte_status_t syncyte_tensor_owner(syncyte_tensor_t tensor, int64_t count, const int64_t* index, int32_t* ranks) {
  return lookup_after_init("tensor_owner", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    object->owner({index, count}, ranks);
  });
}

syncyte_status_t syncyte_tensor_locate_box(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
    int64_t extent_length, const int64_t* extent, int64_t capacity, int32_t* ranks, int64_t* first, int64_t* rows,
    int64_t* count) {
  return lookup_after_init("tensor_locate_box", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    out(count, "count");
    *count = static_cast<int64_t>(object->locate_box({lower, lower_length}, {extent, extent_length}, capacity, ranks,
        first, rows));
  });
}

syncyte_status_t syncyte_tensor_allow_device(syncyte_tensor_t tensor, int32_t device) {
  return lookup_after_init("tensor_allow_device", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    object->allow_device(device);
  });
}

syncyte_status_t syncyte_tensor_gather(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* output) {
  return after_init<forks_too>("tensor_gather", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(output);
    access::run<tensor::gather>(*object, index, output);
  });
}

syncyte_status_t syncyte_tensor_igather(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* output, syncyte_request_t* request) {
  return after_init("tensor_igather", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(output);
    out(request, "request");
    give_request(access::start<tensor::gather>(object, index, output), "tensor_igather", request);
  });
}

syncyte_status_t syncyte_tensor_scatter(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* source) {
  return after_init("tensor_scatter", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    access::run<tensor::scatter>(*object, index, source);
  });
}

syncyte_status_t syncyte_tensor_iscatter(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* source, syncyte_request_t* request) {
  return after_init("tensor_iscatter", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    out(request, "request");
    give_request(access::start<tensor::scatter>(object, index, source), "tensor_iscatter", request);
  });
}

syncyte_status_t syncyte_tensor_scatter_add(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* source) {
  return after_init("tensor_scatter_add", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    access::run<tensor::scatter_add>(*object, index, source);
  });
}

syncyte_status_t syncyte_tensor_iscatter_add(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* source, syncyte_request_t* request) {
  return after_init("tensor_iscatter_add", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    out(request, "request");
    give_request(access::start<tensor::scatter_add>(object, index, source), "tensor_iscatter_add", request);
  });
}

syncyte_status_t syncyte_tensor_set_learning_rate(syncyte_tensor_t tensor, double lr) {
  return after_init("tensor_set_learning_rate", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    tensor::set_learning_rate(*object, lr);
  });
}

syncyte_status_t syncyte_tensor_apply_gradients(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* gradients) {
  return after_init("tensor_apply_gradients", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(gradients);
    access::run<tensor::apply_gradients>(*object, index, gradients);
  });
}

syncyte_status_t syncyte_tensor_iapply_gradients(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
    const syncyte_buffer_t* gradients, syncyte_request_t* request) {
  return after_init("tensor_iapply_gradients", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(gradients);
    out(request, "request");
    give_request(access::start<tensor::apply_gradients>(object, index, gradients), "tensor_iapply_gradients", request);
  });
}

syncyte_status_t syncyte_tensor_get_box(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
    const syncyte_buffer_t* output) {
  return after_init<forks_too>("tensor_get_box", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(output);
    access::run<tensor::get_box>(*object, base::array_argument<std::int64_t>{lower, lower_length}, output);
  });
}

syncyte_status_t syncyte_tensor_iget_box(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
    const syncyte_buffer_t* output, syncyte_request_t* request) {
  return after_init("tensor_iget_box", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(output);
    out(request, "request");
    give_request(access::start<tensor::get_box>(object, base::array_argument<std::int64_t>{lower, lower_length},
        output), "tensor_iget_box", request);
  });
}

syncyte_status_t syncyte_tensor_put_box(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
    const syncyte_buffer_t* source) {
  return after_init("tensor_put_box", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    access::run<tensor::put_box>(*object, base::array_argument<std::int64_t>{lower, lower_length}, source);
  });
}

syncyte_status_t syncyte_tensor_iput_box(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
    const syncyte_buffer_t* source, syncyte_request_t* request) {
  return after_init("tensor_iput_box", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    out(request, "request");
    give_request(access::start<tensor::put_box>(object, base::array_argument<std::int64_t>{lower, lower_length},
        source), "tensor_iput_box", request);
  });
}

syncyte_status_t syncyte_tensor_accumulate_box(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
    const syncyte_buffer_t* source, const void* alpha, syncyte_op_t op) {
  return after_init("tensor_accumulate_box", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    access::run<tensor::accumulate_box>(*object, base::array_argument<std::int64_t>{lower, lower_length}, source, alpha,
        op);
  });
}

syncyte_status_t syncyte_tensor_iaccumulate_box(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
    const syncyte_buffer_t* source, const void* alpha, syncyte_op_t op, syncyte_request_t* request) {
  return after_init("tensor_iaccumulate_box", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    out(request, "request");
    give_request(access::start<tensor::accumulate_box>(object, base::array_argument<std::int64_t>{lower, lower_length},
        source, alpha, op), "tensor_iaccumulate_box", request);
  });
}

syncyte_status_t syncyte_tensor_fetch_add(syncyte_tensor_t tensor, int64_t element, int64_t operand,
    int64_t* previous) {
  return after_init("tensor_fetch_add", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    access::run<tensor::fetch_add>(*object, element, operand, previous);
  });
}

syncyte_status_t syncyte_tensor_ifetch_add(syncyte_tensor_t tensor, int64_t element, int64_t operand, int64_t* previous,
    syncyte_request_t* request) {
  return after_init("tensor_ifetch_add", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    out(request, "request");
    give_request(access::start<tensor::fetch_add>(object, element, operand, previous), "tensor_ifetch_add", request);
  });
}

syncyte_status_t syncyte_tensor_compare_swap(syncyte_tensor_t tensor, int64_t element, int64_t expected,
    int64_t desired, int64_t* previous) {
  return after_init("tensor_compare_swap", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    access::run<tensor::compare_swap>(*object, element, expected, desired, previous);
  });
}

syncyte_status_t syncyte_tensor_icompare_swap(syncyte_tensor_t tensor, int64_t element, int64_t expected,
    int64_t desired, int64_t* previous, syncyte_request_t* request) {
  return after_init("tensor_icompare_swap", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    out(request, "request");
    give_request(access::start<tensor::compare_swap>(object, element, expected, desired, previous),
        "tensor_icompare_swap", request);
  });
}

syncyte_status_t syncyte_tensor_load(syncyte_tensor_t tensor, int64_t element, int64_t* value) {
  return after_init<forks_too>("tensor_load", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    out(value, "value");
    *value = static_cast<int64_t>(tensor::load(*object, element));
  });
}

syncyte_status_t syncyte_tensor_store(syncyte_tensor_t tensor, int64_t element, int64_t value) {
  return after_init("tensor_store", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    tensor::store(*object, element, value);
  });
}

syncyte_status_t syncyte_tensor_wait(syncyte_tensor_t tensor, int64_t element, syncyte_compare_t compare, int64_t value,
    double timeout, int64_t* found) {
  return after_init<forks_too>("tensor_wait", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    const auto result = static_cast<int64_t>(tensor::wait(*object, element, compare, value, timeout));
    if (found != nullptr) *found = result;
  });
}

syncyte_status_t syncyte_tensor_lock(syncyte_tensor_t tensor, int64_t row) {
  return after_init("tensor_lock", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    tensor::lock(*object, row);
  });
}

syncyte_status_t syncyte_tensor_unlock(syncyte_tensor_t tensor, int64_t row) {
  return after_init("tensor_unlock", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    tensor::unlock(*object, row);
  });
}

syncyte_status_t syncyte_tensor_flush(syncyte_tensor_t tensor) {
  return after_init("tensor_flush", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    object->flush();
  });
}

syncyte_status_t syncyte_tensor_sync(syncyte_tensor_t tensor) {
  return after_init("tensor_sync", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    object->sync();
  });
}

syncyte_status_t syncyte_store_retain(syncyte_store_t store) {
  return guarded("store_retain", [&] { tables::store().retain(store, "store"); });
}

syncyte_status_t syncyte_store_release(syncyte_store_t store) {
  return guarded("store_release", [&] { tables::store().release(store, "store"); });
}

syncyte_status_t syncyte_store_destroy(syncyte_store_t* store) {
  return guarded("store_destroy", [&] { tables::store().destroy(store, "store"); });
}

syncyte_status_t syncyte_store_keys(syncyte_store_t store, int64_t* num_keys) {
  return lookup_after_init("store_keys", [&] {
    const auto object = find_traced(tables::store(), store, "store");
    out(num_keys, "num_keys");
    *num_keys = static_cast<int64_t>(object->keys());
  });
}

syncyte_status_t syncyte_store_lengths(syncyte_store_t store, int64_t count, const int64_t* keys, int64_t* lengths) {
  return lookup_after_init("store_lengths", [&] {
    const auto object = find_traced(tables::store(), store, "store");
    object->lengths({keys, count}, lengths);
  });
}

syncyte_status_t syncyte_store_owner(syncyte_store_t store, int64_t count, const int64_t* keys, int32_t* ranks) {
  return lookup_after_init("store_owner", [&] {
    const auto object = find_traced(tables::store(), store, "store");
    object->owner({keys, count}, ranks);
  });
}

syncyte_status_t syncyte_store_is_local(syncyte_store_t store, int64_t count, const int64_t* keys, int32_t* flags) {
  return lookup_after_init("store_is_local", [&] {
    const auto object = find_traced(tables::store(), store, "store");
    object->is_local({keys, count}, flags);
  });
}

syncyte_status_t syncyte_store_locate(syncyte_store_t store, int64_t count, const int64_t* keys, int32_t* ranks) {
  return lookup_after_init("store_locate", [&] {
    const auto object = find_traced(tables::store(), store, "store");
    object->locate({keys, count}, ranks);
  });
}

syncyte_status_t syncyte_store_adopt_last(syncyte_store_t store, int64_t count, const int64_t* keys, int32_t* flags) {
  return lookup_after_init("store_adopt_last", [&] {
    const auto object = find_traced(tables::store(), store, "store");
    object->adopt_last({keys, count}, flags);
  });
}

syncyte_status_t syncyte_store_sync(syncyte_store_t store) {
  return after_init("store_sync", [&] {
    const auto object = find_traced(tables::store(), store, "store");
    object->sync();
  });
}

syncyte_status_t syncyte_store_worker_retain(syncyte_store_worker_t worker) {
  return guarded("store_worker_retain", [&] { tables::store_worker().retain(worker, "worker"); });
}

syncyte_status_t syncyte_store_worker_release(syncyte_store_worker_t worker) {
  return guarded("store_worker_release", [&] { tables::store_worker().release(worker, "worker"); });
}

syncyte_status_t syncyte_store_worker_destroy(syncyte_store_worker_t* worker) {
  return guarded("store_worker_destroy", [&] { tables::store_worker().destroy(worker, "worker"); });
}

syncyte_status_t syncyte_store_worker_drop_prefetches(syncyte_store_worker_t worker) {
  return after_init("store_worker_drop_prefetches", [&] {
    const auto object = find_traced(tables::store_worker(), worker, "worker");
    object->drop_prefetches();
  });
}

syncyte_status_t syncyte_store_worker_intent(syncyte_store_worker_t worker, const syncyte_buffer_t* keys, int64_t start,
    int64_t end) {
  return after_init("store_worker_intent", [&] {
    const auto object = find_traced(tables::store_worker(), worker, "worker");
    object->intent(keys, start, end);
  });
}

syncyte_status_t syncyte_store_worker_advance_clock(syncyte_store_worker_t worker, int64_t* clock) {
  return after_init("store_worker_advance_clock", [&] {
    const auto object = find_traced(tables::store_worker(), worker, "worker");
    const auto result = static_cast<int64_t>(object->advance_clock());
    if (clock != nullptr) *clock = result;
  });
}

syncyte_status_t syncyte_store_worker_clock(syncyte_store_worker_t worker, int64_t* clock) {
  return lookup_after_init("store_worker_clock", [&] {
    const auto object = find_traced(tables::store_worker(), worker, "worker");
    out(clock, "clock");
    *clock = static_cast<int64_t>(object->clock());
  });
}

syncyte_status_t syncyte_store_worker_prepare_sample(syncyte_store_worker_t worker, int64_t count, int64_t start,
    int64_t end, int64_t* sample) {
  return after_init("store_worker_prepare_sample", [&] {
    const auto object = find_traced(tables::store_worker(), worker, "worker");
    out(sample, "sample");
    *sample = static_cast<int64_t>(object->prepare_sample(count, start, end));
  });
}

syncyte_status_t syncyte_store_worker_finish_sample(syncyte_store_worker_t worker, int64_t sample) {
  return after_init("store_worker_finish_sample", [&] {
    const auto object = find_traced(tables::store_worker(), worker, "worker");
    object->finish_sample(sample);
  });
}

syncyte_status_t syncyte_store_worker_flush(syncyte_store_worker_t worker) {
  return after_init("store_worker_flush", [&] {
    const auto object = find_traced(tables::store_worker(), worker, "worker");
    object->flush();
  });
}

syncyte_status_t syncyte_store_worker_barrier(syncyte_store_worker_t worker) {
  return after_init("store_worker_barrier", [&] {
    const auto object = find_traced(tables::store_worker(), worker, "worker");
    object->barrier();
  });
}
}
