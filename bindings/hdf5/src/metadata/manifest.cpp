// SPDX-License-Identifier: BSD-3-Clause
#include "metadata/manifest.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/blocks.hpp"
#include "base/byte_stream.hpp"
#include "base/crc32c.hpp"
#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

void encode_attributes(byte_writer& out, const attribute_list& attributes) {
  out.number(static_cast<std::uint32_t>(attributes.size()));
  for (const auto& [name, text] : attributes) {
    out.string(name);
    out.string(text);
  }
}

attribute_list decode_attributes(byte_reader& in) {
  attribute_list result;
  for (auto count = in.number<std::uint32_t>(); count > 0 && in.good(); --count) {
    std::string name = in.string();
    result.emplace_back(std::move(name), in.string());
  }
  return result;
}

/// This library knows no feature.
std::vector<std::string> decode_features(byte_reader& in, const std::string& path) {
  std::vector<std::string> result;
  for (auto count = in.number<std::uint32_t>(); count > 0 && in.good(); --count) result.push_back(in.string());
  require(!in.good() || result.empty(), SYNCYTE_ERR_VERSION,
          "{}: to read it needs {}, which this library does not know; use a newer Syncyte", path,
          fmt::join(result, ", "));
  return result;
}

dataset decode_dataset(byte_reader& in, std::uint64_t block_bytes, const file_header& header, const std::string& path) {
  dataset one;
  one.key = in.string();
  one.dtype = in.number<std::int32_t>();
  one.kind = in.number<std::int32_t>();
  const auto ndim = in.number<std::uint32_t>();
  require(in.good() && ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_FORMAT, "{}: a dataset of the manifest has {} dimensions",
          path, ndim);
  for (std::uint32_t d = 0; d < ndim; ++d) one.shape.push_back(in.number<std::int64_t>());
  one.offset = in.number<std::uint64_t>();
  if (header.format_version >= 2) one.attributes = decode_attributes(in);
  try {
    checked_row_bytes(one.dtype, one.shape);
  } catch (const own_error& caught) {
    fail(SYNCYTE_ERR_FORMAT, "{}: key '{}' in the manifest: {}", path, one.key, caught.what());
  }
  const std::uint64_t bytes = one.data_bytes();
  require(bytes <= header.file_bytes && one.offset <= header.file_bytes - bytes, SYNCYTE_ERR_FORMAT,
          "{}: the data of key '{}' lies outside the file", path, one.key);
  const std::uint64_t blocks = block_count(bytes, block_bytes);
  require(in.good() && blocks <= in.left() / sizeof(std::uint32_t), SYNCYTE_ERR_FORMAT,
          "{}: the manifest ends within key '{}'", path, one.key);
  one.crc.resize(blocks);
  in.raw(one.crc.data(), blocks * sizeof(std::uint32_t));
  return one;
}

}  // namespace

std::array<std::byte, file_header::bytes> file_header::encode() const {
  file_header sealed = *this;
  sealed.header_crc = crc32c(0, &sealed, offsetof(file_header, header_crc));
  return std::bit_cast<std::array<std::byte, bytes>>(sealed);
}

file_header file_header::decode(const std::array<std::byte, bytes>& raw, const std::string& path) {
  const auto header = std::bit_cast<file_header>(raw);
  require(header.magic == file_header().magic, SYNCYTE_ERR_FORMAT,
          "{}: not a Syncyte checkpoint (its first bytes are another format's)", path);
  require(header.header_crc == crc32c(0, raw.data(), offsetof(file_header, header_crc)), SYNCYTE_ERR_CHECKSUM,
          "{}: the file's header is damaged", path);
  require(header.format_version <= SYNCYTE_CHECKPOINT_FORMAT, SYNCYTE_ERR_VERSION,
          "{}: the file has format {}, this library reads formats up to {}; use a newer Syncyte", path,
          header.format_version, SYNCYTE_CHECKPOINT_FORMAT);
  require(header.format_version >= 1 && header.header_bytes == bytes && header.userblock_bytes <= header.file_bytes &&
              header.userblock_bytes >= bytes && header.manifest_bytes <= header.userblock_bytes - bytes,
          SYNCYTE_ERR_FORMAT, "{}: the file's header contradicts itself", path);
  return header;
}

std::uint64_t dataset::row_bytes() const { return checked_row_bytes(dtype, shape); }

std::uint64_t manifest::block_count(const dataset& one) const {
  return hdf5::block_count(one.data_bytes(), block_bytes);
}

std::vector<std::byte> manifest::encode() const {
  byte_writer out;
  out.number(step);
  out.number(writer_world);
  out.number(block_bytes);
  out.number(static_cast<std::uint32_t>(features.size()));
  for (const std::string& feature : features) out.string(feature);
  encode_attributes(out, attributes);
  out.number(static_cast<std::uint64_t>(datasets.size()));
  for (const dataset& one : datasets) {
    out.string(one.key);
    out.number(one.dtype);
    out.number(one.kind);
    out.number(static_cast<std::uint32_t>(one.shape.size()));
    for (const std::int64_t extent : one.shape) out.number(extent);
    out.number(one.offset);
    encode_attributes(out, one.attributes);
    out.raw(one.crc.data(), one.crc.size() * sizeof(std::uint32_t));
  }
  return out.take();
}

manifest manifest::decode(const std::byte* data, std::size_t bytes, const file_header& header,
                          const std::string& path) {
  byte_reader in(data, bytes);
  manifest result;
  result.step = in.number<std::int64_t>();
  result.writer_world = in.number<std::int64_t>();
  result.block_bytes = in.number<std::uint64_t>();
  if (header.format_version >= 2) {
    result.features = decode_features(in, path);
    result.attributes = decode_attributes(in);
  }
  const auto count = in.number<std::uint64_t>();
  require(in.good() && valid_block_bytes(result.block_bytes), SYNCYTE_ERR_FORMAT, "{}: the manifest contradicts itself",
          path);
  for (std::uint64_t i = 0; i < count; ++i) {
    result.datasets.push_back(decode_dataset(in, result.block_bytes, header, path));
    require(i == 0 || result.datasets[i - 1].key < result.datasets[i].key, SYNCYTE_ERR_FORMAT,
            "{}: the manifest's keys are not in order at '{}'", path, result.datasets[i].key);
  }
  require(in.good() && in.left() == 0, SYNCYTE_ERR_FORMAT, "{}: the manifest's length is wrong", path);
  return result;
}

const dataset* manifest::find(const std::string& key) const {
  const auto found = std::ranges::lower_bound(datasets, key, {}, &dataset::key);
  return found == datasets.end() || found->key != key ? nullptr : &*found;
}

const char* manifest::attribute(const std::string& name) const {
  const auto found = std::ranges::find(attributes, name, &attribute_list::value_type::first);
  return found == attributes.end() ? "" : found->second.c_str();
}

std::vector<extent> manifest::hdf5_metadata(const file_header& header) const {
  std::vector<extent> data;
  for (const dataset& one : datasets) data.push_back({one.offset, one.data_bytes()});
  return complement(std::move(data), header.userblock_bytes, header.file_bytes);
}

std::uint64_t checked_row_bytes(syncyte_dtype_t dtype, const std::vector<std::int64_t>& shape) {
  std::int64_t element = 0;
  require(syncyte_dtype_size(dtype, &element) == SYNCYTE_SUCCESS, SYNCYTE_ERR_TYPE, "unknown dtype {}", dtype);
  auto row = static_cast<std::uint64_t>(element);
  std::uint64_t rows = 1;
  bool overflow = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    require(shape[d] >= 0, SYNCYTE_ERR_SHAPE, "extent {} of dimension {} is negative", shape[d], d);
    std::uint64_t& product = d == 0 ? rows : row;
    overflow |= __builtin_mul_overflow(product, static_cast<std::uint64_t>(shape[d]), &product);
  }
  std::uint64_t all = 0;
  overflow |= __builtin_mul_overflow(row, rows, &all);
  require(
      !overflow && row <= std::numeric_limits<std::int64_t>::max() && all <= std::numeric_limits<std::int64_t>::max(),
      SYNCYTE_ERR_SHAPE, "the tensor has more than 2^63 - 1 bytes");
  return row;
}

std::uint64_t userblock_bytes_for(std::uint64_t manifest_bytes) {
  return std::max<std::uint64_t>(std::bit_ceil(manifest_bytes + file_header::bytes), metadata_image::page_bytes);
}

}  // namespace syncyte::hdf5
