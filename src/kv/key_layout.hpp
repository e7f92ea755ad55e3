#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace syncyte::kv {

/// Where the values of keys 0 to keys() - 1 lie in one range of memory: each key has a vector of float32 that begins at
/// a multiple of 8 bytes, so that two elements are loaded and stored at once.
class key_layout {
 public:
  /// All vectors have one length. `keys` and `length` are 0 or more, and 1 or more.
  key_layout(std::int64_t keys, std::int64_t length);
  /// Of places() of another layout's, which stay the caller's.
  explicit key_layout(std::span<const std::int64_t> places);

  /// For vectors of these lengths, each 1 or more: where each begins, and where the last ends. An entry is twice the
  /// number of 8 bytes before it, and one more where the length is odd.
  static std::vector<std::int64_t> places(std::span<const std::int64_t> lengths);

  std::int64_t keys() const { return keys_; }
  std::int64_t length(std::int64_t key) const {
    if (places_.empty()) return length_;
    const std::int64_t place = places_[static_cast<std::size_t>(key)];
    const std::int64_t next = places_[static_cast<std::size_t>(key) + 1];
    return 2 * ((next >> 1) - (place >> 1)) - (place & 1);
  }
  /// Number of 8 bytes before the key's vector; key may be keys().
  std::size_t first(std::int64_t key) const {
    return static_cast<std::size_t>(places_.empty() ? key * pairs_ : places_[static_cast<std::size_t>(key)] >> 1);
  }
  /// The length of all vectors; 0 where they differ.
  std::int64_t uniform_length() const { return places_.empty() ? length_ : 0; }

 private:
  std::int64_t keys_;
  std::int64_t length_ = 0;
  std::int64_t pairs_ = 0;
  std::span<const std::int64_t> places_;
};

}  // namespace syncyte::kv
