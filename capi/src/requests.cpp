// SPDX-License-Identifier: BSD-3-Clause
#include "requests.hpp"

#include <algorithm>
#include <optional>

#include "atomics/backoff.hpp"
#include "mpi/deaths.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::capi {

bool request::test() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  traced() = part_;
  if (lock.owns_lock()) poll();
  return has_ended();
}

syncyte_status_t request::wait() {
  const std::lock_guard lock(mutex_);
  traced() = part_;
  if (has_ended()) return status();
  const syncyte_status_t status = finish();
  if (status != SYNCYTE_ERR_INTERRUPTED) end(status);
  return status;
}

void request::poll() {
  if (has_ended()) return;
  if (const auto status = ask()) end(*status);
}

void request::end(syncyte_status_t status) noexcept {
  status_ = status;
  try {
    if (status != SYNCYTE_SUCCESS) error_ = last_error();
  } catch (...) {  // out of memory: keeps the status without its message
  }
  has_ended_.store(true, std::memory_order_release);
}

syncyte_status_t request::status() const {
  if (status_ != SYNCYTE_SUCCESS) last_error() = error_;
  return status_;
}

namespace {

syncyte_request_t& checked(syncyte_request_t* request) {
  base::expect(request != nullptr, SYNCYTE_ERR_ARGUMENT, "request", "null", "the address of a handle");
  return *request;
}

syncyte_request_t* checked(syncyte_request_t* array, std::int64_t count) {
  base::expect(count >= 0, SYNCYTE_ERR_ARGUMENT, "count", count, "0 or more");
  base::expect(array != nullptr || count == 0, SYNCYTE_ERR_ARGUMENT, "requests", "null", "{} handles", count);
  return array;
}

/// The right to call MPI while a request that needs it is tested or waited for. After the death of a rank no request
/// calls MPI. In a forked child all requests are refused: they would take messages of the rank.
class request_guard {
 public:
  request_guard(const request& active, const char* operation) : request_guard(active.needs_mpi(), operation) {}
  request_guard(bool needs_mpi, const char* operation) {
    mpi::require_rank_process();
    if (needs_mpi && !mpi::knows_death()) guard_.emplace(operation);
  }

 private:
  std::optional<mpi::thread_guard> guard_;
};

/// Frees a request that has ended, and nulls its handle.
void drop(request& ended, syncyte_request_t* handle) {
  ended.free_context();
  tables::request().destroy(handle, "request");
}

/// Whether a request has ended. After the death of a rank a request that needs MPI is waited for, which ends it with an
/// error at once.
bool ends(request& active) {
  if (mpi::knows_death() && active.needs_mpi()) return active.wait(), active.has_ended();
  return active.test();
}

/// Waits for a request and nulls the handle, unless the wait is interrupted.
syncyte_status_t wait_for(syncyte_request_t* handle) {
  const auto active = tables::request().find(*handle, "request");
  const request_guard guard(*active, "request_wait");
  const syncyte_status_t ended = active->wait();
  if (active->has_ended()) drop(*active, handle);
  return ended;
}

/// Waits for one of the requests of wait_all(); an error in the handle becomes the request's status.
syncyte_status_t wait_for_one(syncyte_request_t* handle) noexcept {
  traced() = {};
  syncyte_status_t ended = SYNCYTE_SUCCESS;
  const syncyte_status_t status = guarded("request_wait", [&] { ended = wait_for(handle); });
  return status != SYNCYTE_SUCCESS ? status : ended;
}

/// Combines requests that are waited for together into one trace entry: the sum of their bytes, and the peer, element
/// type and communicator if they are equal.
traced_part combined(const std::optional<traced_part>& sum, const traced_part& part) {
  if (!sum) return part;
  return {.bytes = sum->bytes + part.bytes,
          .peer = sum->peer == part.peer ? part.peer : traced_part().peer,
          .dtype = sum->dtype == part.dtype ? part.dtype : 0,
          .comm = sum->comm == part.comm ? part.comm : nullptr};
}

bool any_needs_mpi(std::int64_t count, const syncyte_request_t* array) {
  return std::any_of(array, array + count, [](syncyte_request_t handle) {
    return handle != nullptr && tables::request().find(handle, "requests")->needs_mpi();
  });
}

/// A wait for answers of ranks of other nodes.
class owners_wait final : public watchdog::long_wait {
 private:
  void examine(std::optional<watchdog::scope>& scope) override {
    if (!scope) scope.emplace("request_wait_any", "some requests", 0);
  }
};

/// Waits for one of several requests: nulls it, stores its status in `ended` and returns its index; -1 if all are null.
std::int64_t wait_for_any(std::int64_t count, syncyte_request_t* array, syncyte_status_t& ended) {
  std::int64_t found = -1;
  const auto find_ended = [&] {
    bool any = false;
    for (std::int64_t i = 0; i < count; ++i) {
      if (array[i] == nullptr) continue;
      any = true;
      const auto active = tables::request().find(array[i], "requests");
      if (!ends(*active)) continue;
      found = i;
      ended = active->status();
      drop(*active, &array[i]);
      return true;
    }
    return !any;
  };
  if (mpi::knows_death() && find_ended()) return found;
  if (any_needs_mpi(count, array)) {
    watchdog::plain_wait wait("request_wait_any", "some requests");
    try {
      watchdog::poll_until(find_ended, wait);
    } catch (const base::error&) {  // a death that the wait has found ends a request too
      if (!mpi::knows_death() || !find_ended()) throw;
    }
  } else {  // the fabric's thread makes progress on them; the death of a rank ends only the requests to that rank
    owners_wait wait;
    for (atomics::backoff pauses; !find_ended(); pauses.pause()) {
      if (mpi::needs_progress()) mpi::progress_all();
      wait.poll();
    }
  }
  return found;
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_request_test(syncyte_request_t* request, int32_t* done) {
  return completing("request_test", [&]() -> std::optional<syncyte_status_t> {
    std::int32_t& answer = out(done, "done");
    if (checked(request) == nullptr) {
      answer = 1;
      return std::nullopt;
    }
    const auto active = tables::request().find(*request, "request");
    const request_guard guard(*active, "request_test");
    answer = ends(*active);
    if (answer == 0) return std::nullopt;
    const syncyte_status_t ended = active->status();
    drop(*active, request);
    return ended;
  });
}

syncyte_status_t syncyte_request_wait(syncyte_request_t* request) {
  return completing("request_wait", [&]() -> std::optional<syncyte_status_t> {
    if (checked(request) == nullptr) return std::nullopt;
    return wait_for(request);
  });
}

syncyte_status_t syncyte_request_wait_all(int64_t count, syncyte_request_t* array) {
  return completing("request_wait_all", [&]() -> std::optional<syncyte_status_t> {
    checked(array, count);
    syncyte_status_t first = SYNCYTE_SUCCESS;
    std::optional<traced_part> sum;
    for (int64_t i = 0; i < count; ++i) {
      if (array[i] == nullptr) continue;
      const syncyte_status_t ended = wait_for_one(&array[i]);
      sum = combined(sum, traced());
      if (first == SYNCYTE_SUCCESS) first = ended;
      if (ended == SYNCYTE_ERR_INTERRUPTED && array[i] != nullptr) return ended;
    }
    if (!sum) return std::nullopt;
    traced() = *sum;
    return first;
  });
}

syncyte_status_t syncyte_request_wait_any(int64_t count, syncyte_request_t* array, int64_t* index) {
  return completing("request_wait_any", [&]() -> std::optional<syncyte_status_t> {
    checked(array, count);
    std::int64_t& answer = out(index, "index") = -1;
    const request_guard guard(any_needs_mpi(count, array), "request_wait_any");
    syncyte_status_t ended = SYNCYTE_SUCCESS;
    answer = wait_for_any(count, array, ended);
    if (answer < 0) return std::nullopt;
    return ended;
  });
}

syncyte_status_t syncyte_request_destroy(syncyte_request_t* request) {
  return guarded("request_destroy", [&] {
    if (checked(request) == nullptr) return;
    const auto active = tables::request().find(*request, "request");
    const request_guard guard(*active, "request_destroy");
    base::require(ends(*active), SYNCYTE_ERR_BUSY, "the operation is still active; wait for it first");
    drop(*active, request);
  });
}
}
