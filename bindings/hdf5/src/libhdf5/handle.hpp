// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <mutex>
#include <utility>

#include "base/errors.hpp"

namespace syncyte::hdf5 {

/// Locks libhdf5, which is not thread-safe in Debian's build, and turns off its error printing. Hold it during every
/// use.
class hdf5_lock {
 public:
  hdf5_lock();
  ~hdf5_lock();
  hdf5_lock(const hdf5_lock&) = delete;
  hdf5_lock& operator=(const hdf5_lock&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_context_ = nullptr;
};

/// The innermost message of libhdf5's error stack.
std::string hdf5_reason();

/// Returns the value; throws if it is negative, which is libhdf5's error.
template <class Value>
Value hdf5_check(Value value, const char* what) {
  if (value < 0) fail(SYNCYTE_ERR_INTERNAL, "checkpoint: {} failed: {}", what, hdf5_reason());
  return value;
}

/// Owns an identifier of libhdf5.
class hdf5_handle {
 public:
  using close_function = herr_t (*)(hid_t);

  hdf5_handle() = default;
  hdf5_handle(hid_t id, close_function closer, const char* what) : id_(hdf5_check(id, what)), close_(closer) {}
  hdf5_handle(hdf5_handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  hdf5_handle& operator=(hdf5_handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~hdf5_handle() {
    if (id_ >= 0) close_(id_);
  }

  hid_t get() const { return id_; }
  /// Closes the identifier; throws if that fails.
  void close(const char* what) { hdf5_check(close_(std::exchange(id_, -1)), what); }

 private:
  hid_t id_ = -1;
  close_function close_ = nullptr;
};

}  // namespace syncyte::hdf5
