// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/region_memory.hpp"

namespace syncyte::cache {

/// Memory that processes of one user share, on the host or on a device: the bytes for parameters, then those for
/// computation. It has no name, and is freed when the last process closes it.
class region {
 public:
  /// Sizes that nobody has chosen, where there is as much memory.
  static region_sizes default_sizes();

  /// Allocates a region of zeros. Sizes that are not chosen come from SYNCYTE_CACHE_PARAMETER_BYTES and
  /// SYNCYTE_CACHE_COMPUTATION_BYTES, otherwise from the defaults, which are scaled down if there is less memory. Sizes
  /// are rounded up to pages. Negative device: that of the thread's context. `framework`: see check_framework(). Throws
  /// SYNCYTE_ERR_MEMORY if there is less memory than the chosen sizes, SYNCYTE_ERR_UNSUPPORTED, SYNCYTE_ERR_ARGUMENT
  /// (device, framework). On a device SYNCYTE_CACHE_DEVICE_BYTES is such a limit too.
  static std::shared_ptr<region> allocate(region_sizes chosen, syncyte_memory_t memory = SYNCYTE_MEMORY_HOST,
                                          int device = -1, const std::string& framework = "");

  /// Maps a region of another process, from its files. Throws SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_VERSION,
  /// SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED (its device).
  static std::shared_ptr<region> attach(std::vector<memory::descriptor> files);

  /// Makes bytes resident in this process, if they are on the host. Throws SYNCYTE_ERR_ARGUMENT for bytes outside the
  /// region, SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_INTERRUPTED between two pieces.
  void touch(std::int64_t offset, std::int64_t bytes) const;

  /// Throws SYNCYTE_ERR_VERSION if the region was allocated for another framework, or another version of it: its
  /// allocations may have other sizes, and another order. Does nothing if either is empty.
  void check_framework(const std::string& framework) const;

  const region_sizes& sizes() const { return sizes_; }
  std::uint64_t bytes() const { return sizes_.total(); }
  std::byte* data() const { return memory_->data(); }
  syncyte_memory_t memory() const { return memory_->kind(); }
  int device() const { return memory_->device(); }
  /// Descriptors for attach() in another process.
  const std::vector<memory::descriptor>& files() const { return memory_->files(); }
  /// Inode of the first file, equal for all mappings of one region.
  std::uint64_t inode() const { return inode_; }

 private:
  region(std::unique_ptr<region_memory> memory, region_sizes sizes, std::string framework);

  std::unique_ptr<region_memory> memory_;
  region_sizes sizes_;
  std::string framework_;
  std::uint64_t inode_ = 0;
};

}  // namespace syncyte::cache
