// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory/descriptor.hpp"
#include "memory/device_system.hpp"
#include "syncyte/base.h"

namespace syncyte::cache {

/// Sizes of a region's two parts, in bytes; 0: not chosen.
struct region_sizes {
  std::uint64_t parameters = 0;
  std::uint64_t computation = 0;

  std::uint64_t total() const { return parameters + computation; }
  std::string text() const;
};

/// Most bytes of a part: half of what a process can address.
inline constexpr std::uint64_t most_region_bytes = std::uint64_t{1} << 46;

/// First bytes of a region's file. The layout's version says in what memory the region is.
struct region_header {
  static constexpr std::array<char, 16> cache_magic{"syncyte cache\n\0"};
  static constexpr std::uint64_t on_host = 3, on_device = 4;  // 1 and 2 had no framework
  using framework_text = std::array<char, 128>;               // ends with a zero

  std::array<char, 16> magic = cache_magic;
  std::uint64_t version;
  region_sizes sizes;
  memory::device_id device{};  // of a region on a device
  framework_text framework{};  // name and version; empty: none

  /// Throws SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_VERSION.
  static region_header read(const memory::descriptor& file);
  /// A memfd of this size, which is sealed, that begins with the header. Throws SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_LIMIT.
  memory::descriptor make_file(std::uint64_t bytes) const;
};

/// Throws SYNCYTE_ERR_FORMAT: the files of another process are not a region.
[[noreturn]] void refuse_file(const std::string& why);

/// A region's bytes, mapped into this process.
class region_memory {
 public:
  virtual ~region_memory() = default;

  virtual syncyte_memory_t kind() const = 0;
  virtual int device() const = 0;  ///< 0 for host memory
  virtual std::byte* data() const = 0;
  /// Descriptors by which another process maps the same bytes; the first is that of the header's file.
  virtual const std::vector<memory::descriptor>& files() const = 0;
  /// Makes bytes resident in this process; see region::touch().
  virtual void touch(std::int64_t offset, std::int64_t bytes) const = 0;
};

/// A kind of memory, in which regions are made.
class region_maker {
 public:
  virtual ~region_maker() = default;

  /// Name of the memory's owner, for messages.
  virtual std::string owner() const = 0;
  /// Unit of the parts' sizes.
  virtual std::uint64_t page_bytes() const = 0;
  /// Most bytes that parts of default sizes may take, beside so many of a chosen size.
  virtual std::uint64_t room_beside(std::uint64_t chosen_bytes) const = 0;
  /// Zeros. Throws SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_LIMIT.
  virtual std::unique_ptr<region_memory> make(const region_sizes& sizes,
                                              const region_header::framework_text& framework) const = 0;
};

/// Three quarters of the available bytes that the chosen ones leave.
inline std::uint64_t room_of(std::uint64_t available, std::uint64_t chosen_bytes) {
  return available <= chosen_bytes ? 0 : (available - chosen_bytes) / 4 * 3;
}

}  // namespace syncyte::cache
