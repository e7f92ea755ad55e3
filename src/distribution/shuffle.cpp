// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/shuffle.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace syncyte::distribution {
namespace {

/// Odd numbers of splitmix64.
constexpr std::array<std::uint64_t, 3> factors{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb};

/// The inverse of an odd number modulo 2^64; each step of Newton's iteration doubles the number of right bits.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t result = odd;  // right in 3 bits
  for (int step = 0; step < 5; ++step) result *= 2 - odd * result;
  return result;
}
static_assert(inverse(factors[0]) * factors[0] == 1);

int bits_of(std::int64_t extent) {
  return std::max(1,
                  static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1) - 1))));
}

}  // namespace

shuffle::shuffle(std::int64_t extent)
    : extent_(static_cast<std::uint64_t>(extent)),
      mask_(~std::uint64_t{0} >> (64 - bits_of(extent))),
      half_((bits_of(extent) + 1) / 2) {}

/// A permutation of the numbers in mask_: each step can be undone.
std::uint64_t shuffle::mix(std::uint64_t x) const {
  for (const std::uint64_t factor : factors) x = (x ^ x >> half_) * factor & mask_;
  return x ^ x >> half_;
}

std::uint64_t shuffle::unmix(std::uint64_t x) const {
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor)
    x = (x ^ x >> half_) * inverse(*factor) & mask_;
  return x ^ x >> half_;
}

/// Mixes until the number is below extent_, on average at most twice.
std::int64_t shuffle::place_of(std::int64_t number) const {
  auto x = static_cast<std::uint64_t>(number);
  do x = mix(x);
  while (x >= extent_);
  return static_cast<std::int64_t>(x);
}

std::int64_t shuffle::number_at(std::int64_t place) const {
  auto x = static_cast<std::uint64_t>(place);
  do x = unmix(x);
  while (x >= extent_);
  return static_cast<std::int64_t>(x);
}

}  // namespace syncyte::distribution
