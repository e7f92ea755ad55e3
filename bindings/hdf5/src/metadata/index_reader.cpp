// SPDX-License-Identifier: BSD-3-Clause
#include "metadata/index_reader.hpp"

#include <algorithm>

#include "base/crc32c.hpp"
#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

void verify_hdf5_metadata(const file& source, const file_header& header, const manifest& contents) {
  std::vector<std::byte> piece(piece_bytes);
  std::uint32_t crc = 0;
  for (const extent& part : contents.hdf5_metadata(header)) {
    for (std::uint64_t at = part.offset; at < part.end(); at += piece.size()) {
      const std::size_t bytes = std::min<std::uint64_t>(piece.size(), part.end() - at);
      source.read(at, piece.data(), bytes);
      crc = crc32c(crc, piece.data(), bytes);
    }
  }
  require(crc == header.metadata_crc, SYNCYTE_ERR_CHECKSUM,
          "'{}': the HDF5 metadata is damaged, or was changed by another program", source.path());
}

std::vector<std::byte> read_userblock(const file& source, const file_header& header) {
  std::vector<std::byte> userblock(header.userblock_bytes - file_header::bytes);
  source.read(file_header::bytes, userblock.data(), userblock.size());
  require(crc32c(0, userblock.data(), userblock.size()) == header.manifest_crc, SYNCYTE_ERR_CHECKSUM,
          "'{}': the manifest is damaged", source.path());
  return userblock;
}

}  // namespace

std::array<std::byte, file_header::bytes> read_raw_header(const file& source) {
  std::array<std::byte, file_header::bytes> raw{};
  require(source.size() >= raw.size(), SYNCYTE_ERR_FORMAT,
          "'{}' is not a Syncyte checkpoint, or truncated: it has fewer than {} bytes", source.path(), raw.size());
  source.read(0, raw.data(), raw.size());
  return raw;
}

file_index read_index(const file& source) {
  file_index result;
  result.raw_header = read_raw_header(source);
  result.header = file_header::decode(result.raw_header, source.path());
  const std::uint64_t size = source.size();
  require(size == result.header.file_bytes, SYNCYTE_ERR_FORMAT, "'{}' is {}: it has {} bytes of {}", source.path(),
          size < result.header.file_bytes ? "truncated" : "too long", size, result.header.file_bytes);
  result.raw_manifest = read_userblock(source, result.header);
  result.raw_manifest.resize(result.header.manifest_bytes);
  result.contents =
      manifest::decode(result.raw_manifest.data(), result.raw_manifest.size(), result.header, source.path());
  verify_hdf5_metadata(source, result.header, result.contents);
  return result;
}

}  // namespace syncyte::hdf5
