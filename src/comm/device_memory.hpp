// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/collective_call.hpp"
#include "memory/device_system.hpp"
#include "memory/device_uses.hpp"

namespace syncyte::comm {

/// Zeroed device memory of a node's ranks in one range of addresses of each rank's device: each rank's part follows the
/// one before without a gap. A page lies on the device of the rank that owns its first byte.
class device_memory {
 public:
  /// Allocates `bytes` for this rank, which uses `device`. Collective, as node_memory::allocate(). Throws, on all
  /// ranks, SYNCYTE_ERR_MEMORY, or SYNCYTE_ERR_UNSUPPORTED if devices of the node cannot access each other's memory.
  static std::shared_ptr<device_memory> allocate(collective_call& call, int device, std::size_t bytes,
                                                 const char* what);

  /// Memory that a single rank has already.
  static std::shared_ptr<device_memory> wrap(int device, std::byte* data);

  int device() const { return device_; }
  /// First byte of all parts; null if they are empty.
  std::byte* data() const { return data_; }
  /// This rank's part.
  std::byte* local() const { return data() == nullptr ? nullptr : data() + local_offset_; }
  /// Lets another device of this process access all parts. Throws SYNCYTE_ERR_UNSUPPORTED where it cannot, and for
  /// wrapped memory.
  void allow(int device) const;
  /// Whether atomic operations of all ranks' devices are atomic with each other; no where no rank sees both devices of
  /// a pair, and so cannot know.
  bool has_atomics() const { return has_atomics_; }

 private:
  device_memory() = default;

  int device_ = 0;
  std::byte* data_ = nullptr;
  std::size_t local_offset_ = 0;
  bool has_atomics_ = false;
  std::vector<memory::device_id> devices_;       // of the node's ranks
  std::unique_ptr<memory::device_range> range_;  // null if wrapped, or empty
  std::optional<memory::listed_use> use_;        // of this rank's pages
};

}  // namespace syncyte::comm
