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

  class equal_vectors {
   public:
    equal_vectors(std::int64_t length, std::int64_t pairs) : length_(length), pairs_(pairs) {}
    std::int64_t length(std::int64_t) const { return length_; }
    std::size_t first(std::int64_t key) const { return static_cast<std::size_t>(key * pairs_); }

   private:
    std::int64_t length_, pairs_;
  };

  class different_vectors {
   public:
    explicit different_vectors(const std::int64_t* places) : places_(places) {}
    std::int64_t length(std::int64_t key) const {
      return 2 * ((places_[key + 1] >> 1) - (places_[key] >> 1)) - (places_[key] & 1);
    }
    std::size_t first(std::int64_t key) const { return static_cast<std::size_t>(places_[key] >> 1); }

   private:
    const std::int64_t* places_;
  };

  /// Calls visitor with one of these, which have length() and first() too: for loops over many keys.
  template <class Visitor>
  auto visit(Visitor&& visitor) const {
    return places_.empty() ? visitor(equal_vectors{length_, pairs_}) : visitor(different_vectors{places_.data()});
  }

  std::int64_t length(std::int64_t key) const {
    return visit([=](auto vectors) { return vectors.length(key); });
  }
  /// Number of 8 bytes before the key's vector; key may be keys().
  std::size_t first(std::int64_t key) const {
    return visit([=](auto vectors) { return vectors.first(key); });
  }

 private:
  std::int64_t keys_;
  std::int64_t length_ = 0;
  std::int64_t pairs_ = 0;
  std::span<const std::int64_t> places_;
};

}  // namespace syncyte::kv
