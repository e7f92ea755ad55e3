// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace syncyte::kv {

/// Layout of the values of keys 0 to keys() - 1 in one range of memory. Each key has a vector of float32 that begins at
/// a multiple of 8 bytes.
class key_layout {
 public:
  /// All vectors have the same length. `keys` is 0 or more, `length` 1 or more.
  key_layout(std::int64_t keys, std::int64_t length) : keys_(keys), length_(length), pairs_(length / 2 + length % 2) {}
  /// Uses an array made by places(), which the caller owns.
  explicit key_layout(std::span<const std::int64_t> places) : keys_(std::ssize(places) - 1), places_(places) {}

  /// Begin of each vector, and the end of the last, for vectors of these lengths, each 1 or more. An entry is twice the
  /// offset in units of 8 bytes, plus one if the vector's length is odd.
  static std::vector<std::int64_t> places(std::span<const std::int64_t> lengths) {
    std::vector<std::int64_t> result;
    result.reserve(lengths.size() + 1);
    std::int64_t pairs = 0;
    for (const std::int64_t length : lengths) {
      result.push_back(2 * pairs + length % 2);
      pairs += length / 2 + length % 2;
    }
    result.push_back(2 * pairs);
    return result;
  }

  std::int64_t keys() const { return keys_; }
  bool is_uniform() const { return places_.empty(); }

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

  /// Calls visitor with an equal_vectors or a different_vectors; both have length() and first(). Use it for loops over
  /// many keys.
  template <class Visitor>
  auto visit(Visitor&& visitor) const {
    return places_.empty() ? visitor(equal_vectors{length_, pairs_}) : visitor(different_vectors{places_.data()});
  }

  std::int64_t length(std::int64_t key) const {
    return visit([=](auto vectors) { return vectors.length(key); });
  }
  /// Offset of the key's vector in units of 8 bytes; key may be keys().
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
