// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <memory>

#include "cache/region.hpp"

namespace syncyte::cache {

/// A stream of a device. Null: the device's default stream.
struct device_stream {
  int device;
  void* stream;

  auto operator<=>(const device_stream&) const = default;
};

/// Slices of regions on devices, from which streams allocate, in any thread. Work that a stream queues may use the
/// blocks that it acquires. A forked child releases the blocks that it inherits, and does nothing else.

/// Makes the stream acquire blocks from these bytes of the region, until it inserts another slice or is cleared. Slices
/// overlap only if they belong to different streams and all of them may. Throws SYNCYTE_ERR_BUSY for others,
/// SYNCYTE_ERR_ARGUMENT as insert(), SYNCYTE_ERR_UNSUPPORTED for a region on the host and in a forked child.
void insert_on_stream(std::shared_ptr<region> from, void* stream, std::int64_t offset, std::int64_t bytes,
                      bool may_overlap);

/// Removes all slices of a stream, after all that it has queued. Throws SYNCYTE_ERR_BUSY, and changes nothing, while
/// blocks of them are in use, or are released and wait for other streams.
void clear_stream(const device_stream& of);

bool has_slice(const device_stream& asked);

/// Acquires a block of the stream's last slice; null if it has none. Throws SYNCYTE_ERR_MEMORY if the slice has no
/// room.
void* acquire_on_stream(const device_stream& of, std::uint64_t bytes);

/// Notes that work on another stream uses a block. Once the block is released, it is acquired again only after all that
/// the other stream has queued until then. Throws SYNCYTE_ERR_ARGUMENT for a pointer that is not a block.
void record_stream(const device_stream& of, const void* data, void* other);

/// Releases a block. Throws SYNCYTE_ERR_ARGUMENT for a pointer that is not a block of the stream.
void release_on_stream(const device_stream& of, void* data);

/// Whether the pointer lies in a slice of any stream.
bool is_in_stream_slice(const void* data);

}  // namespace syncyte::cache
