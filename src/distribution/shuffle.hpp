// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace syncyte::distribution {

/// A fixed permutation of the numbers 0 to extent - 1 that looks random: numbers of any stride end up anywhere. Equal
/// in all processes.
class shuffle {
 public:
  /// `extent` is 0 or more.
  explicit shuffle(std::int64_t extent);

  std::int64_t place_of(std::int64_t number) const;
  /// The inverse of place_of().
  std::int64_t number_at(std::int64_t place) const;

 private:
  std::uint64_t mix(std::uint64_t x) const;
  std::uint64_t unmix(std::uint64_t x) const;

  std::uint64_t extent_;
  std::uint64_t mask_;  // bits that numbers up to the extent need
  int half_;            // half the number of these bits, rounded up
};

}  // namespace syncyte::distribution
