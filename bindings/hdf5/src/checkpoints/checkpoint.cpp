// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/checkpoint.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/blocks.hpp"
#include "base/crc32c.hpp"
#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;  // small enough to be in cache when it is summed

std::string text_of(const std::int64_t* extents, std::size_t count) {
  return fmt::format("({})", fmt::join(extents, extents + count, ", "));
}

}  // namespace

const dataset& checkpoint::find(const std::string& key) const {
  const dataset* found = contents_.find(key);
  expect(found != nullptr, SYNCYTE_ERR_NOT_FOUND, fmt::format("'{}'", path()), "key", fmt::format("'{}'", key),
         "one of its {} keys", contents_.datasets.size());
  return *found;
}

void checkpoint::check_target(const dataset& from, std::int64_t first_row, const syncyte_buffer_t& target) const {
  const std::string object = fmt::format("key '{}' of '{}'", from.key, path());
  expect(target.dtype == from.dtype, SYNCYTE_ERR_TYPE, object, "dtype of the array", syncyte_dtype_name(target.dtype),
         "{}", syncyte_dtype_name(from.dtype));
  const auto ndim = static_cast<std::size_t>(target.ndim);
  const bool fits =
      ndim == from.shape.size() && (ndim < 2 || std::equal(from.shape.begin() + 1, from.shape.end(), target.shape + 1));
  if (!fits) {
    const std::string has = text_of(from.shape.data(), from.shape.size()), given = text_of(target.shape, ndim);
    throw own_error(
        SYNCYTE_ERR_SHAPE,
        fmt::format("{} has shape {}, the buffer has {}; all but the first extent must be equal", object, has, given),
        {.object = object,
         .argument = "shape of the array",
         .ndim = target.ndim,
         .value = in_brackets(given),
         .expected = in_brackets(has) + ", but for the number of rows"});
  }
  const std::int64_t rows = ndim == 0 ? 1 : target.shape[0];
  expect(first_row >= 0 && rows <= from.rows() && first_row <= from.rows() - rows, SYNCYTE_ERR_INDEX, object,
         "first_row", first_row, "0 to {} for {} of {} rows", from.rows() - rows, rows, from.rows());
}

std::uint32_t checkpoint::read_piece(std::uint64_t offset, std::byte* target, std::uint64_t bytes, std::uint32_t crc) {
  for (std::uint64_t done = 0; done < bytes; done += piece_bytes) {
    const std::size_t piece = std::min(piece_bytes, bytes - done);
    source_.read(offset + done, target + done, piece);
    crc = crc32c(crc, target + done, piece);
  }
  bytes_read_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  return crc;
}

// Reads bytes of a block that only its checksum needs.
std::uint32_t checkpoint::skip(std::uint64_t offset, std::uint64_t bytes, std::uint32_t crc) {
  std::vector<std::byte> scratch(std::min(piece_bytes, bytes));
  for (std::uint64_t done = 0; done < bytes; done += scratch.size())
    crc = read_piece(offset + done, scratch.data(), std::min<std::uint64_t>(scratch.size(), bytes - done), crc);
  return crc;
}

void checkpoint::read_block(const dataset& from, const block_part& part, std::byte* target) {
  std::uint32_t crc = skip(from.offset + part.block_begin, part.begin - part.block_begin, 0);
  crc = read_piece(from.offset + part.begin, target, part.end - part.begin, crc);
  crc = skip(from.offset + part.end, part.block_end - part.end, crc);
  require(crc == from.crc[part.number], SYNCYTE_ERR_CHECKSUM,
          "'{}': key '{}' is damaged in block {} (bytes {} to {} of its data): CRC32C is {:#010x}, expected {:#010x}",
          path(), from.key, part.number, part.block_begin, part.block_end - 1, crc, from.crc[part.number]);
}

void checkpoint::read(const dataset& from, const array_bytes& target) {
  write_in_pieces(target, contents_.block_bytes,
                  [&](std::uint64_t first, std::span<std::byte> bytes) { read_bytes(from, first, bytes); });
}

void checkpoint::read_bytes(const dataset& from, std::uint64_t first, std::span<std::byte> target) {
  for_each_block(first, first + target.size(), from.data_bytes(), contents_.block_bytes,
                 [&](const block_part& part) { read_block(from, part, target.data() + (part.begin - first)); });
}

}  // namespace syncyte::hdf5
