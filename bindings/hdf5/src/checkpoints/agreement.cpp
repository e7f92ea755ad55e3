// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/agreement.hpp"

#include <fmt/ranges.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "base/crc32c.hpp"
#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

// Properties of an entry that must be equal on all ranks, in the order of texts_of().
constexpr const char* properties[] = {"key", "kind", "dtype", "shape", "CRC32C of the replicated contents"};

// The shape to compare: without the number of rows of a sharded entry, which each rank chooses.
std::string shape_text(const entry& one) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : one.shape()) extents.push_back(fmt::format("{}", extent));
  if (one.sharded()) extents[0] = "rows";
  return fmt::format("({})", fmt::join(extents, ", "));
}

std::uint32_t sum_of(const entry& one, std::uint64_t block_bytes) {
  std::uint32_t sum = 0;
  read_in_pieces(one.part(), block_bytes, [&](std::uint64_t, std::span<const std::byte> bytes) {
    sum = crc32c(sum, bytes.data(), bytes.size());
  });
  return sum;
}

// The path, then the properties of each entry, as text for messages; a null byte ends each text.
std::string texts_of(const arguments& mine, bool contents) {
  std::string texts;
  const auto add = [&](const std::string& text) { texts.append(text.c_str(), text.size() + 1); };
  add(fmt::format("'{}'", mine.path));
  for (const entry& one : mine.entries) {
    add(fmt::format("'{}'", one.key));
    add(one.sharded() ? "sharded" : "replicated");
    add(syncyte_dtype_name(one.buffer.dtype));
    add(shape_text(one));
    add(contents && !one.sharded() ? fmt::format("{:#010x}", sum_of(one, mine.block_bytes)) : "not compared");
  }
  return texts;
}

using parts = std::vector<std::string_view>;

parts split(std::string_view texts) {
  parts result;
  for (std::size_t end = 0; (end = texts.find('\0')) != texts.npos; texts.remove_prefix(end + 1))
    result.push_back(texts.substr(0, end));
  return result;
}

// Throws an error that names the first difference between this rank and rank 0, and the number of entries that differ.
void require_equal(const parts& mine, const parts& first) {
  constexpr std::size_t width = std::size(properties);
  const auto at = [](const parts& all, std::size_t i) { return i < all.size() ? all[i] : "missing"; };
  const std::size_t size = std::max(mine.size(), first.size());
  std::size_t differing = size;
  std::set<std::size_t> entries;
  for (std::size_t i = size; i-- > 0;) {
    if (at(mine, i) == at(first, i)) continue;
    differing = i;
    if (i > 0) entries.insert((i - 1) / width);
  }
  if (differing == size) return;
  std::string what = "path";
  const std::size_t property = (differing - 1) % width;
  if (differing > 0)
    what = property == 0 ? fmt::format("entry {}", (differing - 1) / width)
                         : fmt::format("{}: {}", mine[differing - property], properties[property]);
  std::string more = entries.size() > 1 ? fmt::format("; {} entries differ", entries.size()) : "";
  if (mine.size() != first.size())
    more += fmt::format("; count is {}, but {} on rank 0", mine.size() / width, first.size() / width);
  const std::string own(at(mine, differing)), expected(at(first, differing));
  const bool is_shape = what.ends_with(": shape");
  const auto field = [&](const std::string& text) { return is_shape ? in_brackets(text) : text; };
  throw own_error(SYNCYTE_ERR_MISMATCH, fmt::format("{} is {}, but {} on rank 0{}", what, own, expected, more),
                  {.argument = what,
                   .ndim = is_shape ? static_cast<int>(std::count(own.begin(), own.end(), ',')) + 1 : 0,
                   .value = field(own),
                   .expected = fmt::format("{}, as on rank 0{}", field(expected), more)});
}

// Called after a mismatch: each rank compares itself with rank 0, and all ranks throw an error about the differences.
void throw_differences(const ranks& all, const char* operation, const std::string& mine) {
  std::string first = all.is_rank_0() ? mine : "";
  all.broadcast_resized(operation, first);
  all.together(operation, [&] { require_equal(split(mine), split(first)); });
}

}  // namespace

void agree_on_arguments(const ranks& all, syncyte_status_t status, const char* operation, const arguments& mine,
                        bool contents) {
  const auto hash_of = [](const std::string& text) {
    return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()));
  };
  all.agree(status, operation,
            {{"block_bytes", static_cast<std::int64_t>(mine.block_bytes)},
             {"step", mine.step},
             {"hash of attributes", hash_of(mine.attributes)}});
  std::string texts;
  const syncyte_status_t described = attempt([&] { texts = texts_of(mine, contents); });
  const syncyte_status_t verdict =
      attempt([&] { all.agree(described, operation, {{"hash of path and entries", hash_of(texts)}}); });
  if (verdict == SYNCYTE_ERR_MISMATCH) throw_differences(all, operation, texts);
  check(verdict);
}

}  // namespace syncyte::hdf5
