// SPDX-License-Identifier: BSD-3-Clause
// The checksum of checkpoints.

#include "base/crc32c.hpp"
#include "micro.hpp"

namespace {

using namespace syncyte::bench;

const bool declared = [] {
  for (const std::size_t kibibytes : {4, 64, 131072})
    measure_bytes("CRC32C of " + std::to_string(kibibytes) + " KiB", kibibytes << 10, [=] {
      return [=] { benchmark::DoNotOptimize(syncyte::hdf5::crc32c(0, first_half(), kibibytes << 10)); };
    });
  return true;
}();

}  // namespace
