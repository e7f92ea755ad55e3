// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/device_pieces.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "syncyte/memory.hpp"

namespace syncyte::hdf5 {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{32} << 20;

syncyte_buffer_t bytes_at(std::byte* data, std::uint64_t count, syncyte_memory_t memory, int device) {
  syncyte_buffer_t result SYNCYTE_BUFFER_INIT;
  const auto extent = static_cast<std::int64_t>(count);
  check(syncyte_buffer_set(data, SYNCYTE_UINT8, 1, &extent, &result));
  result.memory = memory;
  result.device = device;
  return result;
}

/// Calls use(offset in the array, first byte in the dataset, bytes in host memory) for pieces of a device's array.
template <class Use>
void for_each_piece(const array_bytes& of, std::uint64_t block_bytes, Use&& use) {
  const std::uint64_t most = std::max(piece_bytes, block_bytes), end = of.first + of.count;
  syncyte::pooled<std::uint8_t> host(static_cast<std::size_t>(std::min(most, of.count)));
  for (std::uint64_t first = of.first; first < end;) {
    const std::uint64_t next = std::min(end, (first / most + 1) * most);
    use(first - of.first, first,
        std::as_writable_bytes(std::span(host.data(), static_cast<std::size_t>(next - first))));
    first = next;
  }
}

}  // namespace

void read_in_pieces(const array_bytes& from, std::uint64_t block_bytes,
                    const std::function<void(std::uint64_t, std::span<const std::byte>)>& use) {
  auto* const data = static_cast<std::byte*>(from.array.data);
  if (from.array.memory == SYNCYTE_MEMORY_HOST) return use(from.first, {data, static_cast<std::size_t>(from.count)});
  for_each_piece(from, block_bytes, [&](std::uint64_t offset, std::uint64_t first, std::span<std::byte> host) {
    const auto source = bytes_at(data + offset, host.size(), from.array.memory, from.array.device);
    const auto target = bytes_at(host.data(), host.size(), SYNCYTE_MEMORY_HOST, 0);
    check(syncyte_memory_copy(&target, &source, nullptr));
    use(first, host);
  });
}

void write_in_pieces(const array_bytes& to, std::uint64_t block_bytes,
                     const std::function<void(std::uint64_t, std::span<std::byte>)>& fill) {
  auto* const data = static_cast<std::byte*>(to.array.data);
  if (to.array.memory == SYNCYTE_MEMORY_HOST) return fill(to.first, {data, static_cast<std::size_t>(to.count)});
  for_each_piece(to, block_bytes, [&](std::uint64_t offset, std::uint64_t first, std::span<std::byte> host) {
    fill(first, host);
    const auto source = bytes_at(host.data(), host.size(), SYNCYTE_MEMORY_HOST, 0);
    const auto target = bytes_at(data + offset, host.size(), to.array.memory, to.array.device);
    check(syncyte_memory_copy(&target, &source, nullptr));
  });
}

}  // namespace syncyte::hdf5
