// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "files/file.hpp"
#include "metadata/manifest.hpp"

namespace syncyte::hdf5 {

/// Source of a loaded checkpoint: the verified header and manifest. HDF5's metadata are verified, but not used.
struct file_index {
  std::array<std::byte, file_header::bytes> raw_header;
  file_header header;
  std::vector<std::byte> raw_manifest;
  manifest contents;
};

/// Reads and verifies every byte of a file that is not tensor data.
/// @throws error SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_CHECKSUM, SYNCYTE_ERR_VERSION, SYNCYTE_ERR_IO, naming the file
file_index read_index(const file& source);

/// Reads the header's bytes alone, unverified. @throws error SYNCYTE_ERR_FORMAT if the file is shorter
std::array<std::byte, file_header::bytes> read_raw_header(const file& source);

}  // namespace syncyte::hdf5
