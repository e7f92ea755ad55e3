#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "guard.hpp"
#include "mpi/progress.hpp"
#include "syncyte/base.h"

namespace syncyte::capi {

/// Arguments of syncyte_request_create(); wait and free may be null.
struct request_callbacks {
  syncyte_request_poll_fn_t poll;
  syncyte_request_wait_fn_t wait;
  syncyte_request_free_fn_t free;
  void* context;
};

/// An operation of a library on top of Syncyte. All waits of Syncyte poll it until it has ended; its status and its
/// error message are kept for the thread that asks for the end. One callback runs at a time.
class library_operation final : public mpi::progressing, public std::enable_shared_from_this<library_operation> {
 public:
  explicit library_operation(const request_callbacks& callbacks) : callbacks_(callbacks) {}

  /// A request for the operation, which is polled from now on.
  static syncyte_request_t start(const request_callbacks& callbacks);

  /// Polls on behalf of another operation of this thread, whose trace and last error stay as they are. Does nothing
  /// inside of another operation's poll: polls would nest, one deeper for each operation.
  void progress() override;

 private:
  static syncyte_status_t poll_for_request(void* operation, std::int32_t* done);
  static syncyte_status_t wait_for_request(void* operation);
  static void free_for_request(void* operation);
  static bool end_all(bool are_all_here) noexcept;

  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }

  /// Polls unless another thread does; whether the operation has ended.
  bool test();
  /// With mutex_ held.
  void poll();
  syncyte_status_t wait();
  /// Of an operation that has ended; its error becomes this thread's last one.
  syncyte_status_t status() const;
  void end(syncyte_status_t status) noexcept;
  void free_context();

  request_callbacks callbacks_;
  std::mutex mutex_;  // held while a callback runs
  std::atomic<syncyte_request_t> handle_{nullptr};
  std::atomic<bool> has_ended_{false};
  bool is_freed_ = false;
  syncyte_status_t status_ = SYNCYTE_SUCCESS;  // constant once the operation has ended, as is error_
  thread_error error_;
};

}  // namespace syncyte::capi
