// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/errors.hpp"
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/entries.hpp"

namespace {

using namespace syncyte::hdf5;

// Handles are numbers above all addresses of a process, so that a pointer is never a valid handle.
constexpr std::uintptr_t before_first_handle = std::uintptr_t{0x4844} << 48;

/// Handles of open checkpoints. They are never re-used, so that a closed handle is an error and not another file.
class handle_table {
 public:
  syncyte_checkpoint_t insert(std::shared_ptr<checkpoint> opened) {
    const std::lock_guard lock(mutex_);
    open_.emplace(++last_, std::move(opened));
    return reinterpret_cast<syncyte_checkpoint_t>(last_);
  }
  std::shared_ptr<checkpoint> find(syncyte_checkpoint_t handle) {
    const std::lock_guard lock(mutex_);
    return at(handle)->second;
  }
  void erase(syncyte_checkpoint_t handle) {
    const std::lock_guard lock(mutex_);
    open_.erase(at(handle));
  }

 private:
  std::unordered_map<std::uintptr_t, std::shared_ptr<checkpoint>>::iterator at(syncyte_checkpoint_t handle) {
    const auto found = open_.find(reinterpret_cast<std::uintptr_t>(handle));
    expect(found != open_.end(), SYNCYTE_ERR_HANDLE, "", "checkpoint", handle == nullptr ? "null" : "closed or foreign",
           "an open checkpoint");
    return found;
  }

  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<checkpoint>> open_;
  std::uintptr_t last_ = before_first_handle;
};

handle_table handles;

void require_output(const void* address, const char* name) {
  expect(address != nullptr, SYNCYTE_ERR_ARGUMENT, "", name, "null", "an address");
}

// Local calls before syncyte_init() throw the same error as the rest of the C interface.
std::shared_ptr<checkpoint> opened(syncyte_checkpoint_t handle) {
  require(syncyte::initialized(), SYNCYTE_ERR_NOT_INITIALIZED, "checkpoint: call syncyte_init() first");
  return handles.find(handle);
}

const dataset& find_dataset(const checkpoint& from, const char* key) {
  expect(key != nullptr, SYNCYTE_ERR_ARGUMENT, "", "key", "null", "a key of the checkpoint");
  return from.find(key);
}

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }  // CLOCK_MONOTONIC

// attempt(), which also traces the call; the body may fill in the event.
template <class Body>
syncyte_status_t traced(const char* operation, syncyte_comm_t comm, const char* path, Body&& body) noexcept {
  syncyte_trace_event_t event{};
  event.struct_size = sizeof event;
  event.operation = operation;
  event.begin_ns = now_ns();
  event.peer = -1;
  event.path = path;
  event.status = attempt([&] { std::forward<Body>(body)(event); });
  event.end_ns = now_ns();
  syncyte_trace_tell(comm, &event);
  return event.status;
}

}  // namespace

extern "C" {

syncyte_status_t syncyte_hdf5_version(int32_t* major, int32_t* minor, int32_t* patch, int32_t* abi) {
  if (major != nullptr) *major = SYNCYTE_VERSION_MAJOR;
  if (minor != nullptr) *minor = SYNCYTE_VERSION_MINOR;
  if (patch != nullptr) *patch = SYNCYTE_VERSION_PATCH;
  if (abi != nullptr) *abi = SYNCYTE_ABI_VERSION;
  return SYNCYTE_SUCCESS;
}

syncyte_status_t syncyte_checkpoint_save(syncyte_comm_t comm, const char* path, int64_t count,
                                         const syncyte_checkpoint_entry_t* entries,
                                         const syncyte_checkpoint_options_t* options) {
  return traced("checkpoint_save", comm, path,
                [&](syncyte_trace_event_t& event) { event.bytes = save(comm, path, count, entries, options); });
}

syncyte_status_t syncyte_checkpoint_open(syncyte_comm_t comm, const char* path,
                                         const syncyte_checkpoint_options_t* options,
                                         syncyte_checkpoint_t* checkpoint) {
  return traced("checkpoint_open", comm, path, [&](syncyte_trace_event_t&) {
    auto result = open(comm, path, options, checkpoint != nullptr);
    *checkpoint = handles.insert(std::move(result));
  });
}

syncyte_status_t syncyte_checkpoint_close(syncyte_checkpoint_t* checkpoint) {
  return attempt([&] {
    require_output(checkpoint, "checkpoint");
    if (*checkpoint == nullptr) return;
    handles.erase(*checkpoint);
    *checkpoint = nullptr;
  });
}

syncyte_status_t syncyte_checkpoint_count(syncyte_checkpoint_t checkpoint, int64_t* count, int64_t* step) {
  return attempt([&] {
    const auto from = opened(checkpoint);
    require_output(count, "count");
    *count = static_cast<std::int64_t>(from->contents().datasets.size());
    if (step != nullptr) *step = from->contents().step;
  });
}

syncyte_status_t syncyte_checkpoint_attributes(syncyte_checkpoint_t checkpoint, const char** attributes) {
  return attempt([&] {
    const auto from = opened(checkpoint);
    require_output(attributes, "attributes");
    *attributes = from->contents().attribute(manifest::of_caller);
  });
}

syncyte_status_t syncyte_checkpoint_key(syncyte_checkpoint_t checkpoint, int64_t number, const char** key) {
  return attempt([&] {
    const auto from = opened(checkpoint);
    require_output(key, "key");
    const auto& datasets = from->contents().datasets;
    const auto count = static_cast<std::int64_t>(datasets.size());
    expect(number >= 0 && number < count, SYNCYTE_ERR_INDEX, fmt::format("'{}'", from->path()), "number", number,
           "0 to {}", count - 1);
    *key = datasets[static_cast<std::size_t>(number)].key.c_str();
  });
}

syncyte_status_t syncyte_checkpoint_describe(syncyte_checkpoint_t checkpoint, const char* key, syncyte_buffer_t* global,
                                             syncyte_entry_kind_t* kind) {
  return attempt([&] {
    const auto from = opened(checkpoint);
    require_output(global, "global");
    const dataset& found = find_dataset(*from, key);
    syncyte::check(syncyte_buffer_set(nullptr, found.dtype, static_cast<std::int32_t>(found.shape.size()),
                                      found.shape.data(), global));
    if (kind != nullptr) *kind = found.kind;
  });
}

syncyte_status_t syncyte_checkpoint_read(syncyte_checkpoint_t checkpoint, const char* key, int64_t first_row,
                                         const syncyte_buffer_t* target) {
  std::shared_ptr<syncyte::hdf5::checkpoint> from;  // owns the event's path
  return traced("checkpoint_read", nullptr, nullptr, [&](syncyte_trace_event_t& event) {
    from = opened(checkpoint);
    event.path = from->path().c_str();
    const dataset& found = find_dataset(*from, key);
    const syncyte_buffer_t array = checked_buffer(target, "target", memory_use::write);
    from->check_target(found, first_row, array);
    const auto rows = static_cast<std::uint64_t>(array.ndim == 0 ? 1 : array.shape[0]);
    from->read(found, {array, found.row_bytes() * static_cast<std::uint64_t>(first_row), found.row_bytes() * rows});
    event.bytes = static_cast<std::int64_t>(found.row_bytes() * rows);
    event.dtype = found.dtype;
  });
}

syncyte_status_t syncyte_checkpoint_bytes_read(syncyte_checkpoint_t checkpoint, int64_t* bytes) {
  return attempt([&] {
    const auto from = opened(checkpoint);
    require_output(bytes, "bytes");
    *bytes = from->bytes_read();
  });
}

syncyte_status_t syncyte_checkpoint_load(syncyte_comm_t comm, const char* path, int64_t count,
                                         const syncyte_checkpoint_entry_t* entries,
                                         const syncyte_checkpoint_options_t* options) {
  return traced("checkpoint_load", comm, path,
                [&](syncyte_trace_event_t& event) { event.bytes = load(comm, path, count, entries, options); });
}

syncyte_status_t syncyte_checkpoint_save_bundle(syncyte_comm_t comm, const char* path, syncyte_bundle_t bundle,
                                                int64_t count, const syncyte_checkpoint_entry_t* entries,
                                                const syncyte_checkpoint_options_t* options) {
  return traced("checkpoint_save_bundle", comm, path, [&](syncyte_trace_event_t& event) {
    event.bytes = save_bundle(comm, path, bundle, count, entries, options);
  });
}

syncyte_status_t syncyte_checkpoint_load_bundle(syncyte_comm_t comm, const char* path, syncyte_bundle_t bundle,
                                                int64_t count, const syncyte_checkpoint_entry_t* entries,
                                                const syncyte_checkpoint_options_t* options) {
  return traced("checkpoint_load_bundle", comm, path, [&](syncyte_trace_event_t& event) {
    event.bytes = load_bundle(comm, path, bundle, count, entries, options);
  });
}

}  // extern "C"
