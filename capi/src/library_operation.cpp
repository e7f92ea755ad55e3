// SPDX-License-Identifier: BSD-3-Clause
#include "library_operation.hpp"

#include <fmt/ranges.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "requests.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::capi {
namespace {

/// Time that finalize gives operations after all ranks have entered it: before, an operation may depend on another
/// rank.
constexpr auto grace_period = std::chrono::seconds(5);

thread_local bool is_polling = false;  // this thread is inside a poll callback

/// Arguments of syncyte_request_create(); wait and free may be null.
struct request_callbacks {
  syncyte_request_poll_fn_t poll;
  syncyte_request_wait_fn_t wait;
  syncyte_request_free_fn_t free;
  void* context;
};

/// A non-blocking operation of a library on top of Syncyte. All waits of Syncyte poll it until it has ended. One
/// callback runs at a time.
class library_operation final : public request,
                                public mpi::progressing,
                                public std::enable_shared_from_this<library_operation> {
 public:
  explicit library_operation(const request_callbacks& callbacks) : request({}), callbacks_(callbacks) {}

  /// Polls the operation during another operation's wait, and preserves this thread's trace and last error. Does
  /// nothing inside a poll callback: polls would nest, one level for each operation.
  void progress() override {
    if (is_polling || has_ended()) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    const traced_part outer_part = traced();
    thread_error outer_error = std::exchange(last_error(), {});
    poll();
    std::swap(last_error(), outer_error);
    traced() = outer_part;
  }

  void free_context() override {
    const std::lock_guard lock(mutex_);
    if (callbacks_.free != nullptr && !std::exchange(is_freed_, true)) callbacks_.free(callbacks_.context);
  }

 private:
  std::optional<syncyte_status_t> ask() override {
    std::int32_t done = 0;
    const bool was_polling = std::exchange(is_polling, true);
    const syncyte_status_t status = callbacks_.poll(callbacks_.context, &done);
    is_polling = was_polling;
    if (done == 0 && status == SYNCYTE_SUCCESS) return std::nullopt;
    mpi::leave_progress(*this);
    return status;
  }

  syncyte_status_t finish() override {
    mpi::leave_progress(*this);  // waits inside this one would poll this operation
    const syncyte_status_t status = callbacks_.wait != nullptr ? callbacks_.wait(callbacks_.context) : poll_until_end();
    if (status == SYNCYTE_ERR_INTERRUPTED) mpi::enter_progress(shared_from_this());
    return status;
  }

  syncyte_status_t poll_until_end() {
    std::optional<syncyte_status_t> ended;
    watchdog::plain_wait wait("request_wait", "a request");
    const syncyte_status_t status =
        guarded("request_wait", [&] { watchdog::poll_until([&] { return (ended = ask()).has_value(); }, wait); });
    return ended.value_or(status);
  }

  request_callbacks callbacks_;
  bool is_freed_ = false;
};

/// Starts polling the operation; returns its request.
syncyte_request_t start_operation(const request_callbacks& callbacks) {
  mpi::require_rank_process();
  const auto operation = std::make_shared<library_operation>(callbacks);
  const syncyte_request_t request = tables::request().insert(operation);
  try {
    mpi::enter_progress(operation);
  } catch (...) {  // out of memory: then only waits for this request poll it
  }
  return request;
}

}  // namespace

bool end_library_operations(bool have_all_entered) noexcept {
  using clock = std::chrono::steady_clock;
  static std::optional<clock::time_point> all_entered;  // one finalize in a process
  std::vector<std::shared_ptr<library_operation>> active, ended;
  std::vector<std::intptr_t> handles;  // of active operations
  try {
    for (const auto& [number, object] : tables::request().all()) {
      auto operation = std::dynamic_pointer_cast<library_operation>(object);
      if (!operation) continue;
      if (!operation->has_ended()) handles.push_back(number);
      (operation->has_ended() ? ended : active).push_back(std::move(operation));
    }
    if (have_all_entered && !all_entered) all_entered = clock::now();
    if (!active.empty() && !(all_entered && clock::now() - *all_entered > grace_period)) return false;
    for (const auto& each : active) mpi::leave_progress(*each);
    if (!handles.empty())
      base::log(SYNCYTE_LOG_ERROR,
                "finalize: {} of syncyte_request_create with the handle{} {} {} not ended within {} s after all ranks "
                "entered finalize; left active, its context is not freed",
                handles.size() > 1 ? "requests" : "request", handles.size() > 1 ? "s" : "", fmt::join(handles, ", "),
                handles.size() > 1 ? "have" : "has", grace_period.count());
  } catch (...) {  // out of memory: finalize continues
  }
  for (const auto& each : ended) each->free_context();
  return true;
}

}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_request_create(syncyte_request_poll_fn_t poll, syncyte_request_wait_fn_t wait,
                                        syncyte_request_free_fn_t free, void* context, syncyte_request_t* request) {
  return guarded("request_create", [&] {
    base::expect(poll != nullptr, SYNCYTE_ERR_ARGUMENT, "poll", "null", "a function");
    out(request, "request") = start_operation({poll, wait, free, context});
  });
}
}
