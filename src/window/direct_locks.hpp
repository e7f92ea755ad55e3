#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "topology/node_group.hpp"

namespace syncyte::window {

/// What lies before each rank's part, in memory that the node shares: the rank's lock, and locks of elements.
struct part_header {
  static constexpr std::size_t element_locks = 64;

  std::uint64_t
      lock;  ///< 0 free; rank + 1 of an exclusive holder in the upper half, number of shared ones in the lower
  std::uint64_t unused[7];
  std::uint64_t elements[element_locks];  ///< 0 free, otherwise the holder's rank within the node, plus 1
};
inline constexpr std::size_t part_alignment = 64;
static_assert(sizeof(part_header) % part_alignment == 0);

/// Holds one of a part's element locks, chosen by the element's offset, for operations wider than the processor's
/// atomics.
class element_lock {
 public:
  /// Waits; throws SYNCYTE_ERR_PEER_DIED if the holder died. `name` is the window's, for the watchdog.
  element_lock(part_header& header, std::size_t offset, const topology::node_group& node, const std::string& name);
  ~element_lock();
  element_lock(const element_lock&) = delete;
  element_lock& operator=(const element_lock&) = delete;

 private:
  std::uint64_t& word_;
};

}  // namespace syncyte::window
