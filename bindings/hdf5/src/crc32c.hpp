#pragma once

#include <cstddef>
#include <cstdint>

namespace syncyte::hdf5 {

/// CRC32C (Castagnoli, reflected, initial value and final xor all ones) of bytes that follow others whose CRC32C is
/// `crc`; 0 is the CRC32C of no bytes. "123456789" has 0xE3069283.
std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t bytes);

/// What a CRC32C contributes to that of a longer run when `bytes` more follow:
/// crc32c(A then B) = crc32c_shift(crc32c(A), size of B) ^ crc32c(B).
/// Multiplication by x^(8 bytes) in GF(2)[x] modulo the Castagnoli polynomial: O(log bytes).
std::uint32_t crc32c_shift(std::uint32_t crc, std::uint64_t bytes);

}  // namespace syncyte::hdf5
