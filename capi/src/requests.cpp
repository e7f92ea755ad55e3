#include <mutex>
#include <optional>

#include "guard.hpp"
#include "handle_table.hpp"
#include "library_operation.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "requests.hpp"
#include "watchdog/long_wait.hpp"

namespace syncyte::capi {
namespace {

/// A non-blocking operation made of callbacks. Its status is read once, on completion.
class request {
 public:
  request(syncyte_request_poll_fn_t poll, syncyte_request_wait_fn_t waiter, syncyte_request_free_fn_t free,
          void* context, const traced_part& part)
      : poll_(poll), wait_(waiter), free_(free), context_(context), part_(part) {}

  ~request() {
    if (free_ != nullptr && is_done_) free_(context_);
  }

  /// Whether the operation is complete; false while another thread waits for it.
  bool test() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    traced() = part_;
    return lock.owns_lock() && test_locked();
  }

  /// May return or throw SYNCYTE_ERR_INTERRUPTED before it is done.
  syncyte_status_t wait() {
    const std::lock_guard lock(mutex_);
    traced() = part_;
    if (!is_done_ && wait_ != nullptr) {
      const syncyte_status_t status = wait_(context_);
      if (status == SYNCYTE_ERR_INTERRUPTED) return status;
      status_ = status;
      is_done_ = true;
    }
    watchdog::plain_wait wait("request_wait", "a request");
    poll_until([&] { return test_locked(); }, wait);
    return status_;
  }

  bool is_done() const { return is_done_; }

  syncyte_status_t status() const { return status_; }

 private:
  bool test_locked() {
    if (is_done_) return true;
    std::int32_t done = 0;
    const syncyte_status_t status = poll_(context_, &done);
    if (done == 0 && status == SYNCYTE_SUCCESS) return false;
    status_ = status;
    is_done_ = true;
    return true;
  }

  std::mutex mutex_;
  syncyte_request_poll_fn_t poll_;
  syncyte_request_wait_fn_t wait_;
  syncyte_request_free_fn_t free_;
  void* context_;
  traced_part part_;  // a receive from any source sets the sender itself, on completion
  bool is_done_ = false;
  syncyte_status_t status_ = SYNCYTE_SUCCESS;
};

using request_table = handle_table<syncyte_request_t, request>;

request_table& requests() {
  static auto* const the_table = new request_table("request");
  return *the_table;
}

syncyte_request_t& checked(syncyte_request_t* request) {
  base::expect(request != nullptr, SYNCYTE_ERR_ARGUMENT, "request", "null", "the address of a handle");
  return *request;
}

syncyte_request_t* checked(syncyte_request_t* array, std::int64_t count) {
  base::expect(count >= 0, SYNCYTE_ERR_ARGUMENT, "count", count, "0 or more");
  base::expect(array != nullptr || count == 0, SYNCYTE_ERR_ARGUMENT, "requests", "null", "{} handles", count);
  return array;
}

/// Waits for a request and nulls the handle, unless the wait is interrupted.
syncyte_status_t wait_for(syncyte_request_t* handle) {
  const auto active = requests().find(*handle, "request");
  const mpi::thread_guard guard("request_wait");
  const syncyte_status_t ended = active->wait();
  if (active->is_done()) requests().destroy(handle, "request");
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
class sum_of_parts {
 public:
  void add(const traced_part& part) {
    const std::size_t before = sum_ ? sum_->bytes : 0;
    if (!sum_) sum_ = part;
    sum_->bytes = before + part.bytes;
    if (sum_->peer != part.peer) sum_->peer = traced_part().peer;
    if (sum_->dtype != part.dtype) sum_->dtype = 0;
    if (sum_->comm != part.comm) sum_->comm = nullptr;
  }
  /// Empty before the first add().
  const std::optional<traced_part>& sum() const { return sum_; }

 private:
  std::optional<traced_part> sum_;
};

/// Waits for one of several requests: nulls it, stores its status in `ended` and returns its index; -1 if all are null.
std::int64_t wait_for_any(std::int64_t count, syncyte_request_t* array, syncyte_status_t& ended) {
  std::int64_t found = -1;
  const auto find_ended = [&] {
    bool any = false;
    for (std::int64_t i = 0; i < count; ++i) {
      if (array[i] == nullptr) continue;
      any = true;
      const auto active = requests().find(array[i], "requests");
      if (!active->test()) continue;
      found = i;
      ended = active->status();
      requests().destroy(&array[i], "requests");
      return true;
    }
    return !any;
  };
  watchdog::plain_wait wait("request_wait_any", "some requests");
  poll_until(find_ended, wait);
  return found;
}

}  // namespace

syncyte_request_t make_request(syncyte_request_poll_fn_t poll, syncyte_request_wait_fn_t wait,
                               syncyte_request_free_fn_t free, void* context, const traced_part& part) {
  return requests().insert(std::make_shared<request>(poll, wait, free, context, part));
}

}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_request_create(syncyte_request_poll_fn_t poll, syncyte_request_wait_fn_t wait,
                                        syncyte_request_free_fn_t free, void* context, syncyte_request_t* request) {
  return guarded("request_create", [&] {
    base::expect(poll != nullptr, SYNCYTE_ERR_ARGUMENT, "poll", "null", "a function");
    out(request, "request") = library_operation::start({poll, wait, free, context});
  });
}

syncyte_status_t syncyte_request_test(syncyte_request_t* request, int32_t* done) {
  return ending("request_test", [&]() -> std::optional<syncyte_status_t> {
    std::int32_t& answer = out(done, "done");
    if (checked(request) == nullptr) {
      answer = 1;
      return std::nullopt;
    }
    const auto active = requests().find(*request, "request");
    const mpi::thread_guard guard("request_test");
    answer = active->test();
    if (answer == 0) return std::nullopt;
    const syncyte_status_t ended = active->status();
    requests().destroy(request, "request");
    return ended;
  });
}

syncyte_status_t syncyte_request_wait(syncyte_request_t* request) {
  return ending("request_wait", [&]() -> std::optional<syncyte_status_t> {
    if (checked(request) == nullptr) return std::nullopt;
    return wait_for(request);
  });
}

syncyte_status_t syncyte_request_wait_all(int64_t count, syncyte_request_t* array) {
  return ending("request_wait_all", [&]() -> std::optional<syncyte_status_t> {
    checked(array, count);
    syncyte_status_t first = SYNCYTE_SUCCESS;
    sum_of_parts parts;
    for (int64_t i = 0; i < count; ++i) {
      if (array[i] == nullptr) continue;
      const syncyte_status_t ended = wait_for_one(&array[i]);
      parts.add(traced());
      if (first == SYNCYTE_SUCCESS) first = ended;
      if (ended == SYNCYTE_ERR_INTERRUPTED && array[i] != nullptr) return ended;
    }
    if (!parts.sum()) return std::nullopt;
    traced() = *parts.sum();
    return first;
  });
}

syncyte_status_t syncyte_request_wait_any(int64_t count, syncyte_request_t* array, int64_t* index) {
  return ending("request_wait_any", [&]() -> std::optional<syncyte_status_t> {
    checked(array, count);
    std::int64_t& answer = out(index, "index");
    const mpi::thread_guard guard("request_wait_any");
    syncyte_status_t ended = SYNCYTE_SUCCESS;
    answer = wait_for_any(count, array, ended);
    if (answer < 0) return std::nullopt;
    return ended;
  });
}

syncyte_status_t syncyte_request_destroy(syncyte_request_t* request) {
  return guarded("request_destroy", [&] {
    if (checked(request) == nullptr) return;
    const auto active = requests().find(*request, "request");
    const mpi::thread_guard guard("request_destroy");
    base::require(active->test(), SYNCYTE_ERR_BUSY,
                  "the operation is still active, and MPI cannot cancel; wait for it first");
    requests().destroy(request, "request");
  });
}
}
