// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "base/buffer.hpp"
#include "cache/model_layout.hpp"
#include "memory/descriptor.hpp"
#include "memory/device.hpp"

namespace syncyte::cache {

/// Writes the tensors of a model that is being published to their places. Not thread-safe.
class model_writer {
 public:
  virtual ~model_writer() = default;

  /// Copies a tensor's elements, which the caller may then change; of a device's buffer only as they lie there. Throws
  /// SYNCYTE_ERR_SHAPE for a device's buffer whose elements lie otherwise.
  virtual void write(const model_tensor& tensor, const base::buffer& from) = 0;
  /// Waits until all that was written is there.
  virtual void wait() = 0;
  /// Address of the first group.
  virtual memory::place begin() const = 0;
};

/// A writer for a file that is mapped at this address.
std::unique_ptr<model_writer> make_host_writer(const model_layout& layout, std::byte* file);

/// Makes memory on a device, gives its descriptor, and returns a writer for it. Throws SYNCYTE_ERR_MEMORY,
/// SYNCYTE_ERR_UNSUPPORTED.
std::unique_ptr<model_writer> make_device_writer(const model_layout& layout, int device, memory::descriptor& made);

/// Bytes that a model takes of a device's memory. Throws SYNCYTE_ERR_UNSUPPORTED.
std::uint64_t bytes_on_device(const model_layout& layout, int device);

}  // namespace syncyte::cache
