// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "distribution/position.hpp"

namespace syncyte::distribution {

/// Index i belongs to part i mod parts.
class cyclic {
 public:
  cyclic(std::int64_t extent, int parts)
      : extent_(extent), parts_(parts), shorter_(extent / parts), longer_parts_(extent % parts) {}

  std::int64_t extent() const { return extent_; }
  int parts() const { return static_cast<int>(parts_); }
  std::int64_t count(int part) const { return shorter_ + (part < longer_parts_); }
  std::int64_t begin(int part) const { return part * shorter_ + std::min<std::int64_t>(part, longer_parts_); }
  position find(std::int64_t index) const { return {static_cast<int>(index % parts_), index / parts_}; }
  std::int64_t index(position at) const { return at.offset * parts_ + at.part; }
  std::int64_t run(std::int64_t) const { return 1; }

 private:
  std::int64_t extent_, parts_;
  std::int64_t shorter_, longer_parts_;  // indices of a short part, and number of parts with one index more
};

/// Blocks of `block` indices, the last one shorter; block b belongs to part b mod parts.
class block_cyclic {
 public:
  block_cyclic(std::int64_t extent, int parts, std::int64_t block) : extent_(extent), parts_(parts), block_(block) {}

  std::int64_t block() const { return block_; }
  std::int64_t extent() const { return extent_; }
  int parts() const { return static_cast<int>(parts_); }
  std::int64_t count(int part) const {
    const std::int64_t rest = this->rest();
    return rounds() * block_ + std::min(rest - std::min(rest, before(part)), block_);
  }
  std::int64_t begin(int part) const { return rounds() * part * block_ + std::min(rest(), before(part)); }
  position find(std::int64_t index) const {
    const std::int64_t block = index / block_;
    return {static_cast<int>(block % parts_), block / parts_ * block_ + index % block_};
  }
  std::int64_t index(position at) const {
    return at.offset / block_ * parts_ * block_ + before(at.part) + at.offset % block_;
  }
  std::int64_t run(std::int64_t index) const { return block_ - index % block_; }

 private:
  /// Indices of a round (one block of each part) before the part's block; at most INT64_MAX.
  std::int64_t before(int part) const {
    std::int64_t result = 0;
    return __builtin_mul_overflow(part, block_, &result) ? INT64_MAX : result;
  }
  std::int64_t rounds() const { return extent_ / block_ / parts_; }
  std::int64_t rest() const { return extent_ - rounds() * parts_ * block_; }  // indices after the whole rounds

  std::int64_t extent_, parts_, block_;
};

}  // namespace syncyte::distribution
