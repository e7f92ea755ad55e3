// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/descriptor.hpp"
#include "memory/mapping.hpp"

namespace syncyte::cache {

/// Sizes of a region's two parts, in bytes; 0: not chosen.
struct region_sizes {
  std::uint64_t parameters = 0;
  std::uint64_t computation = 0;

  std::uint64_t total() const { return parameters + computation; }
};

/// Memory that processes of one user share: a header, the bytes for parameters, then the bytes for computation. It is a
/// memfd: it has no name, and is freed when the last process closes it. Its size is sealed, its contents are not.
class region {
 public:
  /// Sizes that nobody has chosen, where the machine has the memory.
  static region_sizes default_sizes();

  /// Allocates a region of zeros. Sizes that are not chosen come from SYNCYTE_CACHE_PARAMETER_BYTES and
  /// SYNCYTE_CACHE_COMPUTATION_BYTES, otherwise from the defaults, which are scaled down if the machine has less
  /// memory. Sizes are rounded up to pages. Throws SYNCYTE_ERR_MEMORY if the machine has less than the chosen sizes.
  static std::shared_ptr<region> allocate(region_sizes chosen);

  /// Maps a region of another process. Throws SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_VERSION, SYNCYTE_ERR_MEMORY.
  static std::shared_ptr<region> attach(memory::descriptor file);

  /// Makes bytes resident in this process. Throws SYNCYTE_ERR_ARGUMENT for bytes outside the region,
  /// SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_INTERRUPTED between two pieces.
  void touch(std::int64_t offset, std::int64_t bytes) const;

  const region_sizes& sizes() const { return sizes_; }
  std::uint64_t bytes() const { return sizes_.total(); }
  std::byte* data() const { return mapping_.get() + header_bytes; }
  const memory::descriptor& file() const { return file_; }
  /// Inode of the file, equal for all mappings of one region.
  std::uint64_t inode() const { return inode_; }

 private:
  static constexpr std::size_t header_bytes = memory::huge_page_bytes;

  region(memory::descriptor file, region_sizes sizes);

  memory::descriptor file_;
  region_sizes sizes_;
  memory::mapping mapping_;
  std::uint64_t inode_ = 0;
};

}  // namespace syncyte::cache
