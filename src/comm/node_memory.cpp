#include "comm/node_memory.hpp"

#include <numeric>
#include <utility>

#include "comm/mpi.hpp"
#include "memory/capacity.hpp"
#include "memory/huge_pages.hpp"

namespace syncyte::comm {
namespace {

/// Where each of the node's parts begins; throws on overflow.
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

}  // namespace

node_memory::node_memory(memory::segment segment, std::vector<std::size_t> offsets, int rank)
    : segment_(std::move(segment)), offsets_(std::move(offsets)), rank_(rank) {}

std::shared_ptr<node_memory> node_memory::allocate(collective_call& call, std::size_t bytes, const char* what,
                                                   bool touch) {
  const node_group& node = call.comm().node();
  const std::uint64_t mine = bytes;
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(node.size));
  check_mpi(MPI_Allgather(&mine, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, node.comm), "MPI_Allgather");
  std::vector<std::size_t> offsets;
  call.attempt([&] {
    offsets = part_offsets(sizes);
    if (node.rank == 0) memory::require_available(offsets.back(), what);
  });
  call.agree();
  shared_attempt attempt = share_segment(node.comm, offsets.back(), node.method);
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
