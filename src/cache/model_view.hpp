// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/model_layout.hpp"
#include "memory/descriptor.hpp"
#include "memory/device.hpp"

namespace syncyte::cache {

/// Memory in which a process uses a model's tensors.
struct model_target {
  /// The kind of memory that the model lies in, on the device that it lies on.
  static constexpr syncyte_memory_t anywhere = -1;

  syncyte_memory_t memory = SYNCYTE_MEMORY_HOST;
  int device = 0;        ///< of CUDA: -1: the model's, if this process sees it, otherwise the context's
  bool is_copy = false;  ///< memory of this process alone, which it may write
};

/// The bytes of a model in this process.
class model_view {
 public:
  virtual ~model_view() = default;

  /// Address of a byte of the layout.
  virtual std::byte* at(std::uint64_t offset) const = 0;
  /// Lets this process use bytes that are ready. They follow those of the last call, and end with a group.
  virtual void open(std::uint64_t begin, std::uint64_t end) = 0;

  syncyte_memory_t memory() const { return memory_; }
  int device() const { return device_; }
  /// Whether open() copies.
  bool is_copy() const { return is_copy_; }
  /// Whether the bytes are those of all processes, so that none may write them.
  bool is_read_only() const { return memory_ != SYNCYTE_MEMORY_HOST && !is_copy_; }

 protected:
  model_view(syncyte_memory_t memory, int device, bool is_copy) : memory_(memory), device_(device), is_copy_(is_copy) {}

 private:
  syncyte_memory_t memory_;
  int device_;
  bool is_copy_;
};

/// Maps or copies a model; bytes become usable by open(). `files`: of the manifest or of all, and of the device's
/// memory. Throws SYNCYTE_ERR_UNSUPPORTED if this process does not see a device, SYNCYTE_ERR_ARGUMENT for one that it
/// does not have, SYNCYTE_ERR_MEMORY.
std::unique_ptr<model_view> view_model(const model_layout& layout, const std::vector<memory::descriptor>& files,
                                       const model_target& target);

}  // namespace syncyte::cache
