// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/store.h"

#include <cstddef>

#include "guard.hpp"
#include "handle_tables.hpp"
#include "kv/store.hpp"
#include "kv/worker.hpp"
#include "requests.hpp"

using namespace syncyte;
using namespace syncyte::capi;

namespace {

using kv::completion;
void run(const kv::operation& what, syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
         const syncyte_buffer_t* values) {
  const auto found = find_traced(tables::store_worker(), worker, "worker");
  trace_buffer(values);
  found->run(what, keys, values, completion::on_return);
}

/// A null request: the operation is complete.
void give(kv::worker::started in_flight, const char* name, syncyte_request_t* request) {
  *request = nullptr;
  if (in_flight) give_request(std::move(in_flight), name, request);
}

syncyte_status_t start(const char* name, const kv::operation& what, syncyte_store_worker_t worker,
                       const syncyte_buffer_t* keys, const syncyte_buffer_t* values, syncyte_request_t* request) {
  return after_init(name, [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    out(request, "request");
    trace_buffer(values);
    give(found->run(what, keys, values, completion::by_request), name, request);
  });
}

}  // namespace

extern "C" {

syncyte_status_t syncyte_store_create(syncyte_comm_t comm, syncyte_dtype_t dtype, int64_t num_keys,
                                      int64_t lengths_length, const int64_t* lengths,
                                      const syncyte_store_options_t* options, syncyte_store_t* store) {
  return after_init("store_create", [&] {
    kv::store_options chosen;
    chosen.error = error_of([&] {
      out(store, "store");
      const auto given = options_or(options, syncyte_store_options_t SYNCYTE_STORE_OPTIONS_INIT);
      chosen.name = text_or_empty(given.name);
      chosen.label = text_or_empty(given.label);
      chosen.workers = given.workers;
      chosen.homes = given.homes;
      chosen.foreign_bytes = given.foreign_bytes;
      chosen.intents = given.intents;
    });
    *store =
        tables::store().insert(kv::store::create(find_comm(comm), dtype, num_keys, lengths_length, lengths, chosen));
  });
}

syncyte_status_t syncyte_store_set_sampling(syncyte_store_t store, const syncyte_store_sampling_t* options) {
  return after_init("store_set_sampling", [&] {
    const auto found = find_traced(tables::store(), store, "store");
    found->set_sampling(options_or(options, syncyte_store_sampling_t SYNCYTE_STORE_SAMPLING_INIT));
  });
}

syncyte_status_t syncyte_store_worker_create(syncyte_store_t store, int32_t number, syncyte_store_worker_t* worker) {
  return after_init("store_worker_create", [&] {
    out(worker, "worker");
    *worker = tables::store_worker().insert(
        std::make_shared<kv::worker>(find_traced(tables::store(), store, "store"), number));
  });
}

syncyte_status_t syncyte_store_worker_pull(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                           const syncyte_buffer_t* values) {
  return after_init<forks_too>("store_worker_pull", [&] { run(kv::pull, worker, keys, values); });
}

syncyte_status_t syncyte_store_worker_push(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                           const syncyte_buffer_t* values) {
  return after_init("store_worker_push", [&] { run(kv::push, worker, keys, values); });
}

syncyte_status_t syncyte_store_worker_set(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                          const syncyte_buffer_t* values) {
  return after_init("store_worker_set", [&] { run(kv::set, worker, keys, values); });
}

syncyte_status_t syncyte_store_worker_pull_unique(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                  const syncyte_buffer_t* distinct, const syncyte_buffer_t* inverse,
                                                  const syncyte_buffer_t* values, int64_t* count) {
  return after_init("store_worker_pull_unique", [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    out(count, "count");
    trace_buffer(values);
    found->pull_unique(keys, distinct, inverse, values, *count, completion::on_return);
  });
}

syncyte_status_t syncyte_store_worker_ipull_unique(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                   const syncyte_buffer_t* distinct, const syncyte_buffer_t* inverse,
                                                   const syncyte_buffer_t* values, int64_t* count,
                                                   syncyte_request_t* request) {
  return after_init("store_worker_ipull_unique", [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    out(count, "count");
    out(request, "request");
    trace_buffer(values);
    give(found->pull_unique(keys, distinct, inverse, values, *count, completion::by_request),
         "store_worker_ipull_unique", request);
  });
}

syncyte_status_t syncyte_store_worker_push_unique(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                  const syncyte_buffer_t* values) {
  return after_init("store_worker_push_unique", [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    trace_buffer(values);
    found->push_unique(keys, values, completion::on_return);
  });
}

syncyte_status_t syncyte_store_worker_ipush_unique(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                   const syncyte_buffer_t* values, syncyte_request_t* request) {
  return after_init("store_worker_ipush_unique", [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    out(request, "request");
    trace_buffer(values);
    give(found->push_unique(keys, values, completion::by_request), "store_worker_ipush_unique", request);
  });
}

syncyte_status_t syncyte_store_worker_prefetch(syncyte_store_worker_t worker, const syncyte_buffer_t* keys) {
  return after_init("store_worker_prefetch",
                    [&] { find_traced(tables::store_worker(), worker, "worker")->prefetch(keys); });
}

syncyte_status_t syncyte_store_worker_localize(syncyte_store_worker_t worker, const syncyte_buffer_t* keys) {
  return after_init("store_worker_localize",
                    [&] { find_traced(tables::store_worker(), worker, "worker")->localize(keys); });
}

syncyte_status_t syncyte_store_worker_ilocalize(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                syncyte_request_t* request) {
  return after_init("store_worker_ilocalize", [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    out(request, "request");
    give(found->localize(keys, completion::by_request), "store_worker_ilocalize", request);
  });
}

syncyte_status_t syncyte_store_worker_ipull(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                            const syncyte_buffer_t* values, syncyte_request_t* request) {
  return start("store_worker_ipull", kv::pull, worker, keys, values, request);
}

syncyte_status_t syncyte_store_worker_ipush(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                            const syncyte_buffer_t* values, syncyte_request_t* request) {
  return start("store_worker_ipush", kv::push, worker, keys, values, request);
}

syncyte_status_t syncyte_store_worker_iset(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                           const syncyte_buffer_t* values, syncyte_request_t* request) {
  return start("store_worker_iset", kv::set, worker, keys, values, request);
}

syncyte_status_t syncyte_store_worker_pull_sample(syncyte_store_worker_t worker, int64_t sample,
                                                  const syncyte_buffer_t* keys, const syncyte_buffer_t* values) {
  return after_init("store_worker_pull_sample", [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    trace_buffer(values);
    found->pull_sample(sample, keys, values, completion::on_return);
  });
}

syncyte_status_t syncyte_store_worker_ipull_sample(syncyte_store_worker_t worker, int64_t sample,
                                                   const syncyte_buffer_t* keys, const syncyte_buffer_t* values,
                                                   syncyte_request_t* request) {
  return after_init("store_worker_ipull_sample", [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    out(request, "request");
    trace_buffer(values);
    give(found->pull_sample(sample, keys, values, completion::by_request), "store_worker_ipull_sample", request);
  });
}

syncyte_status_t syncyte_store_worker_pull_if_local(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                    const syncyte_buffer_t* values, int32_t* is_local) {
  return after_init<forks_too>("store_worker_pull_if_local", [&] {
    out(is_local, "is_local");
    *is_local = find_traced(tables::store_worker(), worker, "worker")->pull_if_local(keys, values) ? 1 : 0;
    trace_buffer(values);
  });
}

syncyte_status_t syncyte_store_worker_describe(syncyte_store_worker_t worker, syncyte_store_worker_info_t* info) {
  return lookup_after_init<callers::ranks>("store_worker_describe", [&] {
    const auto found = find_traced(tables::store_worker(), worker, "worker");
    base::fill_struct(info, "info", found->describe());
  });
}
}
