#include "guard.hpp"

#include <time.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/log.hpp"
#include "comm/collective.hpp"
#include "comm/runtime.hpp"
#include "handle_table.hpp"

namespace syncyte::capi {
namespace {

struct thread_error {
  std::string message;
  std::string reason;
};

thread_error& last_error() {
  thread_local thread_error the_error;
  return the_error;
}

std::string located(const char* operation, const std::string& reason) {
  const int rank = base::process_rank();
  return rank < 0 ? fmt::format("{} failed: {}", operation, reason)
                  : fmt::format("{} failed on rank {}: {}", operation, rank, reason);
}

std::atomic<syncyte_trace_fn_t> the_hook{nullptr};
std::atomic<void*> the_hook_context{nullptr};
thread_local std::size_t the_trace_bytes = 0;

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

syncyte_status_t keep_current_error(const char* operation) noexcept {
  try {
    throw;
  } catch (const comm::agreed_error& agreed) {  // names the ranks itself
    last_error() = {agreed.what(), agreed.what()};
    return agreed.status();
  } catch (...) {
    const base::error error = base::current_error();
    last_error() = {located(operation, error.what()), error.what()};
    base::log(SYNCYTE_LOG_DEBUG, "{}", last_error().message);
    return error.status();
  }
}

const std::string& last_error_reason() { return last_error().reason; }

void require_started() { comm::require_started(); }

trace_scope::trace_scope(const char* operation)
    : operation_(operation), begin_ns_(the_hook.load(std::memory_order_acquire) == nullptr ? 0 : now_ns()) {
  if (begin_ns_ != 0) the_trace_bytes = 0;
}

void trace_scope::end(syncyte_status_t status) noexcept {
  const syncyte_trace_fn_t hook = the_hook.load(std::memory_order_acquire);
  if (begin_ns_ == 0 || hook == nullptr) return;
  const syncyte_trace_event_t event{sizeof event, operation_, static_cast<std::int64_t>(the_trace_bytes),
                                    begin_ns_,    now_ns(),   status};
  hook(&event, the_hook_context);
}

void trace_bytes(std::size_t bytes) { the_trace_bytes = bytes; }

}  // namespace syncyte::capi

using namespace syncyte;

extern "C" {

const char* syncyte_last_error(void) { return capi::last_error().message.c_str(); }

syncyte_status_t syncyte_error_set(syncyte_status_t status, const char* message) {
  const std::string reason = message != nullptr ? message : "";
  const int rank = base::process_rank();
  capi::last_error() = {rank < 0 ? reason : fmt::format("rank {}: {}", rank, reason), reason};
  return status;
}

syncyte_status_t syncyte_trace_set(syncyte_trace_fn_t hook, void* context) {
  capi::the_hook_context = context;
  capi::the_hook.store(hook, std::memory_order_release);
  return SYNCYTE_SUCCESS;
}
}
