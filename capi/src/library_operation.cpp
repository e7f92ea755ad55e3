#include "library_operation.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "mpi/process.hpp"
#include "requests.hpp"
#include "runtime/runtime.hpp"
#include "trace.hpp"

namespace syncyte::capi {
namespace {

/// Time that finalize gives operations after all ranks have entered it: before, an operation may depend on another
/// rank.
constexpr auto grace_period = std::chrono::seconds(5);

using operations = std::vector<std::shared_ptr<library_operation>>;

/// The operations whose requests exist: finalize ends them.
struct operation_list {
  std::mutex mutex;
  operations all;
};

operation_list& list() {
  static auto* const the_list = new operation_list;  // leaked: requests may outlive static objects
  return *the_list;
}

operations listed() {
  const std::lock_guard lock(list().mutex);
  return list().all;
}

void add(std::shared_ptr<library_operation> operation) {
  const std::lock_guard lock(list().mutex);
  list().all.push_back(std::move(operation));
}

void remove(const library_operation* operation) noexcept {
  std::shared_ptr<library_operation> last;  // freed without the lock
  const std::lock_guard lock(list().mutex);
  operations& all = list().all;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.get() == operation; });
  if (found == all.end()) return;
  last = std::exchange(*found, std::move(all.back()));
  all.pop_back();
}

thread_local bool is_polling = false;  // this thread is inside a poll callback

}  // namespace

syncyte_request_t library_operation::start(const request_callbacks& callbacks) {
  mpi::require_rank_process();
  runtime::call_before_end(end_all);
  const auto made = std::make_shared<library_operation>(callbacks);
  add(made);
  syncyte_request_t request = nullptr;
  try {
    request = make_request(poll_for_request, callbacks.wait != nullptr ? wait_for_request : nullptr, free_for_request,
                           made.get(), {});
  } catch (...) {
    remove(made.get());
    throw;
  }
  made->handle_ = request;
  try {
    mpi::enter_progress(made);
  } catch (...) {  // out of memory: then only waits for this request poll it
  }
  return request;
}

syncyte_status_t library_operation::poll_for_request(void* operation, std::int32_t* done) {
  auto& self = *static_cast<library_operation*>(operation);
  *done = self.test() ? 1 : 0;
  return *done != 0 ? self.status() : SYNCYTE_SUCCESS;
}

syncyte_status_t library_operation::wait_for_request(void* operation) {
  return static_cast<library_operation*>(operation)->wait();
}

void library_operation::free_for_request(void* operation) {
  auto* const self = static_cast<library_operation*>(operation);
  self->free_context();
  remove(self);
}

void library_operation::progress() {
  if (is_polling || has_ended()) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const traced_part outer_part = traced();
  thread_error outer_error = std::exchange(last_error(), {});
  poll();
  std::swap(last_error(), outer_error);
  traced() = outer_part;
}

bool library_operation::test() {
  if (has_ended()) return true;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) poll();
  return has_ended();
}

void library_operation::poll() {
  if (has_ended()) return;
  std::int32_t done = 0;
  const bool was_polling = std::exchange(is_polling, true);
  const syncyte_status_t status = callbacks_.poll(callbacks_.context, &done);
  is_polling = was_polling;
  if (done != 0 || status != SYNCYTE_SUCCESS) end(status);
}

syncyte_status_t library_operation::wait() {
  mpi::leave_progress(*this);  // the callback may call Syncyte and wait, which would poll this operation
  const std::lock_guard lock(mutex_);
  if (has_ended()) return status();
  const syncyte_status_t status = callbacks_.wait(callbacks_.context);
  if (status == SYNCYTE_ERR_INTERRUPTED)
    mpi::enter_progress(shared_from_this());
  else
    end(status);
  return status;
}

void library_operation::end(syncyte_status_t status) noexcept {
  status_ = status;
  try {
    if (status != SYNCYTE_SUCCESS) error_ = last_error();
  } catch (...) {  // out of memory: keeps the status without its message
  }
  has_ended_.store(true, std::memory_order_release);
  mpi::leave_progress(*this);
}

syncyte_status_t library_operation::status() const {
  if (status_ != SYNCYTE_SUCCESS) last_error() = error_;
  return status_;
}

void library_operation::free_context() {
  const std::lock_guard lock(mutex_);
  if (callbacks_.free != nullptr && !std::exchange(is_freed_, true)) callbacks_.free(callbacks_.context);
}

/// A step of finalize: true when all operations are complete, or finalize has given up waiting for the others.
bool library_operation::end_all(bool are_all_here) noexcept {
  using clock = std::chrono::steady_clock;
  static std::optional<clock::time_point> all_came;  // one finalize in a process
  operations active, ended;
  try {
    for (auto& each : listed()) (each->has_ended() ? ended : active).push_back(std::move(each));
    if (are_all_here && !all_came) all_came = clock::now();
    if (!active.empty() && !(all_came && clock::now() - *all_came > grace_period)) return false;
    std::vector<std::intptr_t> handles;
    for (const auto& each : active) {
      mpi::leave_progress(*each);
      handles.push_back(reinterpret_cast<std::intptr_t>(each->handle_.load()));
    }
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
