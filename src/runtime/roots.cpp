// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/roots.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/log.hpp"
#include "mpi/communicators.hpp"
#include "mpi/float_min_max.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "runtime/group.hpp"
#include "runtime/root.hpp"

namespace syncyte::runtime {

using namespace comm;
namespace {

struct all_roots {
  std::shared_ptr<communicator> world;
  std::shared_ptr<communicator> self;
  std::vector<std::shared_ptr<communicator>> adopted;  // in this rank's order of creation
};

struct kept_roots {
  std::mutex mutex;
  all_roots roots;
};

kept_roots& kept = *new kept_roots;  // leaked: handles may be dropped while static objects are destroyed

std::shared_ptr<communicator> root(std::shared_ptr<communicator> all_roots::* which) {
  if (mpi::is_forked_child()) return kept.roots.*which;  // another thread of the rank may have held the lock
  mpi::require_started();
  const std::lock_guard lock(kept.mutex);
  mpi::require_started();
  return kept.roots.*which;
}

/// Keeps a communicator until free_roots().
void keep(std::shared_ptr<communicator> root) {
  const std::lock_guard lock(kept.mutex);
  kept.roots.adopted.push_back(std::move(root));
}

}  // namespace

communicator& open_roots(const std::optional<base::error>& error) {
  const auto found = error ? error : base::error_of(base::check_environment);
  auto world = make_root(MPI_COMM_WORLD, {.name = "world", .error = found}, "init");
  base::set_process_rank(world->rank());
  auto self = make_root(MPI_COMM_SELF, {.name = "self"}, "init");
  mpi::open_probe(world->data());
  mpi::agree_on_device_memory(world->data());
  const std::lock_guard lock(kept.mutex);
  kept.roots = {.world = std::move(world), .self = std::move(self), .adopted = {}};
  return *kept.roots.world;
}

void free_roots() {
  mpi::close_probe();
  all_roots roots;
  {
    const std::lock_guard lock(kept.mutex);
    roots = std::exchange(kept.roots, {});
  }
  roots.world->free_now();
  roots.self->free_now();
  // Threads that adopt at the same time may do so in another order on each rank; the ids are the same on all.
  std::ranges::sort(roots.adopted, {}, [](const auto& each) { return each->id(); });
  for (const auto& each : roots.adopted) each->free_now();
  mpi::free_float_min_max_ops();
}

std::shared_ptr<communicator> world() { return root(&all_roots::world); }

std::shared_ptr<communicator> self() { return root(&all_roots::self); }

std::shared_ptr<communicator> adopt(MPI_Comm original, const communicator_options& options,
                                    const std::string& argument) {
  mpi::require_started();
  const mpi::thread_guard guard("comm_from_mpi");
  mpi::require_intra(original, argument);
  std::shared_ptr<communicator> result;
  {
    const mpi::errors_returned own_errors(original);
    result = make_root(original, options, "comm_from_mpi");
  }
  keep(result);
  return result;
}

std::shared_ptr<communicator> group(communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                    const communicator_options& options) {
  const mpi::thread_guard guard("comm_create_group");
  auto result = make_group(parent, ranks, tag, options);
  keep(result);
  return result;
}

}  // namespace syncyte::runtime
