#include <time.h>

#include <string>
#include <utility>

#include "base/errors.hpp"
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/entries.hpp"
#include "checkpoints/handles.hpp"
#include "checkpoints/saver.hpp"

namespace {

using namespace syncyte::hdf5;

// Local calls before syncyte_init() throw the same error as the rest of the C interface.
void require_initialised() {
  std::int32_t flag = 0;
  check(syncyte_initialized(&flag));
  require(flag != 0, SYNCYTE_ERR_NOT_INITIALISED, "checkpoint: call syncyte_init() first");
}

void require_output(const void* address, const char* name) {
  require(address != nullptr, SYNCYTE_ERR_ARGUMENT, "checkpoint: the output '{}' is null", name);
}

std::shared_ptr<checkpoint> opened(syncyte_checkpoint_t handle) {
  require_initialised();
  return lookup_handle(handle);
}

std::string key_of(const char* key) {
  require(key != nullptr, SYNCYTE_ERR_ARGUMENT, "checkpoint: key is null");
  return key;
}

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// The trace event of a call.
struct traced_call {
  const char* operation;
  std::string path{};
  syncyte_comm_t comm = nullptr;
  std::uint64_t bytes = 0;  // of this rank's tensors, once they have moved
  syncyte_dtype_t dtype = 0;
};

// Does the same as attempt() and traces the call; the body may fill in the event.
template <class Body>
syncyte_status_t traced(traced_call call, Body&& body) noexcept {
  const std::int64_t begin = now_ns();
  const syncyte_status_t status = attempt([&] { std::forward<Body>(body)(call); });
  syncyte_trace_event_t event{};
  event.struct_size = sizeof event;
  event.operation = call.operation;
  event.bytes = static_cast<std::int64_t>(call.bytes);
  event.begin_ns = begin;
  event.end_ns = now_ns();
  event.status = status;
  event.peer = -1;
  event.dtype = call.dtype;
  event.path = call.path.empty() ? nullptr : call.path.c_str();
  syncyte_trace_tell(call.comm, &event);
  return status;
}

std::string path_of(const char* path) { return path != nullptr ? path : ""; }

}  // namespace

extern "C" {

syncyte_status_t syncyte_checkpoint_save(syncyte_comm_t comm, const char* path, int64_t count,
                                         const syncyte_checkpoint_entry_t* entries,
                                         const syncyte_checkpoint_options_t* options) {
  return traced({"checkpoint_save", path_of(path), comm},
                [&](traced_call& call) { call.bytes = save(comm, path, count, entries, options); });
}

syncyte_status_t syncyte_checkpoint_open(syncyte_comm_t comm, const char* path,
                                         const syncyte_checkpoint_options_t* options,
                                         syncyte_checkpoint_t* checkpoint) {
  return traced({"checkpoint_open", path_of(path), comm}, [&](traced_call&) {
    auto result = open(comm, path, options, checkpoint != nullptr);
    *checkpoint = register_handle(std::move(result));
  });
}

syncyte_status_t syncyte_checkpoint_close(syncyte_checkpoint_t* checkpoint) {
  return attempt([&] {
    require(checkpoint != nullptr, SYNCYTE_ERR_ARGUMENT, "checkpoint: the address of the handle is null");
    if (*checkpoint == nullptr) return;
    forget_handle(*checkpoint);
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

syncyte_status_t syncyte_checkpoint_key(syncyte_checkpoint_t checkpoint, int64_t number, const char** key) {
  return attempt([&] {
    const auto from = opened(checkpoint);
    require_output(key, "key");
    const auto& datasets = from->contents().datasets;
    require(number >= 0 && number < static_cast<std::int64_t>(datasets.size()), SYNCYTE_ERR_INDEX,
            "number {} is outside the {} keys of '{}'", number, datasets.size(), from->path());
    *key = datasets[static_cast<std::size_t>(number)].key.c_str();
  });
}

syncyte_status_t syncyte_checkpoint_describe(syncyte_checkpoint_t checkpoint, const char* key, syncyte_buffer_t* global,
                                             syncyte_layout_t* layout) {
  return attempt([&] {
    const auto from = opened(checkpoint);
    require_output(global, "global");
    const dataset& found = from->find(key_of(key));
    check(syncyte_buffer_init(nullptr, found.dtype, static_cast<std::int32_t>(found.shape.size()), found.shape.data(),
                              global));
    if (layout != nullptr) *layout = found.layout;
  });
}

syncyte_status_t syncyte_checkpoint_read(syncyte_checkpoint_t checkpoint, const char* key, int64_t first_row,
                                         const syncyte_buffer_t* target) {
  return traced({"checkpoint_read"}, [&](traced_call& call) {
    const auto from = opened(checkpoint);
    call.path = from->path();
    const dataset& found = from->find(key_of(key));
    require(target != nullptr, SYNCYTE_ERR_ARGUMENT, "checkpoint: target is null");
    check_buffer(*target, "target");
    from->check_target(found, first_row, *target);
    const std::int64_t rows = target->ndim == 0 ? 1 : target->shape[0];
    from->read(found, first_row, rows, static_cast<std::byte*>(target->data));
    call.bytes = found.row_bytes() * static_cast<std::uint64_t>(rows);
    call.dtype = found.dtype;
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
  return traced({"checkpoint_load", path_of(path), comm},
                [&](traced_call& call) { call.bytes = load(comm, path, count, entries, options); });
}

}  // extern "C"
