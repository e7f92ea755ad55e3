// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/shared_layout.hpp"

#include "collectives/mover.hpp"
#include "comm/collective_call.hpp"
#include "comm/hash.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::collectives {
namespace {

using distribution::box;
using distribution::layout;

/// All ranks' boxes, each as its first cells and its counts.
std::vector<distribution::rank_box> boxes_of_all(comm::communicator& comm, std::span<const box> mine) {
  const auto own = static_cast<std::int64_t>(mine.size() * sizeof(box) / sizeof(std::int64_t));
  std::vector<std::int64_t> counts{own};
  if (!comm.bypasses_mpi()) counts = mpi::allgather(own, comm.data());
  std::vector<box> all(static_cast<std::size_t>(mpi::sum_of(counts)) * sizeof(std::int64_t) / sizeof(box));
  mover(comm, form::blocking)
      .allgather(reinterpret_cast<const std::byte*>(mine.data()), counts, reinterpret_cast<std::byte*>(all.data()),
                 SYNCYTE_INT64);
  std::vector<distribution::rank_box> result;
  std::size_t next = 0;
  for (int rank = 0; rank < std::ssize(counts); ++rank)
    for (std::int64_t left = counts[static_cast<std::size_t>(rank)]; left > 0;
         left -= sizeof(box) / sizeof(std::int64_t))
      result.push_back({rank, all[next++]});
  return result;
}

}  // namespace

std::int64_t hash_of(const layout& cut) {
  const std::vector<std::int64_t> facts = cut.facts();
  return static_cast<std::int64_t>(XXH3_64bits(facts.data(), facts.size() * sizeof facts[0]) >> 1);
}

std::shared_ptr<shared_layout> make_layout(std::shared_ptr<comm::communicator> comm, const char* operation,
                                           const std::function<layout()>& compute) {
  comm::collective_call call(*comm, operation, comm::collective_call::always_agrees);
  std::optional<layout> made;
  call.attempt([&] { made = compute(); });
  if (made) {
    call.fact("axes", made->ndim());
    for (int axis = 0; axis < made->ndim(); ++axis)
      call.fact("extent of axis {}", made->extents()[static_cast<std::size_t>(axis)], {"extents", axis, made->ndim()});
    call.fact("hash of the layout", hash_of(*made));
  }
  call.agree();
  return std::make_shared<shared_layout>(std::move(comm), std::move(*made));
}

std::shared_ptr<shared_layout> gather_blocks(std::shared_ptr<comm::communicator> comm, const char* operation,
                                             const own_blocks& mine,
                                             const std::function<layout(const layout&)>& finish) {
  comm::collective_call call(*comm, operation, comm::collective_call::always_agrees);
  call.attempt([&] {
    if (mine.error) throw *mine.error;
  });
  call.fact("axes", std::ssize(mine.whole));
  for (int axis = 0; axis < std::ssize(mine.whole); ++axis)
    call.fact("cells along axis {}", mine.whole[static_cast<std::size_t>(axis)],
              {"cells", axis, static_cast<int>(mine.whole.size())});
  call.agree();
  const std::vector<distribution::rank_box> all = boxes_of_all(*comm, mine.boxes);
  std::optional<layout> made;
  call.attempt([&] { made = finish(layout::of_blocks(mine.whole, all, comm->size())); });
  if (made) call.fact("hash of the layout", hash_of(*made));
  call.agree();
  return std::make_shared<shared_layout>(std::move(comm), std::move(*made));
}

}  // namespace syncyte::collectives
