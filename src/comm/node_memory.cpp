#include "comm/node_memory.hpp"

#include <numeric>
#include <utility>

#include "memory/capacity.hpp"
#include "memory/huge_pages.hpp"
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

node_memory::node_memory(memory::segment segment, std::vector<std::size_t> offsets, int rank)
    : segment_(std::move(segment)), offsets_(std::move(offsets)), rank_(rank) {}

std::shared_ptr<node_memory> node_memory::allocate(collective_call& call, std::size_t bytes, const char* what,
                                                   bool touch) {
  const topology::node_group& node = call.comm().node();
  const std::uint64_t mine = bytes;
  const std::vector<std::uint64_t> sizes = mpi::allgather(mine, node.comm);
  const memory::capacity have = node.host == MPI_COMM_NULL ? memory::capacity{} : memory::available();
  const std::vector<demand> demands = machine_demands(node, mine, have);
  std::vector<std::size_t> offsets;
  call.attempt([&] {
    offsets = part_offsets(sizes);
    if (node.rank == 0) memory::require_available(offsets.back(), what);
    if (!demands.empty()) require_machine_has(demands, mine, have, what);
  });
  call.agree();
  topology::shared_attempt attempt = topology::share_segment(node.comm, offsets.back(), node.method);
  std::shared_ptr<node_memory> result;
  call.attempt([&] {
    if (attempt.error) throw *attempt.error;
    result.reset(new node_memory(std::move(attempt.segment), std::move(offsets), node.rank));
    if (touch) memory::touch_and_collapse(result->local().data(), result->local().size());
  });
  call.agree();
  return result;
}

std::span<std::byte> node_memory::part(int node_rank) const {
  const auto place = static_cast<std::size_t>(node_rank);
  return {segment_.data() + offsets_[place], offsets_[place + 1] - offsets_[place]};
}

std::span<std::byte> node_memory::all() const { return {segment_.data(), offsets_.back()}; }

}  // namespace syncyte::comm
