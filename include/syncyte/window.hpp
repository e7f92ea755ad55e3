// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file window.hpp One-sided access to memory of other ranks in C++; syncyte/window.h says when writes become visible.

#include "syncyte/base.hpp"
#include "syncyte/comm.hpp"
#include "syncyte/generated/methods.hpp"

namespace syncyte {

/// Options of a new window.
struct window_options {
  std::string name = {};                   ///< equal on all ranks; empty is a name of its own
  memory_kind memory = memory_kind::host;  ///< host
  std::string label = "";                  ///< name for messages, if not empty; ranks may differ
};

class window_lock;

/// Zeroed memory of every rank, which every rank reads, writes and combines with. Move-only. Offsets are in bytes. All
/// calls except the constructor and fence() are local.
class window : public detail::window_methods {
 public:
  window() = default;
  explicit window(syncyte_window_t raw) noexcept : detail::window_methods(raw) {}

  /// Collective; sizes may differ between ranks and may be 0.
  window(const communicator& comm, std::int64_t size, const window_options& options = {}) {
    const syncyte_window_options_t raw{sizeof(raw), detail::null_if_empty(options.name), detail::raw(options.memory), 0,
                                       detail::null_if_empty(options.label)};
    *this = window(detail::fetch<syncyte_window_t>(syncyte_window_create, comm.get(), size, &raw));
  }

  /// Another reference to the same window.
  window retain() const { return window(retained_handle()); }

  /// A rank's part as elements, if it lies on this node; valid while there is a reference to the window.
  template <element T>
  std::span<T> part(std::int32_t rank) const {
    return {static_cast<T*>(detail::fetch<void*>(syncyte_window_pointer, get(), rank)),
            static_cast<std::size_t>(size(rank)) / sizeof(T)};
  }

  using detail::window_methods::get;  // the handle

  /// Reads elements of a rank.
  void get(std::int32_t rank, std::int64_t offset, const buffer& target) const {
    check(syncyte_window_get(get(), rank, offset, target.get()));
  }

  /// Combines one element and returns its old value; atomic.
  template <element T>
  T fetch_op(std::int32_t rank, std::int64_t offset, T operand, op how = op::sum) const {
    return detail::fetch<T>(syncyte_window_fetch_op, get(), rank, offset, detail::raw(dtype_of<T>), &operand,
                            detail::raw(how));
  }

  /// Writes desired if the element equals expected, and returns its old value; atomic.
  template <element T>
  T compare_swap(std::int32_t rank, std::int64_t offset, T expected, T desired) const {
    return detail::fetch<T>(syncyte_window_compare_swap, get(), rank, offset, detail::raw(dtype_of<T>), &expected,
                            &desired);
  }

  /// Starts fetch_op(), as iput() does. `previous` gets the old element, and must stay until the end.
  template <element T>
  request ifetch_op(std::int32_t rank, std::int64_t offset, T operand, T& previous, op how = op::sum) const {
    return detail::started(syncyte_window_ifetch_op, get(), rank, offset, detail::raw(dtype_of<T>), &operand,
                           detail::raw(how), &previous);
  }

  /// Starts compare_swap(), as iput() does. `previous` gets the old element, and must stay until the end.
  template <element T>
  request icompare_swap(std::int32_t rank, std::int64_t offset, T expected, T desired, T& previous) const {
    return detail::started(syncyte_window_icompare_swap, get(), rank, offset, detail::raw(dtype_of<T>), &expected,
                           &desired, &previous);
  }

  /// Waits for a rank's lock, which is advisory; the result's unlock() or destructor releases it.
  window_lock lock(std::int32_t rank, lock_kind kind = lock_kind::exclusive) const;
};

/// A held lock of a window. Move-only.
class window_lock {
 public:
  window_lock(window held, std::int32_t rank) : window_(std::move(held)), rank_(rank) {}
  window_lock(window_lock&&) = default;
  window_lock& operator=(window_lock&& other) noexcept {
    std::swap(window_, other.window_);
    std::swap(rank_, other.rank_);
    return *this;
  }
  ~window_lock() {
    if (window_) static_cast<void>(syncyte_window_unlock(window_.get(), rank_));
  }

  /// Completes this rank's operations on the locked rank, and releases the lock.
  void unlock() {
    const window held = std::move(window_);
    check(syncyte_window_unlock(held.get(), rank_));
  }

 private:
  window window_;
  std::int32_t rank_;
};

inline window_lock window::lock(std::int32_t rank, lock_kind kind) const {
  window held = retain();
  check(syncyte_window_lock(get(), rank, detail::raw(kind)));
  return {std::move(held), rank};
}

}  // namespace syncyte
