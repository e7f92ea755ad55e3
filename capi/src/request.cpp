#include <mutex>

#include "comm/mpi_turn.hpp"
#include "comm/progress.hpp"
#include "comm/watchdog.hpp"
#include "guard.hpp"
#include "handle_table.hpp"

namespace syncyte::capi {
namespace {

/// A started operation made of callbacks. Its status is asked once, when it ends.
class request {
 public:
  request(syncyte_request_poll_fn_t poll, syncyte_request_wait_fn_t waiter, syncyte_request_free_fn_t free,
          void* context)
      : poll_(poll), wait_(waiter), free_(free), context_(context) {}

  ~request() {
    if (free_ != nullptr && is_done_) free_(context_);
  }

  /// False, too, while another thread waits for it.
  bool test() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock.owns_lock() && test_locked();
  }

  syncyte_status_t wait() {
    const std::lock_guard lock(mutex_);
    if (!is_done_ && wait_ != nullptr) {
      status_ = wait_(context_);
      is_done_ = true;
    }
    if (test_locked()) return status_;
    const comm::watchdog_scope watched("request_wait", "a request", 0);
    comm::poll_until([&] { return test_locked(); });
    return status_;
  }

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
  bool is_done_ = false;
  syncyte_status_t status_ = SYNCYTE_SUCCESS;
};

using request_table = handle_table<syncyte_request_t, request>;

request_table& requests() {
  static auto* const the_table = new request_table("request");
  return *the_table;
}

syncyte_request_t& checked(syncyte_request_t* request) {
  base::require(request != nullptr, SYNCYTE_ERR_ARGUMENT, "request is null; expected the address of a handle");
  return *request;
}

syncyte_request_t* checked(syncyte_request_t* array, std::int64_t count) {
  base::require(count >= 0, SYNCYTE_ERR_ARGUMENT, "count is {}; expected 0 or more", count);
  base::require(array != nullptr || count == 0, SYNCYTE_ERR_ARGUMENT, "requests is null; expected {} handles", count);
  return array;
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using capi::checked;
using capi::guarded;
using capi::out;
using capi::requests;

extern "C" {

syncyte_status_t syncyte_request_create(syncyte_request_poll_fn_t poll, syncyte_request_wait_fn_t wait,
                                        syncyte_request_free_fn_t free, void* context, syncyte_request_t* request) {
  return guarded("request_create", [&] {
    base::require(poll != nullptr, SYNCYTE_ERR_ARGUMENT, "poll is null; expected a function");
    out(request, "request") = requests().insert(std::make_shared<capi::request>(poll, wait, free, context));
  });
}

syncyte_status_t syncyte_request_test(syncyte_request_t* request, int32_t* done) {
  syncyte_status_t ended = SYNCYTE_SUCCESS;
  const syncyte_status_t status = guarded("request_test", [&] {
    std::int32_t& answer = out(done, "done");
    if (checked(request) == nullptr) {
      answer = 1;
      return;
    }
    const auto active = requests().find(*request, "request");
    const comm::mpi_turn turn("request_test");
    answer = active->test();
    if (answer == 0) return;
    ended = active->status();
    requests().destroy(request, "request");
  });
  return status != SYNCYTE_SUCCESS ? status : ended;
}

syncyte_status_t syncyte_request_wait(syncyte_request_t* request) {
  syncyte_status_t ended = SYNCYTE_SUCCESS;
  const syncyte_status_t status = guarded("request_wait", [&] {
    if (checked(request) == nullptr) return;
    const auto active = requests().find(*request, "request");
    const comm::mpi_turn turn("request_wait");
    ended = active->wait();
    requests().destroy(request, "request");
  });
  return status != SYNCYTE_SUCCESS ? status : ended;
}

syncyte_status_t syncyte_request_wait_all(int64_t count, syncyte_request_t* array) {
  syncyte_status_t first = SYNCYTE_SUCCESS;
  const syncyte_status_t status = guarded("request_wait_all", [&] {
    checked(array, count);
    for (int64_t i = 0; i < count; ++i) {
      const syncyte_status_t ended = syncyte_request_wait(&array[i]);
      if (first == SYNCYTE_SUCCESS) first = ended;
    }
  });
  return status != SYNCYTE_SUCCESS ? status : first;
}

syncyte_status_t syncyte_request_wait_any(int64_t count, syncyte_request_t* array, int64_t* index) {
  syncyte_status_t ended = SYNCYTE_SUCCESS;
  const syncyte_status_t status = guarded("request_wait_any", [&] {
    checked(array, count);
    std::int64_t& answer = out(index, "index");
    const comm::mpi_turn turn("request_wait_any");
    const comm::watchdog_scope watched("request_wait_any", "some requests", 0);
    std::int64_t found = -1;
    comm::poll_until([&] {
      bool any = false;
      for (int64_t i = 0; i < count; ++i) {
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
    });
    answer = found;
  });
  return status != SYNCYTE_SUCCESS ? status : ended;
}

syncyte_status_t syncyte_request_destroy(syncyte_request_t* request) {
  return guarded("request_destroy", [&] {
    if (checked(request) == nullptr) return;
    const auto active = requests().find(*request, "request");
    const comm::mpi_turn turn("request_destroy");
    base::require(active->test(), SYNCYTE_ERR_BUSY,
                  "the operation is still active, and MPI cannot cancel; wait for it first");
    requests().destroy(request, "request");
  });
}
}
