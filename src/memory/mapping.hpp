// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

namespace syncyte::memory {

/// Alignment of large memory: the size of a huge page on x86-64 and, with 4 KiB base pages, on aarch64.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

std::size_t small_page_bytes();
std::size_t round_up(std::size_t bytes, std::size_t unit);

/// Unmaps memory of so many bytes.
struct unmapper {
  std::size_t bytes = 0;
  void operator()(std::byte* data) const;
};

/// Owns mapped memory that begins at a multiple of 2 MiB.
using mapping = std::unique_ptr<std::byte[], unmapper>;

/// Maps a file's memory, shared. `bytes` is rounded up to pages and must not be 0. Throws SYNCYTE_ERR_MEMORY.
mapping map_shared(int descriptor, std::size_t bytes);
mapping map_anonymous(std::size_t bytes);
/// Maps a file's memory copy-on-write, without access rights: mprotect() gives them.
mapping map_private(int descriptor, std::size_t bytes);

}  // namespace syncyte::memory
