#include "syncyte/kv.h"

#include <span>

#include "comm_table.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"
#include "kv/store.hpp"
#include "kv/worker.hpp"

namespace syncyte::capi {
namespace {

std::shared_ptr<kv::store> find_store(syncyte_kv_t kv) { return find_traced(tables::kv(), kv, "kv"); }

std::shared_ptr<kv::worker> find_worker(syncyte_kv_worker_t worker) {
  return find_traced(tables::kv_worker(), worker, "worker");
}

/// Options of a new store. An error in them, or in the output parameter, is stored, for the collective to report on all
/// ranks.
kv::store_options chosen_options(const syncyte_kv_options_t* given, const syncyte_kv_t* result) {
  kv::store_options options;
  options.error = error_of([&] {
    out(result, "kv");
    constexpr syncyte_kv_options_t defaults SYNCYTE_KV_OPTIONS_INIT;
    const auto chosen = options_or(given, defaults);
    options.name = chosen.name != nullptr ? chosen.name : "";
    options.workers = chosen.workers;
  });
  return options;
}

/// Sets a timestamp to "complete" (-1): a store of one node completes every operation at once.
void set_complete(std::int64_t* timestamp) {
  if (timestamp != nullptr) *timestamp = -1;
}

/// The caller's keys. Throws if they, or the array `room` of as many elements, are null.
std::span<const std::int64_t> key_list(std::int64_t count, const std::int64_t* keys, const void* room,
                                       const char* room_name) {
  base::expect(count >= 0, SYNCYTE_ERR_ARGUMENT, "count", count, "0 or more");
  if (count > 0 && (keys == nullptr || room == nullptr))
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = keys == nullptr ? "keys" : room_name,
                                        .value = "null",
                                        .expected = fmt::format("{} elements", count)});
  return {keys, static_cast<std::size_t>(count)};
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_kv_create(syncyte_comm_t comm, syncyte_dtype_t dtype, int64_t key_count, int64_t length_count,
                                   const int64_t* lengths, const syncyte_kv_options_t* options, syncyte_kv_t* kv) {
  return started("kv_create", [&] {
    *kv = tables::kv().insert(
        kv::store::create(find_comm(comm), dtype, key_count, length_count, lengths, chosen_options(options, kv)));
  });
}

syncyte_status_t syncyte_kv_keys(syncyte_kv_t kv, int64_t* key_count) {
  return looked_up("kv_keys", [&] { out(key_count, "key_count") = find_store(kv)->keys(); });
}

syncyte_status_t syncyte_kv_lengths(syncyte_kv_t kv, int64_t count, const int64_t* keys, int64_t* lengths) {
  return looked_up("kv_lengths", [&] {
    const auto found = find_store(kv);
    found->lengths(key_list(count, keys, lengths, "lengths"), lengths);
  });
}

syncyte_status_t syncyte_kv_owner(syncyte_kv_t kv, int64_t count, const int64_t* keys, int32_t* ranks) {
  return looked_up("kv_owner", [&] {
    const auto found = find_store(kv);
    found->owner(key_list(count, keys, ranks, "ranks"), ranks);
  });
}

syncyte_status_t syncyte_kv_set_sampling(syncyte_kv_t kv, const syncyte_kv_sampling_t* sampling) {
  return started("kv_set_sampling", [&] {
    const auto found = find_store(kv);
    constexpr syncyte_kv_sampling_t defaults SYNCYTE_KV_SAMPLING_INIT;
    found->set_sampling(options_or(sampling, defaults));
  });
}

syncyte_status_t syncyte_kv_sync(syncyte_kv_t kv) {
  return started("kv_sync", [&] { find_store(kv)->meet("kv_sync", kv::store::meeting::is_plain, std::nullopt); });
}

syncyte_status_t syncyte_kv_worker_create(syncyte_kv_t kv, int32_t number, syncyte_kv_worker_t* worker) {
  return started("kv_worker_create", [&] {
    out(worker, "worker");
    *worker = tables::kv_worker().insert(std::make_shared<kv::worker>(find_store(kv), number));
  });
}

syncyte_status_t syncyte_kv_worker_pull(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                        const syncyte_buffer_t* values, int64_t* timestamp) {
  return started<forks_too>("kv_worker_pull", [&] {
    find_worker(worker)->pull(keys, values);
    set_complete(timestamp);
    trace_buffer(values);
  });
}

syncyte_status_t syncyte_kv_worker_push(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                        const syncyte_buffer_t* values, int64_t* timestamp) {
  return started("kv_worker_push", [&] {
    find_worker(worker)->push(keys, values);
    set_complete(timestamp);
    trace_buffer(values);
  });
}

syncyte_status_t syncyte_kv_worker_set(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                       const syncyte_buffer_t* values, int64_t* timestamp) {
  return started("kv_worker_set", [&] {
    find_worker(worker)->set(keys, values);
    set_complete(timestamp);
    trace_buffer(values);
  });
}

syncyte_status_t syncyte_kv_worker_pull_if_local(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                                 const syncyte_buffer_t* values, int32_t* is_local) {
  return started<forks_too>("kv_worker_pull_if_local", [&] {
    out(is_local, "is_local");
    find_worker(worker)->pull(keys, values);
    *is_local = 1;
    trace_buffer(values);
  });
}

syncyte_status_t syncyte_kv_worker_localize(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                            int64_t* timestamp) {
  return started("kv_worker_localize", [&] {
    find_worker(worker)->localize(keys);
    set_complete(timestamp);
  });
}

syncyte_status_t syncyte_kv_worker_intent(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys, int64_t start,
                                          int64_t end) {
  return started("kv_worker_intent", [&] { find_worker(worker)->intent(keys, start, end); });
}

syncyte_status_t syncyte_kv_worker_advance_clock(syncyte_kv_worker_t worker, int64_t* clock) {
  return started("kv_worker_advance_clock", [&] {
    const std::int64_t now = find_worker(worker)->advance_clock();
    if (clock != nullptr) *clock = now;
  });
}

syncyte_status_t syncyte_kv_worker_clock(syncyte_kv_worker_t worker, int64_t* clock) {
  return looked_up("kv_worker_clock", [&] { out(clock, "clock") = find_worker(worker)->clock(); });
}

syncyte_status_t syncyte_kv_worker_prepare_sample(syncyte_kv_worker_t worker, int64_t count, int64_t start, int64_t end,
                                                  int64_t* sample) {
  return started("kv_worker_prepare_sample",
                 [&] { out(sample, "sample") = find_worker(worker)->prepare_sample(count, start, end); });
}

syncyte_status_t syncyte_kv_worker_pull_sample(syncyte_kv_worker_t worker, int64_t sample, const syncyte_buffer_t* keys,
                                               const syncyte_buffer_t* values, int64_t* timestamp) {
  return started("kv_worker_pull_sample", [&] {
    find_worker(worker)->pull_sample(sample, keys, values);
    set_complete(timestamp);
    trace_buffer(values);
  });
}

syncyte_status_t syncyte_kv_worker_finish_sample(syncyte_kv_worker_t worker, int64_t sample) {
  return started("kv_worker_finish_sample", [&] { find_worker(worker)->finish_sample(sample); });
}

syncyte_status_t syncyte_kv_worker_wait(syncyte_kv_worker_t worker, int64_t timestamp) {
  return started("kv_worker_wait", [&] {
    find_worker(worker);
    base::expect(timestamp == -1, SYNCYTE_ERR_ARGUMENT, "timestamp", timestamp,
                 "a timestamp that an operation returned, here -1");
  });
}

syncyte_status_t syncyte_kv_worker_wait_all(syncyte_kv_worker_t worker) {
  return started("kv_worker_wait_all", [&] { find_worker(worker); });
}

syncyte_status_t syncyte_kv_worker_wait_sync(syncyte_kv_worker_t worker) {
  return started("kv_worker_wait_sync", [&] { find_worker(worker); });
}

syncyte_status_t syncyte_kv_worker_barrier(syncyte_kv_worker_t worker) {
  return started("kv_worker_barrier",
                 [&] { find_worker(worker)->meet("kv_worker_barrier", kv::store::meeting::is_plain); });
}

syncyte_status_t syncyte_kv_worker_begin_setup(syncyte_kv_worker_t worker) {
  return started("kv_worker_begin_setup",
                 [&] { find_worker(worker)->meet("kv_worker_begin_setup", kv::store::meeting::begins_setup); });
}

syncyte_status_t syncyte_kv_worker_end_setup(syncyte_kv_worker_t worker) {
  return started("kv_worker_end_setup",
                 [&] { find_worker(worker)->meet("kv_worker_end_setup", kv::store::meeting::ends_setup); });
}

syncyte_status_t syncyte_kv_worker_describe(syncyte_kv_worker_t worker, syncyte_kv_worker_info_t* info) {
  return looked_up<callers::ranks>("kv_worker_describe", [&] {
    const auto found = find_worker(worker);
    base::expect(out(info, "info").struct_size == sizeof *info, SYNCYTE_ERR_ARGUMENT, "info->struct_size",
                 info->struct_size, "{} (the sizeof of the struct)", sizeof *info);
    *info = found->describe();
  });
}
}
