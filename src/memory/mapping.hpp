#pragma once

#include <cstddef>
#include <utility>

namespace syncyte::memory {

/// Alignment of large memory: the size of a huge page on x86-64 and, with 4 KiB base pages, on aarch64.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

std::size_t small_page_bytes();
std::size_t round_up(std::size_t bytes, std::size_t unit);

/// Owns mapped memory that begins at a multiple of 2 MiB; the destructor unmaps it.
class mapping {
 public:
  mapping() = default;
  mapping(mapping&& other) noexcept { swap(other); }
  mapping& operator=(mapping&& other) noexcept {
    swap(other);
    return *this;
  }
  ~mapping() { unmap(); }

  /// Maps a file's memory, shared. `bytes` is rounded up to pages and must not be 0. Throws SYNCYTE_ERR_MEMORY.
  static mapping shared(int descriptor, std::size_t bytes);
  static mapping anonymous(std::size_t bytes);

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  void unmap();
  /// Gives up ownership without unmapping; the caller unmaps the memory.
  std::byte* release() {
    size_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  static mapping map(int descriptor, std::size_t bytes, int flags);
  void swap(mapping& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace syncyte::memory
