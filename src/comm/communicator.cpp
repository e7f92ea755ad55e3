// SPDX-License-Identifier: BSD-3-Clause
#include "comm/communicator.hpp"

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <random>
#include <unordered_set>
#include <utility>

#include "comm/node_collectives.hpp"
#include "mpi/communicators.hpp"
#include "mpi/deaths.hpp"
#include "mpi/process.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::comm {
namespace {

/// See communicator::id(); collective.
std::uint64_t agreed_id(MPI_Comm comm) {
  std::random_device random;
  std::uint64_t id = (std::uint64_t{random()} << 31 ^ random()) & INT64_MAX;
  mpi::bcast(id, 0, comm);
  return id;
}

struct live_table {
  std::mutex mutex;
  std::unordered_set<communicator*> all;
};

live_table& table() {
  static auto* const the_table = [] {
    auto* const made = new live_table;  // leaked: communicators may be destroyed with static objects
    const auto unlock = [] { table().mutex.unlock(); };
    // A child has no watchdog's thread that would unlock it.
    ::pthread_atfork([] { table().mutex.lock(); }, unlock, unlock);
    return made;
  }();
  return *the_table;
}

}  // namespace

check_level chosen_check(const communicator_options& options, check_level inherited) {
  base::expect(options.check >= -1 && options.check <= 2, SYNCYTE_ERR_ARGUMENT, "options->check", options.check,
               "-1 (as the parent), 0 (off), 1 (on) or 2 (full)");
  return options.check < 0 ? inherited : static_cast<check_level>(options.check);
}

void communicator_handles::free_collectively() noexcept {
  try {
    deferred.free_all();
  } catch (...) {  // MPI failed: nothing can be done about it, and the communicators are freed all the same
  }
  if (!starts.settle()) return;  // MPI still refers to the communicators
  on_node.reset();
  const mpi::errors_returned of_self(MPI_COMM_SELF);  // MPICH reports messages there that no rank received
  mpi::free(node.host);
  mpi::free(node.comm);
  mpi::free(reversed);
  mpi::free(messages);
  mpi::free(control);
  mpi::free(data);
}

world_numbers::world_numbers(std::vector<int> numbers)
    : first_(numbers.front()), step_(numbers.size() > 1 ? numbers[1] - first_ : 0) {
  const auto is_step = [this](int one, int next) { return next - one == step_; };
  if (std::ranges::adjacent_find(numbers, std::not_fn(is_step)) != numbers.end()) table_ = std::move(numbers);
}

communicator::communicator(std::shared_ptr<communicator_handles> handles, std::string name, check_level check)
    : handles_(std::move(handles)),
      name_(std::move(name)),
      check_(check),
      world_ranks_(mpi::world_ranks(handles_->data)) {
  rank_ = mpi::rank_in(handles_->data);
  size_ = mpi::size_of(handles_->data);
  const std::lock_guard lock(table().mutex);
  table().all.insert(this);
}

communicator::~communicator() {
  {
    const std::lock_guard lock(table().mutex);
    table().all.erase(this);
  }
  if (parent_) parent_->deferred().drop(id_in_parent_);
}

MPI_Comm communicator::reversed() {
  MPI_Comm& made = handles_->reversed;
  if (made == MPI_COMM_NULL) made = mpi::split(handles_->data, 0, -rank_);
  return made;
}

node_collectives* communicator::collectives_on_node(int width) {
  if (!handles_->has_tried_on_node && node().count == 1)
    handles_->on_node = node_collectives::make(node(), width > 0 ? width : node_votes::usual_width(size_));
  handles_->has_tried_on_node = true;
  return made_node_collectives();
}

watchdog::collective_seen communicator::seen_by_watchdog(std::int64_t now_ns) {
  const bool is_inside = busy_.test(std::memory_order_acquire) && !is_out_of_step();
  const std::uint64_t sequence = sequence_.load();
  if (is_inside != seen_.is_inside || sequence != seen_.sequence)
    seen_ = {operation_.load(std::memory_order_relaxed), &name_, sequence, size_, is_inside, false, now_ns};
  seen_.is_unlimited = is_unlimited();
  return seen_;
}

bool communicator::bypasses_mpi() const { return size_ == 1 && (mpi::is_forked_child() || mpi::knows_death()); }

void communicator::free_now() { handles_->free_collectively(); }

std::shared_ptr<communicator> communicator::make(MPI_Comm data, const topology::node_group* inherited,
                                                 const std::string& name, check_level check,
                                                 std::optional<cartesian_grid> grid) {
  auto handles = std::make_shared<communicator_handles>();
  handles->data = data;
  handles->control = mpi::duplicate(data);
  handles->messages = mpi::duplicate(data);
  handles->id = agreed_id(handles->control);
  handles->node = topology::find_node_group(handles->control, inherited);
  std::shared_ptr<communicator> made(new communicator(std::move(handles), name, check));
  made->grid_ = std::move(grid);
  return made;
}

std::shared_ptr<communicator> communicator::add_part(MPI_Comm data, const std::string& name, check_level check,
                                                     std::optional<cartesian_grid> grid) {
  std::shared_ptr<communicator> part;
  if (data != MPI_COMM_NULL) {
    mpi::return_errors(data);
    part = make(data, &node(), name, check, std::move(grid));
  }
  // Every rank registers something, so that ids stay the same on all of them.
  const auto id = handles_->deferred.add(part ? part->handles_ : std::make_shared<communicator_handles>());
  if (part) {
    part->parent_ = shared_from_this();
    part->id_in_parent_ = id;
  } else {
    handles_->deferred.drop(id);
  }
  return part;
}

void visit_communicators(const std::function<void(communicator&)>& visit) {
  const std::lock_guard lock(table().mutex);
  for (communicator* each : table().all) visit(*each);
}

deferred_reference::deferred_reference(std::shared_ptr<communicator> comm,
                                       std::shared_ptr<collective_resource> resource)
    : comm_(std::move(comm)), id_(comm_->deferred().add(std::move(resource))) {}

deferred_reference::~deferred_reference() { comm_->deferred().drop(id_); }

}  // namespace syncyte::comm
