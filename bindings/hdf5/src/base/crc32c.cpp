// SPDX-License-Identifier: BSD-3-Clause
#include "base/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>

namespace syncyte::hdf5 {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78U;  // Castagnoli, bit 31 is x^0
constexpr std::uint32_t one = 0x80000000U;         // x^0
constexpr std::size_t longest_call = std::size_t{1} << 30;

// Product of two polynomials, both reflected, modulo the Castagnoli polynomial.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = one; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b >> 1) ^ ((b & 1U) ? polynomial : 0U);
  }
  return product;
}

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t bytes) {
  // ISA-L takes and returns the raw register; it takes an int length, and a non-const pointer that it only reads from.
  auto* next = static_cast<unsigned char*>(const_cast<void*>(data));
  std::uint32_t state = ~crc;
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, longest_call);
    state = crc32_iscsi(next, static_cast<int>(piece), state);
    next += piece;
    bytes -= piece;
  }
  return ~state;
}

std::uint32_t crc32c_shift(std::uint32_t crc, std::uint64_t bytes) {
  std::uint32_t factor = one;
  std::uint32_t power = one >> 8;  // x^8, squared at each step
  for (; bytes != 0; bytes >>= 1) {
    if (bytes & 1U) factor = multiply(factor, power);
    power = multiply(power, power);
  }
  return multiply(crc, factor);
}

}  // namespace syncyte::hdf5
