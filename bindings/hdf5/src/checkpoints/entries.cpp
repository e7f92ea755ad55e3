// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/entries.hpp"

#include <algorithm>
#include <climits>
#include <limits>
#include <unordered_set>

#include "base/blocks.hpp"
#include "base/errors.hpp"
#include "metadata/manifest.hpp"
#include "syncyte/memory.h"

namespace syncyte::hdf5 {
namespace {

constexpr std::size_t longest_key = 1023;
constexpr std::size_t most_attribute_bytes = std::size_t{16} << 20;

// Bytes of structs in the first release.
constexpr std::size_t first_entry_size = 32, first_options_size = 24;

bool empty(const syncyte_buffer_t& buffer) {
  return std::any_of(buffer.shape, buffer.shape + buffer.ndim, [](std::int64_t extent) { return extent == 0; });
}

bool contiguous(const syncyte_buffer_t& buffer) {
  const const_buffer dense(buffer.data, static_cast<dtype>(buffer.dtype),
                           {buffer.shape, static_cast<std::size_t>(buffer.ndim)});
  for (int d = 0; d < buffer.ndim; ++d)
    if (buffer.shape[d] != 1 && buffer.strides[d] != dense.get()->strides[d]) return empty(buffer);
  return true;
}

/// Throws unless a buffer is in host memory, or on a device that there is.
void check_place(const syncyte_buffer_t& buffer, const std::string& what) {
  if (buffer.memory == SYNCYTE_MEMORY_HOST) return;
  const auto devices = detail::fetch<std::int32_t>(syncyte_memory_device_count, buffer.memory);
  expect(buffer.device >= 0 && buffer.device < devices, SYNCYTE_ERR_UNSUPPORTED, what, "memory", buffer.memory,
         "{} (host memory), or {} with one of {} devices", static_cast<syncyte_memory_t>(SYNCYTE_MEMORY_HOST),
         static_cast<syncyte_memory_t>(SYNCYTE_MEMORY_CUDA), devices);
}

std::string check_key(const char* key, const std::string& place) {
  expect(key != nullptr, SYNCYTE_ERR_ARGUMENT, place, "key", "null", "1 to {} bytes", longest_key);
  const std::string text(key, strnlen(key, longest_key + 1));
  expect(!text.empty() && text.size() <= longest_key, SYNCYTE_ERR_ARGUMENT, place, "key",
         text.empty() ? "empty" : "longer", "1 to {} bytes", longest_key);
  return text;
}

/// The array `data` of an entry: its part on this rank.
void set_data(entry& of, const syncyte_buffer_t* data, memory_use use) {
  const std::string name = fmt::format("data of key '{}'", of.key);
  of.buffer = checked_buffer(data, name, use);
  expect(!of.sharded() || of.buffer.ndim > 0, SYNCYTE_ERR_SHAPE, name, "array", "of no dimensions",
         "1 or more, to be sharded by rows");
  of.row_bytes = checked_row_bytes(of.buffer.dtype, of.shape());
}

entry checked_entry(const syncyte_checkpoint_entry_t* given, std::int64_t number, memory_use use) {
  const std::string place = fmt::format("entries[{}]", number);
  const auto raw = read_struct(given, place, first_entry_size);
  entry result;
  result.key = check_key(raw.key, place);
  expect(raw.kind == SYNCYTE_ENTRY_REPLICATED || raw.kind == SYNCYTE_ENTRY_SHARDED, SYNCYTE_ERR_ARGUMENT,
         fmt::format("key '{}'", result.key), "kind", raw.kind, "0 (replicated) or 1 (sharded)");
  result.kind = raw.kind;
  set_data(result, raw.data, use);
  result.global_rows = result.rows();
  return result;
}

}  // namespace

syncyte_buffer_t checked_buffer(const syncyte_buffer_t* given, const std::string& what, memory_use use) {
  const auto buffer = read_struct(given, what, SYNCYTE_BUFFER_FIRST_SIZE);
  expect(buffer.ndim >= 0 && buffer.ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_SHAPE, what, "ndim", buffer.ndim, "0 to {}",
         SYNCYTE_MAX_NDIM);
  check_place(buffer, what);
  expect(use == memory_use::read || buffer.read_only == 0, SYNCYTE_ERR_ARGUMENT, what, "read_only", buffer.read_only,
         "0: the memory would be written");
  try {
    checked_row_bytes(buffer.dtype, {buffer.shape, buffer.shape + buffer.ndim});
  } catch (const own_error& caught) {
    fail(detail::raw(caught.code()), "{}: {}", what, caught.what());
  }
  expect(contiguous(buffer), SYNCYTE_ERR_SHAPE, what, "array", "not contiguous", "a dense row-major copy");
  expect(buffer.data != nullptr || empty(buffer), SYNCYTE_ERR_ARGUMENT, what, "data", "null", "an address");
  return buffer;
}

arguments check_arguments(const char* path, const syncyte_checkpoint_options_t* options) {
  arguments result;
  expect(path != nullptr && *path != '\0', SYNCYTE_ERR_ARGUMENT, "", "path", path == nullptr ? "null" : "empty",
         "the name of a file");
  result.path = path;
  expect(result.path.size() < PATH_MAX, SYNCYTE_ERR_ARGUMENT, "", "path",
         fmt::format("of {} bytes", result.path.size()), "at most {}", PATH_MAX - 1);
  result.block_bytes = default_block_bytes;
  if (options == nullptr) return result;
  const auto chosen = read_struct(options, "options", first_options_size);
  result.step = chosen.step;
  if (chosen.attributes != nullptr) result.attributes = chosen.attributes;
  expect(result.attributes.size() <= most_attribute_bytes, SYNCYTE_ERR_ARGUMENT, "", "options->attributes",
         fmt::format("of {} bytes", result.attributes.size()), "at most {}", most_attribute_bytes);
  if (chosen.block_bytes != 0) result.block_bytes = static_cast<std::uint64_t>(chosen.block_bytes);
  expect(valid_block_bytes(result.block_bytes), SYNCYTE_ERR_ARGUMENT, "", "options->block_bytes", chosen.block_bytes,
         "0 or a power of two from 4096 to 2^30");
  return result;
}

arguments check_arguments(memory_use use, const char* path, std::int64_t count,
                          const syncyte_checkpoint_entry_t* entries, const syncyte_checkpoint_options_t* options) {
  arguments result = check_arguments(path, options);
  expect(count >= 0, SYNCYTE_ERR_ARGUMENT, "", "count", count, "0 or more");
  expect(entries != nullptr || count == 0, SYNCYTE_ERR_ARGUMENT, "", "entries", "null", "{} entries", count);
  std::unordered_set<std::string> keys;
  const auto* const first = reinterpret_cast<const std::byte*>(entries);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto* const given =
        reinterpret_cast<const syncyte_checkpoint_entry_t*>(first + static_cast<std::size_t>(i) * entries->struct_size);
    result.entries.push_back(checked_entry(given, i, use));
    expect(given->struct_size == entries->struct_size, SYNCYTE_ERR_ARGUMENT, fmt::format("entries[{}]", i),
           "struct_size", given->struct_size, "{}, as in entries[0]", entries->struct_size);
    require(keys.insert(result.entries.back().key).second, SYNCYTE_ERR_ARGUMENT, "key '{}' appears twice in entries",
            result.entries.back().key);
  }
  return result;
}

void append_fields(arguments& to, syncyte_comm_t comm, syncyte_bundle_t bundle) {
  const communicator own = borrowed<syncyte::bundle>(bundle)->comm();
  expect(own.id() == borrowed<communicator>(comm)->id(), SYNCYTE_ERR_ARGUMENT, "", "bundle", "of another communicator",
         "a bundle of comm");
  std::unordered_set<std::string> keys;
  for (const entry& one : to.entries) keys.insert(one.key);
  const auto count = detail::fetch<std::int64_t>(syncyte_bundle_fields, bundle);
  for (std::int64_t number = 0; number < count; ++number) {
    entry& one = to.entries.emplace_back();
    one.field = std::make_shared<bundle_field>(bundle, number);
    one.key = check_key(one.field->name().c_str(), fmt::format("field {} of the bundle", number));
    one.kind = SYNCYTE_ENTRY_SHARDED;
    const syncyte_buffer_t rows = one.field->rows();
    set_data(one, &rows, memory_use::write);
    require(keys.insert(one.key).second, SYNCYTE_ERR_ARGUMENT,
            "key '{}' is a field of the bundle and among the entries", one.key);
  }
}

void cut_fields(const ranks& all, std::vector<entry>& entries) {
  for (entry& one : entries) {
    if (!one.field) continue;
    one.field->divide(all);
    one.buffer = one.field->rows();
  }
}

void for_each_sharded(const ranks& all, const std::vector<entry>& entries,
                      const std::function<void(std::size_t, const std::vector<std::int64_t>&)>& use) {
  const auto size = static_cast<std::size_t>(all.size());
  const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{1} << 17) / size);  // 1 MiB of numbers
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].sharded()) numbers.push_back(i);
  for (std::size_t begin = 0; begin < numbers.size(); begin += at_once) {
    const std::size_t count = std::min(at_once, numbers.size() - begin);
    std::vector<std::int64_t> mine(count);
    for (std::size_t i = 0; i < count; ++i) mine[i] = entries[numbers[begin + i]].rows();
    const std::vector<std::int64_t> table = all.gather(mine);
    std::vector<std::int64_t> rows(size);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t r = 0; r < size; ++r) rows[r] = table[r * count + i];
      use(numbers[begin + i], rows);
    }
  }
}

void place_rows(const ranks& all, std::vector<entry>& entries) {
  std::string overflowing;
  for_each_sharded(all, entries, [&](std::size_t i, const std::vector<std::int64_t>& rows) {
    entry& one = entries[i];
    std::int64_t before = 0;
    bool overflow = false;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (static_cast<std::int32_t>(r) == all.rank()) one.first_row = before;
      overflow |= __builtin_add_overflow(before, rows[r], &before);
    }
    std::int64_t bytes = 0;
    overflow |= __builtin_mul_overflow(before, static_cast<std::int64_t>(one.row_bytes), &bytes);
    one.global_rows = before;
    if (overflow && overflowing.empty()) overflowing = one.key;
  });
  require(overflowing.empty(), SYNCYTE_ERR_SHAPE, "all ranks' rows of key '{}' have more than 2^63 - 1 bytes",
          overflowing);
}

}  // namespace syncyte::hdf5
