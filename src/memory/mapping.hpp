#pragma once

#include <cstddef>
#include <utility>

namespace syncyte::memory {

/// The unit of alignment of everything large: a huge page on x86-64 and, with 4 KiB base pages, on aarch64.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

std::size_t small_page_bytes();
std::size_t round_up(std::size_t bytes, std::size_t unit);

/// Mapped memory, its first byte at a multiple of 2 MiB; unmapped when it goes.
class mapping {
 public:
  mapping() = default;
  mapping(mapping&& other) noexcept { swap(other); }
  mapping& operator=(mapping&& other) noexcept {
    swap(other);
    return *this;
  }
  ~mapping() { unmap(); }

  /// Throws SYNCYTE_ERR_MEMORY. `bytes` is rounded up to pages; 0 is not allowed.
  static mapping shared(int descriptor, std::size_t bytes);
  static mapping anonymous(std::size_t bytes);

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  void unmap();
  /// Gives the memory up without unmapping it; the caller does that.
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
