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

/// A non-blocking operation of a library on top of Syncyte. All waits of Syncyte poll it until it is complete; its
/// status and error message are kept for the thread that waits for it or tests it. One callback runs at a time.
class library_operation final : public mpi::progressing, public std::enable_shared_from_this<library_operation> {
 public:
  explicit library_operation(const request_callbacks& callbacks) : callbacks_(callbacks) {}

  /// Starts polling the operation; returns its request.
  static syncyte_request_t start(const request_callbacks& callbacks);

  /// Polls the operation during another operation's wait, and preserves this thread's trace and last error. Does
  /// nothing inside a poll callback: polls would nest, one level for each operation.
  void progress() override;

 private:
  static syncyte_status_t poll_for_request(void* operation, std::int32_t* done);
  static syncyte_status_t wait_for_request(void* operation);
  static void free_for_request(void* operation);
  static bool end_all(bool are_all_here) noexcept;

  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }

  /// Polls unless another thread does; returns whether the operation is complete.
  bool test();
  /// The caller holds mutex_.
  void poll();
  syncyte_status_t wait();
  /// Status of a complete operation; its error becomes this thread's last error.
  syncyte_status_t status() const;
  void end(syncyte_status_t status) noexcept;
  void free_context();

  request_callbacks callbacks_;
  std::mutex mutex_;  // held while a callback runs
  std::atomic<syncyte_request_t> handle_{nullptr};
  std::atomic<bool> has_ended_{false};
  bool is_freed_ = false;
  syncyte_status_t status_ = SYNCYTE_SUCCESS;  // like error_, constant once the operation is complete
  thread_error error_;
};

}  // namespace syncyte::capi
