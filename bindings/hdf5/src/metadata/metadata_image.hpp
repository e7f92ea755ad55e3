// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace syncyte::hdf5 {

/// A range of bytes in a file.
struct extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t end() const { return offset + bytes; }
};

/// Parts of [begin, end) that no extent of `used` covers, in order. Empty extents are ignored.
/// @throws error SYNCYTE_ERR_FORMAT if extents overlap or lie outside [begin, end)
std::vector<extent> complement(std::vector<extent> used, std::uint64_t begin, std::uint64_t end);

/// The file as libhdf5 sees it, in memory. libhdf5 does not access the disk: a full disk cannot leave it in a state
/// that it cannot close, and this library can checksum and write the metadata itself. The image holds only the pages
/// that were written; others read as zeros. Datasets need no memory here, because their data is written directly to the
/// file.
class metadata_image {
 public:
  static constexpr std::size_t page_bytes = 4096;

  void read(std::uint64_t offset, void* target, std::size_t bytes) const;
  void write(std::uint64_t offset, const void* source, std::size_t bytes);
  /// Size of the file, including tensor data once libhdf5 has closed it.
  std::uint64_t size() const { return size_; }
  void set_size(std::uint64_t bytes) { size_ = bytes; }

  /// Calls `use(offset, data, bytes)` for consecutive pieces of a part, at most a page each.
  void visit(extent part, const std::function<void(std::uint64_t, const std::byte*, std::size_t)>& use) const;

 private:
  using page = std::array<std::byte, page_bytes>;
  std::unordered_map<std::uint64_t, std::unique_ptr<page>> pages_;
  std::uint64_t size_ = 0;
};

}  // namespace syncyte::hdf5
