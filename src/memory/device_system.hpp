// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "memory/descriptor.hpp"

namespace syncyte::memory {

/// A device's UUID: processes see the same device under different numbers.
using device_id = std::array<unsigned char, 16>;
/// "GPU-5300...", as nvidia-smi writes it.
std::string text_of(const device_id& id);

/// What a device may do with mapped memory.
enum class device_access { read, write };

/// A range of device addresses of this process. Its pages lie on any devices, and may be those of other processes. The
/// destructor waits for the operations of the devices that use it and unmaps the pages; memory lives while a process
/// maps it. All functions throw base::error with the driver's reason.
class device_range {
 public:
  virtual ~device_range() = default;

  virtual std::byte* data() const = 0;
  /// Makes zeroed memory on this process's device, maps it at an offset, and returns its descriptor, for map(). Both
  /// numbers are multiples of page_bytes(), and bytes is not 0.
  virtual descriptor create(std::size_t offset, std::size_t bytes) = 0;
  /// Maps memory that another process has made, for use by this process's device. A kernel that writes to memory
  /// that was mapped to be read fails, and with it the device's context.
  virtual void map(std::size_t offset, std::size_t bytes, const descriptor& file,
                   device_access access = device_access::write) = 0;
  /// Lets another device of this process read and write all mapped memory, at the same addresses. Thread-safe.
  virtual void allow(int device) = 0;
};

/// A point in a stream's work. Thread-safe.
class device_event {
 public:
  virtual ~device_event() = default;
  /// Moves the point behind all that the stream has queued.
  virtual void record(void* stream) = 0;
  /// Whether the work before the point is done. Throws its error.
  virtual bool is_done() = 0;
  /// Waits for the work before the point. Throws its error.
  virtual void wait() = 0;
};

/// Frees host memory that a device accesses.
struct pinned_deleter {
  int device = 0;
  void operator()(std::byte* data) const noexcept;
};

/// Host memory that devices access at its own address.
using pinned_memory = std::unique_ptr<std::byte[], pinned_deleter>;

/// Kernels that were compiled together.
struct kernel_image {
  const void* binary;
  const char* toolkit;  ///< version of CUDA, for messages
};

/// Runs a step, and adds what it is for to its error.
template <class Step>
void explain(const std::string& what, int device, Step&& step) {
  try {
    std::forward<Step>(step)();
  } catch (const base::error& error) {
    throw base::error(error.status(), fmt::format("{} on device {}: {}", what, device, error.what()), error.fields());
  }
}

/// Functions that objects on devices need beside device_backend. Devices are numbers of this process. All functions
/// throw base::error: SYNCYTE_ERR_UNSUPPORTED if there are no devices, or they lack what is needed; SYNCYTE_ERR_MEMORY.
/// Thread-safe.
class device_system {
 public:
  virtual ~device_system() = default;

  /// The device of the calling thread's context; 0 if it has none.
  virtual int current() = 0;
  virtual device_id id(int device) = 0;
  /// The number of a device in this process; -1 if it does not see the device.
  virtual int find(const device_id& id) = 0;
  /// Whether a device can access another one's memory.
  virtual bool is_peer(int device, int other) = 0;
  /// Whether atomic operations of a device on another one's memory are atomic with those of the other.
  virtual bool has_atomics(int device, int other) = 0;

  /// Unit of a range's memory; throws if the device cannot share memory between processes.
  virtual std::size_t page_bytes(int device) = 0;
  virtual std::unique_ptr<device_range> reserve(int device, std::size_t bytes) = 0;
  virtual std::unique_ptr<device_event> make_event(int device) = 0;
  /// Zeroed. `device`: one that uses it.
  virtual pinned_memory allocate_pinned(int device, std::size_t bytes) = 0;
  virtual void free_pinned(int device, std::byte* data) noexcept = 0;

  /// Throws unless the device accesses registered host memory at the host's addresses.
  virtual void require_host_addresses(int device) = 0;
  /// Lets all devices access host memory. `device`: one of them.
  virtual void register_host(int device, std::span<std::byte> memory) = 0;
  virtual void unregister_host(int device, std::byte* data) noexcept = 0;

  /// Whether operations on the stream are captured into a graph, and not run.
  virtual bool is_captured(int device, void* stream) = 0;
  /// Queues a kernel with one argument, a struct. `threads` share its work; there may be fewer.
  virtual void launch(int device, const kernel_image& image, const char* name, const void* argument,
                      std::int64_t threads, void* stream) = 0;
};

/// CUDA's, or a stub in a build without CUDA.
device_system& cuda_system();

/// The stream on which the calling thread's operations on device memory are queued; null: they are complete on return.
void set_thread_stream(void* stream);
void* thread_stream();

}  // namespace syncyte::memory
