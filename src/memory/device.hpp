#pragma once

#include <cstddef>

#include "syncyte/base.h"

namespace syncyte::memory {

/// A range of memory of some kind; only its backend may look inside.
struct place {
  void* data;
  syncyte_memory_t memory;
  int device;  ///< 0 for host memory
};

/// The operations that the core needs of a kind of memory. Streams are the backend's own (cudaStream_t); null is the
/// default one. All functions throw base::error: SYNCYTE_ERR_UNSUPPORTED where the kind is not to be had,
/// SYNCYTE_ERR_ARGUMENT for a device that does not exist, SYNCYTE_ERR_MEMORY. Thread-safe.
class device_backend {
 public:
  virtual ~device_backend() = default;

  /// Number of devices; 0 where the kind is not to be had. Never throws.
  virtual int count() const noexcept = 0;
  /// `bytes` of at least 1, aligned to 64 bytes or more.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void free(int device, void* data) noexcept = 0;

  /// Copies between host memory and this kind, or within it. Queued on the stream; with a null stream done on return.
  virtual void copy(const place& target, const place& source, std::size_t bytes, void* stream) = 0;
  /// Sets every byte. Queued on the stream; with a null stream done on return.
  virtual void fill(const place& target, unsigned char value, std::size_t bytes, void* stream) = 0;

  virtual void* create_stream(int device) = 0;
  virtual void destroy_stream(int device, void* stream) noexcept = 0;
  /// Waits for what is queued on the stream.
  virtual void synchronise(int device, void* stream) = 0;
};

/// Ordinary memory; its streams do everything at once.
device_backend& host_backend();

/// CUDA's, or, in a build without CUDA, a stub that has no devices. Exactly one of cuda/ and stub/ is linked.
device_backend& cuda_backend();

/// By kind; throws SYNCYTE_ERR_ARGUMENT for an unknown one. `argument` names it in the message.
device_backend& backend_of(syncyte_memory_t memory, const char* argument = "memory");

/// Copies between any kinds of memory, by the backend of whichever side is not the host.
void copy(const place& target, const place& source, std::size_t bytes, void* stream = nullptr);

/// The same, done on return, and in no order with what is enqueued on the device: it waits for nothing there.
void copy_now(const place& target, const place& source, std::size_t bytes);

/// Throws SYNCYTE_ERR_UNSUPPORTED if the kind has no devices, SYNCYTE_ERR_ARGUMENT if not this one.
void require_device(syncyte_memory_t memory, int device);

}  // namespace syncyte::memory
