// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "memory/pool.hpp"
#include "syncyte/base.h"

namespace syncyte::memory {

/// An address in memory of some kind; only its backend may dereference it.
struct place {
  void* data;
  syncyte_memory_t memory;
  int device;  ///< 0 for host memory
};

/// Operations on one kind of memory. Streams are the backend's own (cudaStream_t); null is the default one. All
/// functions throw base::error: SYNCYTE_ERR_UNSUPPORTED if the kind is not available, SYNCYTE_ERR_ARGUMENT for a device
/// that does not exist, SYNCYTE_ERR_MEMORY. Thread-safe.
class device_backend {
 public:
  virtual ~device_backend() = default;

  /// Number of devices; 0 if the kind is not available. Never throws.
  virtual int count() const noexcept = 0;
  /// Why count() is 0, for messages.
  virtual std::string why_none() const = 0;
  /// Allocates `bytes`, at least 1, aligned to 64 bytes or more.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void free(int device, void* data) noexcept = 0;
  /// All memory of the device.
  virtual std::size_t total_bytes(int device) = 0;
  /// Memory of the device that no process has allocated.
  virtual std::size_t free_bytes(int device) = 0;

  /// Copies between host memory and this kind, or within this kind. The copy is queued on the stream; with a null
  /// stream it is complete on return.
  virtual void copy(const place& target, const place& source, std::size_t bytes, void* stream) = 0;

  virtual void* create_stream(int device) = 0;
  /// Waits for all operations queued on the stream.
  virtual void synchronize(int device, void* stream) = 0;
  /// Waits for all operations queued on streams of the device. Returns false after an error.
  virtual bool finish(int device) noexcept = 0;
};

/// CUDA memory, or a stub without devices in a build without CUDA. Exactly one of cuda/ and stub/ is linked.
device_backend& cuda_backend();

/// The backend of a kind of memory; throws SYNCYTE_ERR_ARGUMENT for an unknown kind. `argument` names it in the
/// message.
device_backend& backend_of(syncyte_memory_t memory, const char* argument = "memory");

/// Copies between any kinds of memory, by the backend of the side that is not the host.
void copy(const place& target, const place& source, std::size_t bytes, void* stream = nullptr);

/// Copies on a stream of its own, complete on return. It does not wait for work that other streams have queued.
void copy_now(const place& target, const place& source, std::size_t bytes);

/// This library's own stream of a device, which all threads share.
void* own_stream(int device);

/// Acquires a buffer from the pool of the kind of memory and device. Returns null for 0 bytes. Throws
/// SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED, SYNCYTE_ERR_ARGUMENT. Thread-safe.
void* acquire(std::size_t bytes, syncyte_memory_t memory, int device);

/// Releases a buffer to its pool, after all work that is queued on its device has ended; null is ignored. Throws
/// SYNCYTE_ERR_ARGUMENT for a pointer that acquire() did not return, or that has been released.
void release(void* data);

/// Returns all cached buffers to the system and to the devices.
void trim();

/// Statistics of the pools of all devices, in sum.
pool_statistics device_statistics();

/// Throws SYNCYTE_ERR_UNSUPPORTED, with the reason, if the kind has no devices, SYNCYTE_ERR_ARGUMENT if it has others
/// but not this one.
void require_device(syncyte_memory_t memory, int device);

}  // namespace syncyte::memory
