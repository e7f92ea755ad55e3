// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace syncyte::hdf5 {

/// Continues a CRC32C (Castagnoli, reflected, initial value and final xor all ones): `crc` is the CRC32C of the bytes
/// before, 0 if there are none. The CRC32C of "123456789" is 0xE3069283.
std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t bytes);

/// Shifts a CRC32C by `bytes` bytes that follow, so that sums of parts can be combined: crc32c(A then B) =
/// crc32c_shift(crc32c(A), size of B) ^ crc32c(B). Multiplication by x^(8 bytes) in GF(2)[x] modulo the Castagnoli
/// polynomial: O(log bytes).
std::uint32_t crc32c_shift(std::uint32_t crc, std::uint64_t bytes);

}  // namespace syncyte::hdf5
