// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "guard.hpp"
#include "handle_tables.hpp"

namespace syncyte::capi {

/// A non-blocking operation. One thread at a time tests it or waits for it. Its status and error message are kept for
/// the thread that gets them.
class request {
 public:
  /// Waits for the operation are traced with `part`.
  explicit request(const traced_part& part) : part_(part) {}
  virtual ~request() = default;
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  /// Whether the operation has ended; false while another thread waits for it.
  bool test();
  /// Waits for the operation and returns its status; SYNCYTE_ERR_INTERRUPTED if it has not ended.
  syncyte_status_t wait();

  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  /// Status of an operation that has ended; its error becomes this thread's last error.
  syncyte_status_t status() const;
  /// Frees the context of an operation that has ended, once.
  virtual void free_context() {}
  /// Whether test() and wait() call MPI for this operation.
  virtual bool needs_mpi() const { return true; }

 protected:
  /// Asks whether the operation has ended, and then keeps its status. The caller holds the mutex.
  void poll();

  std::mutex mutex_;  // held while a function of the operation runs

 private:
  /// The status if the operation has ended. Not called after the end.
  virtual std::optional<syncyte_status_t> ask() = 0;
  /// Waits for the end and returns the status; SYNCYTE_ERR_INTERRUPTED if the operation has not ended.
  virtual syncyte_status_t finish() = 0;
  void end(syncyte_status_t status) noexcept;

  traced_part part_;  // a receive from any source sets the sender itself, on completion
  std::atomic<bool> has_ended_{false};
  syncyte_status_t status_ = SYNCYTE_SUCCESS;  // like error_, constant once the operation has ended
  thread_error error_;
};

/// The request of an object with test() and wait(), which call MPI unless its needs_mpi is false.
template <class Pointer>
class request_of final : public request {
 public:
  request_of(Pointer operation, const char* name) : request(traced()), operation_(std::move(operation)), name_(name) {}

  bool needs_mpi() const override {
    if constexpr (requires { Pointer::element_type::needs_mpi; }) return Pointer::element_type::needs_mpi;
    return true;
  }

 private:
  std::optional<syncyte_status_t> ask() override {
    bool is_done = false;
    const syncyte_status_t status = guarded(name_, [&] { is_done = operation_->test(); });
    return is_done || status != SYNCYTE_SUCCESS ? std::optional(status) : std::nullopt;
  }
  syncyte_status_t finish() override {
    return guarded(name_, [&] { operation_->wait(); });
  }

  Pointer operation_;
  const char* name_;
};

namespace tables {
inline auto& request() { return table_of<syncyte_request_t, capi::request>("request"); }
}  // namespace tables

/// Makes a request of a unique_ptr or shared_ptr to an object with test() and wait(). `name` is a string literal for
/// messages. Waits are traced with the bytes and the peer of the operation in progress.
template <class Pointer>
void give_request(Pointer operation, const char* name, syncyte_request_t* request) {
  *request = tables::request().insert(std::make_shared<request_of<Pointer>>(std::move(operation), name));
}

}  // namespace syncyte::capi
