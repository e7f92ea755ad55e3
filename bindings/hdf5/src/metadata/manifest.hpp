// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "metadata/metadata_image.hpp"
#include "syncyte/checkpoint.h"

namespace syncyte::hdf5 {

/// The header: the file's first bytes. A reader verifies it, the manifest and the checksum of all other bytes that are
/// not tensor data before it uses them, and does not pass the file to libhdf5.
///
/// The file is [header 64 bytes][manifest][zeros], which form the HDF5 userblock, then HDF5 metadata and tensor data.
/// All numbers are little-endian. The header's offset, size and own checksum are the same in all versions of the
/// format, so that an old library can tell a newer file from a damaged one.
struct file_header {
  static constexpr std::size_t bytes = 64;

  std::array<unsigned char, 8> magic{0x89, 'S', 'Y', 'N', 'C', '\r', '\n', 0x1A};
  std::uint32_t format_version = SYNCYTE_CHECKPOINT_FORMAT;
  std::uint32_t header_bytes = bytes;
  std::uint64_t userblock_bytes = 0;
  std::uint64_t manifest_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint32_t manifest_crc = 0;  ///< CRC32C of all bytes of the userblock after the header, zeros included
  std::uint32_t metadata_crc = 0;  ///< CRC32C of all bytes after the userblock that are not tensor data, in order
  std::array<std::uint32_t, 3> reserved{};
  std::uint32_t header_crc = 0;  ///< CRC32C of the bytes before; set by encode()

  std::array<std::byte, bytes> encode() const;
  /// @throws error SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_CHECKSUM or SYNCYTE_ERR_VERSION, naming the file
  static file_header decode(const std::array<std::byte, bytes>& raw, const std::string& path);
};

static_assert(sizeof(file_header) == file_header::bytes);

/// Texts by name. A reader ignores those whose names it does not know.
using attribute_list = std::vector<std::pair<std::string, std::string>>;

/// One tensor of a checkpoint.
struct dataset {
  std::string key;
  syncyte_dtype_t dtype = 0;
  syncyte_entry_kind_t kind = SYNCYTE_ENTRY_REPLICATED;
  std::vector<std::int64_t> shape;  ///< global
  std::uint64_t offset = 0;         ///< offset of its data in the file; 0 if it has none
  std::vector<std::uint32_t> crc;   ///< CRC32C of each block of its row-major bytes
  attribute_list attributes = {};   ///< for other programs: see attributes_of()

  std::int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  std::uint64_t row_bytes() const;
  std::uint64_t data_bytes() const { return row_bytes() * static_cast<std::uint64_t>(rows()); }
};

/// Contents of a checkpoint, stored in the file's userblock. Format 2 has features and attributes in addition, so that
/// what later versions store needs no further format: a feature is what a reader must know, or it refuses the file.
struct manifest {
  static constexpr const char* of_caller = "attributes";  ///< name of the caller's attribute

  std::int64_t step = 0;
  std::int64_t writer_world = 0;
  std::uint64_t block_bytes = 0;
  std::vector<std::string> features;  ///< none is defined yet
  attribute_list attributes;
  std::vector<dataset> datasets;  ///< in alphabetical order of keys

  std::uint64_t block_count(const dataset& one) const;
  /// The stored form; its size does not depend on the values of offsets and checksums.
  std::vector<std::byte> encode() const;
  /// Decodes and checks all fields: no contents can make a reader access memory out of bounds.
  /// @throws error SYNCYTE_ERR_FORMAT, or SYNCYTE_ERR_VERSION for an unknown feature, naming the file
  static manifest decode(const std::byte* data, std::size_t bytes, const file_header& header, const std::string& path);

  const dataset* find(const std::string& key) const;
  /// The text of an attribute of the file; "" if there is none.
  const char* attribute(const std::string& name) const;
  /// Extents of HDF5's metadata: the parts after the userblock that are not tensor data.
  std::vector<extent> hdf5_metadata(const file_header& header) const;
};

/// Bytes of a row of this shape and type.
/// @throws error SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE if the whole tensor has more than 2^63 - 1 bytes or an extent is
/// negative
std::uint64_t checked_row_bytes(syncyte_dtype_t dtype, const std::vector<std::int64_t>& shape);

/// Size of the userblock for a manifest: a power of two, at least a page.
std::uint64_t userblock_bytes_for(std::uint64_t manifest_bytes);

}  // namespace syncyte::hdf5
