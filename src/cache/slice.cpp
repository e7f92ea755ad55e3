// SPDX-License-Identifier: BSD-3-Clause
#include "cache/slice.hpp"

#include <fmt/ranges.h>

#include <utility>

#include "base/error.hpp"

namespace syncyte::cache {
namespace {

void check_range(const region& from, std::int64_t offset, std::int64_t bytes) {
  const auto whole = static_cast<std::int64_t>(from.bytes());
  constexpr auto unit = static_cast<std::int64_t>(heap::unit);
  base::expect(offset >= 0 && offset <= whole && offset % unit == 0, SYNCYTE_ERR_ARGUMENT, "offset", offset,
               "a multiple of {} from 0 to {}, the size of the cache", unit, whole);
  base::expect(bytes >= 1 && bytes <= whole - offset && bytes % unit == 0, SYNCYTE_ERR_ARGUMENT, "size", bytes,
               "a multiple of {0} from {0} to {1}, the rest of the cache from offset {2} on", unit, whole - offset,
               offset);
}

std::shared_ptr<region> checked(std::shared_ptr<region> from, std::int64_t offset, std::int64_t bytes) {
  check_range(*from, offset, bytes);
  return from;
}

}  // namespace

slice::slice(std::shared_ptr<region> from, std::int64_t offset, std::int64_t bytes)
    : region_(checked(std::move(from), offset, bytes)),
      begin_(region_->data() + offset),
      offset_(static_cast<std::uint64_t>(offset)),
      bytes_(static_cast<std::uint64_t>(bytes)),
      heap_(bytes_) {}

void* slice::acquire(std::uint64_t bytes) {
  void* const found = try_acquire(bytes);
  if (found == nullptr) [[unlikely]]
    refuse_size(bytes);
  return found;
}

void* slice::try_acquire(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto offset = heap_.acquire(bytes);
  return offset ? begin_ + *offset : nullptr;
}

std::uint64_t slice::offset_of(const void* data) const {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(data) - begin_);
}

std::uint64_t slice::release(const void* data) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t offset = offset_of(data);
  base::expect(heap_.release(offset), SYNCYTE_ERR_ARGUMENT, "data",
               fmt::format("at offset {} of the shared cache", offset_ + offset), "the begin of a block in use");
  return heap_.used_blocks();
}

void slice::require_block(const void* data) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t offset = offset_of(data);
  base::expect(heap_.is_used(offset), SYNCYTE_ERR_ARGUMENT, "data",
               fmt::format("at offset {} of the shared cache", offset_ + offset), "the begin of a block in use");
}

std::uint64_t slice::used_blocks() {
  const std::lock_guard lock(mutex_);
  return heap_.used_blocks();
}

std::vector<std::string> slice::describe_used(std::size_t most) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> result;
  for (const auto& each : heap_.used(most))
    result.push_back(fmt::format("{} ({} bytes)", offset_ + each.offset, each.bytes));
  return result;
}

std::string slice::describe() const { return fmt::format("[{}, {})", offset_, offset_ + bytes_); }

void slice::refuse_size(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  base::fail(SYNCYTE_ERR_MEMORY,
             "{} bytes do not fit the shared cache's slice {}: {} of its {} bytes are free, {} of them in one piece; "
             "free tensors, or make the slice larger",
             bytes, describe(), heap_.free_bytes(), bytes_, heap_.largest_hole());
}

void require_unused(const std::vector<slice*>& slices, const char* whose) {
  std::uint64_t used = 0;
  std::vector<std::string> named;
  for (slice* const each : slices) {
    used += each->used_blocks();
    const auto more = each->describe_used(most_named - named.size());
    named.insert(named.end(), more.begin(), more.end());
  }
  base::require(used == 0, SYNCYTE_ERR_BUSY,
                "{} still in {} slices of the shared cache, at offset {}{}; drop what refers to them first "
                "(gradients, optimizers, results, numpy views and tracebacks do too)",
                used == 1 ? "1 tensor is" : fmt::format("{} tensors are", used), whose, fmt::join(named, ", "),
                used > named.size() ? ", ..." : "");
}

}  // namespace syncyte::cache
