#include "window/direct_locks.hpp"

#include <atomic>
#include <optional>

#include "base/error.hpp"
#include "watchdog/scope.hpp"
#include "window/backoff.hpp"

namespace syncyte::window {

namespace {

constexpr std::size_t element_bytes = 16;

}  // namespace

element_lock::element_lock(part_header& header, std::size_t offset, const topology::node_group& node,
                           const std::string& name)
    : word_(header.elements[offset / element_bytes % part_header::element_locks]) {
  const auto mine = static_cast<std::uint64_t>(node.rank) + 1;
  std::uint64_t holder = 0;
  std::optional<watchdog::scope> watched;
  for (backoff wait; !std::atomic_ref(word_).compare_exchange_weak(holder, mine); holder = 0) {
    wait.pause();
    if (holder == 0 || !wait.is_time_to_look()) continue;
    if (!watched) watched.emplace("window: lock of an element", name, 0);
    base::require(node.is_alive(static_cast<int>(holder) - 1), SYNCYTE_ERR_PEER_DIED,
                  "rank {} died while it changed an element; the window's contents there are damaged",
                  node.members[holder - 1]);
  }
}

element_lock::~element_lock() { std::atomic_ref(word_).store(0); }

}  // namespace syncyte::window
