// SPDX-License-Identifier: BSD-3-Clause
#include "comm/node_memory.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "memory/capacity.hpp"
#include "memory/huge_pages.hpp"
#include "memory/mapping.hpp"
#include "mpi/small_collectives.hpp"
#include "topology/shared_attempt.hpp"

namespace syncyte::comm {
namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/// Offsets of the node's parts; throws on overflow.
std::vector<std::size_t> part_offsets(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::size_t> offsets{0};
  for (const auto size : sizes) {
    std::size_t end = 0;
    base::require(!__builtin_add_overflow(offsets.back(), size, &end) && end < (std::size_t{1} << 62),
                  SYNCYTE_ERR_MEMORY, "the node's ranks together ask for more than 2^62 bytes");
    offsets.push_back(end);
  }
  return offsets;
}

/// Offset of the memory behind the parts, which shares no cache line with them.
std::size_t behind(std::size_t parts) { return memory::round_up(parts, 64); }

void require_within(std::uint64_t together, std::uint64_t mine, const memory::capacity& have, const char* what) {
  base::require(together <= have.bytes, SYNCYTE_ERR_MEMORY,
                "{} needs {} bytes, {} together with the other ranks of this machine, but only {} are available ({})",
                what, mine, together, have.bytes, have.limit);
}

/// Bytes that a rank asks for, and the control group that limits it.
struct demand {
  std::uint64_t bytes;
  std::uint64_t group;
};

/// The demands of all ranks of the machine; nothing where the machine is one node, whose first rank adds them up.
std::vector<demand> machine_demands(const topology::node_group& node, std::uint64_t bytes,
                                    const memory::capacity& have) {
  if (node.host == MPI_COMM_NULL) return {};
  return mpi::allgather(demand{bytes, have.group}, node.host);
}

/// Checks that all ranks of the machine fit its memory, and those of a control group its limit. On a machine of several
/// nodes (ranks cannot share, or each has a container) every node alone might pass.
void require_machine_has(const std::vector<demand>& demands, std::uint64_t bytes, const memory::capacity& have,
                         const char* what) {
  std::uint64_t all = 0;
  std::uint64_t group = 0;
  for (const demand& each : demands) {
    all = saturating_sum(all, each.bytes);
    if (each.group == have.group) group = saturating_sum(group, each.bytes);
  }
  require_within(all, bytes, memory::machine_available(), what);
  require_within(group, bytes, have, what);
}

}  // namespace

node_memory::node_memory(memory::segment segment, std::size_t bytes, const topology::node_group& node)
    : segment_(std::move(segment)),
      bytes_(bytes),
      offsets_at_(behind(bytes)),
      node_ranks_(node.size),
      rank_(node.rank),
      registration_(all()) {}

std::shared_ptr<node_memory> node_memory::allocate(collective_call& call, std::size_t bytes, const char* what,
                                                   std::span<const std::byte> table, bool touch) {
  const topology::node_group& node = call.comm().node();
  const std::uint64_t mine = bytes;
  const std::vector<std::uint64_t> sizes = mpi::allgather(mine, node.comm);
  const memory::capacity have = node.host == MPI_COMM_NULL ? memory::capacity{} : memory::available();
  const std::vector<demand> demands = machine_demands(node, node.rank == 0 ? mine + table.size() : mine, have);
  std::vector<std::size_t> offsets;
  std::size_t whole = 0;
  call.attempt([&] {
    offsets = part_offsets(sizes);
    whole = behind(offsets.back()) + std::as_bytes(std::span(offsets)).size() + table.size();
    if (node.rank == 0) memory::require_available(whole, what);
    if (!demands.empty()) require_machine_has(demands, mine, have, what);
  });
  call.agree();
  topology::shared_attempt attempt = topology::share_segment(node.comm, whole, node.method);
  std::shared_ptr<node_memory> result;
  call.attempt([&] {
    if (attempt.error) throw *attempt.error;
    result.reset(new node_memory(std::move(attempt.segment), offsets.back(), node));
    const auto place = static_cast<std::size_t>(node.rank);
    if (touch) memory::touch_and_collapse(result->segment_.data() + offsets[place], sizes[place]);
    if (node.rank == 0) result->write(offsets, table);
  });
  call.agree();
  return result;
}

void node_memory::write(std::span<const std::size_t> offsets, std::span<const std::byte> table) {
  std::byte* const at = segment_.data() + offsets_at_;
  std::ranges::copy(table, std::ranges::copy(std::as_bytes(offsets), at).out);
}

std::span<std::byte> node_memory::part(int node_rank) const {
  const std::size_t* const begin = offsets() + node_rank;
  return {segment_.data() + begin[0], begin[1] - begin[0]};
}

std::span<std::byte> node_memory::all() const { return {segment_.data(), bytes_}; }

std::shared_ptr<const std::byte[]> share_table(collective_call& call, std::span<const std::byte> table,
                                               const char* what) {
  const communicator& comm = call.comm();
  const auto node_ranks = static_cast<std::size_t>(comm.size() / comm.node().count);  // equal on all nodes
  if (node_ranks * table.size() > memory::small_page_bytes())
    return table_of<std::byte>(node_memory::allocate(call, 0, what, table));
  const std::shared_ptr<std::byte[]> copy(new std::byte[table.size()]);
  std::ranges::copy(table, copy.get());
  return copy;
}

}  // namespace syncyte::comm
