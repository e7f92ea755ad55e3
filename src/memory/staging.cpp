// SPDX-License-Identifier: BSD-3-Clause
#include "memory/staging.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "memory/device.hpp"

namespace syncyte::memory {
namespace {

place on_host(std::byte* data) { return {data, SYNCYTE_MEMORY_HOST, 0}; }

}  // namespace

staging::staging(int device) : device_(device) {
  for (piece& each : pieces_) each.copied = cuda_system().make_event(device);
}

staging::~staging() {
  base::error_of([&] { wait(); });  // the driver may still read the pieces
}

void staging::wait() {
  for (piece& each : pieces_) each.copied->wait();
}

/// The piece whose turn it is, once its last copy has ended.
staging::piece& staging::free_piece() {
  piece& next = pieces_[turn_++ % pieces_.size()];
  if (!next.memory) next.memory = cuda_system().allocate_pinned(device_, piece_bytes);
  next.copied->wait();
  return next;
}

void staging::put(std::byte* target, const std::byte* source, std::size_t bytes) {
  for (std::size_t done = 0, size = 0; done < bytes; done += size) {
    size = std::min(piece_bytes, bytes - done);
    piece& next = free_piece();
    std::memcpy(next.memory.get(), source + done, size);
    copy({target + done, SYNCYTE_MEMORY_CUDA, device_}, on_host(next.memory.get()), size, own_stream(device_));
    next.copied->record(own_stream(device_));
  }
}

void staging::get(const std::byte* source, std::size_t bytes,
                  const std::function<void(std::span<const std::byte>)>& use) {
  std::size_t queued = 0;
  const auto queue = [&]() -> piece* {
    if (queued == bytes) return nullptr;
    piece& next = free_piece();
    next.bytes = std::min(piece_bytes, bytes - queued);
    copy(on_host(next.memory.get()), {const_cast<std::byte*>(source) + queued, SYNCYTE_MEMORY_CUDA, device_},
         next.bytes, own_stream(device_));
    next.copied->record(own_stream(device_));
    queued += next.bytes;
    return &next;
  };
  for (piece* current = queue(); current != nullptr;) {
    piece* const following = queue();
    current->copied->wait();
    use({current->memory.get(), current->bytes});
    current = following;
  }
}

}  // namespace syncyte::memory
