#include "window/direct_locks.hpp"

namespace syncyte::window {

atomics::lock_table element_locks(part_header& header, const topology::node_group& node, const std::string& name) {
  return {
      header.elements, node.rank, [&node](int rank) { return node.is_alive(rank); }, name, {"element", "changed it"}};
}

}  // namespace syncyte::window
