#include "syncyte/kv.h"

#include <cstddef>

#include "guard.hpp"
#include "handle_tables.hpp"
#include "kv/store.hpp"
#include "kv/worker.hpp"

using namespace syncyte;
using namespace syncyte::capi;

namespace {

using operation = std::int64_t (kv::worker::*)(const syncyte_buffer_t*, const syncyte_buffer_t*, kv::completion);

/// A null timestamp: the operation is complete on return.
kv::completion completion_of(const int64_t* timestamp) {
  return timestamp == nullptr ? kv::completion::on_return : kv::completion::by_wait;
}

void run(operation what, syncyte_kv_worker_t worker, const syncyte_buffer_t* keys, const syncyte_buffer_t* values,
         int64_t* timestamp) {
  const auto found = find_traced(tables::kv_worker(), worker, "worker");
  trace_buffer(values);
  const std::int64_t result = ((*found).*what)(keys, values, completion_of(timestamp));
  if (timestamp != nullptr) *timestamp = result;
}

}  // namespace

extern "C" {

syncyte_status_t syncyte_kv_create(syncyte_comm_t comm, syncyte_dtype_t dtype, int64_t key_count, int64_t length_count,
                                   const int64_t* lengths, const syncyte_kv_options_t* options, syncyte_kv_t* kv) {
  return after_init("kv_create", [&] {
    kv::store_options chosen;
    chosen.error = error_of([&] {
      out(kv, "kv");
      const auto given =
          options_or(options, syncyte_kv_options_t SYNCYTE_KV_OPTIONS_INIT, offsetof(syncyte_kv_options_t, homes));
      chosen.name = text_or_empty(given.name);
      chosen.label = text_or_empty(given.label);
      chosen.workers = given.workers;
      chosen.homes = given.homes;
    });
    *kv = tables::kv().insert(
        kv::store::create(find_comm(comm), dtype, key_count, length_count, lengths, std::move(chosen)));
  });
}

syncyte_status_t syncyte_kv_set_sampling(syncyte_kv_t kv, const syncyte_kv_sampling_t* sampling) {
  return after_init("kv_set_sampling", [&] {
    const auto found = find_traced(tables::kv(), kv, "kv");
    found->set_sampling(options_or(sampling, syncyte_kv_sampling_t SYNCYTE_KV_SAMPLING_INIT));
  });
}

syncyte_status_t syncyte_kv_worker_create(syncyte_kv_t kv, int32_t number, syncyte_kv_worker_t* worker) {
  return after_init("kv_worker_create", [&] {
    out(worker, "worker");
    *worker = tables::kv_worker().insert(std::make_shared<kv::worker>(find_traced(tables::kv(), kv, "kv"), number));
  });
}

syncyte_status_t syncyte_kv_worker_pull(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                        const syncyte_buffer_t* values, int64_t* timestamp) {
  return after_init<forks_too>("kv_worker_pull", [&] { run(&kv::worker::pull, worker, keys, values, timestamp); });
}

syncyte_status_t syncyte_kv_worker_push(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                        const syncyte_buffer_t* values, int64_t* timestamp) {
  return after_init("kv_worker_push", [&] { run(&kv::worker::push, worker, keys, values, timestamp); });
}

syncyte_status_t syncyte_kv_worker_set(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                       const syncyte_buffer_t* values, int64_t* timestamp) {
  return after_init("kv_worker_set", [&] { run(&kv::worker::set, worker, keys, values, timestamp); });
}

syncyte_status_t syncyte_kv_worker_pull_sample(syncyte_kv_worker_t worker, int64_t sample, const syncyte_buffer_t* keys,
                                               const syncyte_buffer_t* values, int64_t* timestamp) {
  return after_init("kv_worker_pull_sample", [&] {
    const auto found = find_traced(tables::kv_worker(), worker, "worker");
    trace_buffer(values);
    const std::int64_t result = found->pull_sample(sample, keys, values, completion_of(timestamp));
    if (timestamp != nullptr) *timestamp = result;
  });
}

syncyte_status_t syncyte_kv_worker_pull_if_local(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                                 const syncyte_buffer_t* values, int32_t* is_local) {
  return after_init<forks_too>("kv_worker_pull_if_local", [&] {
    out(is_local, "is_local");
    *is_local = find_traced(tables::kv_worker(), worker, "worker")->pull_if_local(keys, values) ? 1 : 0;
    trace_buffer(values);
  });
}

/// Not in forked children: a test makes progress of the fabric, which is the rank's.
syncyte_status_t syncyte_kv_worker_test(syncyte_kv_worker_t worker, int64_t timestamp, int32_t* has_ended) {
  return lookup_after_init<callers::ranks>("kv_worker_test", [&] {
    out(has_ended, "has_ended") = find_traced(tables::kv_worker(), worker, "worker")->test(timestamp) ? 1 : 0;
  });
}

syncyte_status_t syncyte_kv_worker_describe(syncyte_kv_worker_t worker, syncyte_kv_worker_info_t* info) {
  return lookup_after_init<callers::ranks>("kv_worker_describe", [&] {
    const auto found = find_traced(tables::kv_worker(), worker, "worker");
    base::fill_struct(info, "info", found->describe());
  });
}
}
