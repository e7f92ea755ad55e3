// SPDX-License-Identifier: BSD-3-Clause
#include "trace.hpp"

#include <pthread.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/dtype.hpp"
#include "base/environment.hpp"
#include "base/first_size.hpp"
#include "base/log.hpp"
#include "mpi/process.hpp"
#include "trace_file.hpp"

namespace syncyte::capi {
namespace {

std::atomic<const operation_counter*> the_newest{nullptr};

/// The trace hook and its context, which are replaced together.
struct listener {
  syncyte_trace_fn_t hook = nullptr;
  void* context = nullptr;
};
std::timed_mutex the_listeners_mutex;
listener the_hook;
std::unique_ptr<trace_file> the_file;

thread_local traced_part the_part;

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }  // CLOCK_MONOTONIC

void notify_listeners(const syncyte_trace_event_t& event) {
  std::unique_lock lock(the_listeners_mutex);
  if (the_file) the_file->write(event);
  const listener hook = the_hook;
  lock.unlock();
  if (hook.hook != nullptr) hook.hook(&event, hook.context);
}

/// Called in a forked child: the trace file is its parent's, and the child must not write to it or close it at exit.
void forget_file_in_child() {
  static_cast<void>(the_file.release());  // leaked
  is_traced = the_hook.hook != nullptr;
  the_listeners_mutex.unlock();
}

/// The counter of an operation of a library on top.
operation_counter& counter_of(const char* operation) {
  static auto* const the_mutex = new std::mutex;
  static auto* const the_counters = new std::map<const char*, operation_counter>;
  const std::lock_guard lock(*the_mutex);
  const char* const name = kept(operation);
  return the_counters->try_emplace(name, name).first->second;
}

template <class Change>
void change_listeners(Change&& change) {
  const std::lock_guard lock(the_listeners_mutex);
  change();
  is_traced = the_hook.hook != nullptr || the_file != nullptr;
}

}  // namespace

std::atomic<bool> is_traced{false};

operation_counter::operation_counter(const char* operation) : operation_(operation), next_(the_newest.load()) {
  while (!the_newest.compare_exchange_weak(next_, this)) {
  }
}

const operation_counter* operation_counter::newest() { return the_newest; }

void operation_counter::add(std::size_t bytes, syncyte_status_t status, std::int64_t nanoseconds) {
  calls_.fetch_add(1, std::memory_order_relaxed);
  if (bytes != 0) bytes_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  if (status != SYNCYTE_SUCCESS) errors_.fetch_add(1, std::memory_order_relaxed);
  if (nanoseconds != 0) nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed);
}

syncyte_operation_stats_t operation_counter::read() const {
  return {sizeof(syncyte_operation_stats_t), operation_, calls_, errors_, bytes_, nanoseconds_};
}

call_scope::call_scope()
    : outer_(std::exchange(the_part, {})), begin_ns_(is_traced.load(std::memory_order_relaxed) ? now_ns() : 0) {}

void call_scope::end(operation_counter& counter, syncyte_status_t status) noexcept try {
  const std::int64_t end_ns = begin_ns_ != 0 ? now_ns() : 0;
  const traced_part part = the_part;
  counter.add(part.bytes, status, end_ns - begin_ns_);
  if (begin_ns_ == 0) return;
  notify_listeners({.struct_size = sizeof(syncyte_trace_event_t),
                    .operation = counter.operation(),
                    .bytes = static_cast<std::int64_t>(part.bytes),
                    .begin_ns = begin_ns_,
                    .end_ns = end_ns,
                    .status = status,
                    .peer = part.peer,
                    .dtype = part.dtype,
                    .reserved = 0,
                    .comm = part.comm,
                    .path = nullptr});
} catch (...) {  // an operation does not fail because its trace cannot be written
}

traced_part& traced() { return the_part; }
void trace_bytes(std::size_t bytes, syncyte_dtype_t dtype) {
  the_part.bytes = bytes;
  the_part.dtype = dtype;
}
void trace_peer(std::int32_t rank) { the_part.peer = rank < 0 ? traced_part().peer : rank; }

void trace_buffer(const syncyte_buffer_t* buffer) noexcept try {
  if (buffer == nullptr || buffer->struct_size < base::first_size<syncyte_buffer_t> || buffer->ndim < 0 ||
      buffer->ndim > SYNCYTE_MAX_NDIM)
    return;
  auto bytes = static_cast<std::int64_t>(base::dtype_size(buffer->dtype));
  for (int d = 0; d < buffer->ndim; ++d)
    if (buffer->shape[d] < 0 || __builtin_mul_overflow(bytes, buffer->shape[d], &bytes)) return;
  trace_bytes(static_cast<std::size_t>(bytes), buffer->dtype);
} catch (...) {
}

void record_call(const syncyte_trace_event_t& event) {
  const bool has_listeners = is_traced.load(std::memory_order_relaxed);
  counter_of(event.operation)
      .add(static_cast<std::size_t>(event.bytes), event.status, has_listeners ? event.end_ns - event.begin_ns : 0);
  if (has_listeners) notify_listeners(event);
}

void set_trace_hook(syncyte_trace_fn_t hook, void* context) {
  change_listeners([&] { the_hook = {hook, context}; });
}

const char* kept(const std::string& name) {
  static auto* const the_mutex = new std::mutex;
  static auto* const the_names = new std::unordered_set<std::string>;
  const std::lock_guard lock(*the_mutex);
  return the_names->insert(name).first->c_str();
}

void open_trace_file() {
  const auto folder = base::environment(base::settings::trace);
  if (!folder) return;
  static const int registered =
      ::pthread_atfork([] { the_listeners_mutex.lock(); }, [] { the_listeners_mutex.unlock(); }, forget_file_in_child);
  base::require(registered == 0, SYNCYTE_ERR_MEMORY, "pthread_atfork has no memory for another handler");
  change_listeners([&] {
    if (!the_file) the_file = std::make_unique<trace_file>(*folder, base::process_rank());
    mpi::call_before_abort(flush_trace_file);
  });
}

void close_trace_file() noexcept {
  change_listeners([] { the_file.reset(); });
}

void flush_trace_file() noexcept {
  const std::unique_lock lock(the_listeners_mutex, std::chrono::seconds(1));
  if (lock.owns_lock() && the_file) the_file->flush();
}

}  // namespace syncyte::capi
