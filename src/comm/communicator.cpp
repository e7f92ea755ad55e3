#include "comm/communicator.hpp"

#include <numeric>
#include <random>
#include <utility>

#include "comm/live_communicators.hpp"
#include "comm/node_reduction.hpp"
#include "mpi/call.hpp"
#include "mpi/errors_returned.hpp"
#include "mpi/process.hpp"

namespace syncyte::comm {
namespace {

void free_communicator(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

/// See communicator::id(); collective.
std::uint64_t agreed_id(MPI_Comm comm) {
  std::random_device random;
  std::uint64_t id = (std::uint64_t{random()} << 31 ^ random()) & INT64_MAX;
  mpi::check(MPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast");
  return id;
}

/// Their numbers in MPI_COMM_WORLD; local.
std::vector<int> world_ranks_of(MPI_Comm comm, int size) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> result(ranks.size());
  MPI_Group_translate_ranks(group, size, ranks.data(), world, result.data());
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return result;
}

/// A duplicate whose errors are returned and not fatal.
MPI_Comm duplicate_of(MPI_Comm original) {
  MPI_Comm result = MPI_COMM_NULL;
  mpi::check(MPI_Comm_dup(original, &result), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(result, MPI_ERRORS_RETURN);
  return result;
}

}  // namespace

check_level chosen_check(const communicator_options& options, check_level inherited) {
  base::expect(options.check >= -1 && options.check <= 2, SYNCYTE_ERR_ARGUMENT, "options->check", options.check,
               "-1 (as the parent), 0 (off), 1 (on) or 2 (full)");
  return options.check < 0 ? inherited : static_cast<check_level>(options.check);
}

communicator_handles::communicator_handles() = default;
communicator_handles::~communicator_handles() = default;

void communicator_handles::free_collectively() noexcept {
  try {
    deferred.free_all();
  } catch (...) {  // MPI failed: nothing can be done about it, and the communicators are freed all the same
  }
  if (!starts.settle()) return;  // MPI still refers to the communicators
  reduction.reset();
  const mpi::errors_returned of_self(MPI_COMM_SELF);  // MPICH reports messages that nobody received there
  free_communicator(node.host);
  free_communicator(node.comm);
  free_communicator(reversed);
  free_communicator(messages);
  free_communicator(control);
  free_communicator(data);
}

communicator::communicator(std::shared_ptr<communicator_handles> handles, std::string name, check_level check)
    : handles_(std::move(handles)), name_(std::move(name)), check_(check) {
  MPI_Comm_rank(handles_->data, &rank_);
  MPI_Comm_size(handles_->data, &size_);
  world_ranks_ = world_ranks_of(handles_->data, size_);
  enter_live(*this);
}

communicator::~communicator() {
  leave_live(*this);
  if (parent_) parent_->deferred().drop(id_in_parent_);
}

MPI_Comm communicator::reversed() {
  MPI_Comm& made = handles_->reversed;
  if (made == MPI_COMM_NULL) {
    mpi::check(MPI_Comm_split(handles_->data, 0, -rank_, &made), "MPI_Comm_split");
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  }
  return made;
}

node_reduction* communicator::reduction_on_node() {
  if (!handles_->has_tried_reduction && node().count == 1) handles_->reduction = node_reduction::make(node());
  handles_->has_tried_reduction = true;
  return made_node_reduction();
}

watchdog::collective_seen communicator::seen_by_watchdog(std::int64_t now_ns) {
  const bool is_inside = busy_.test(std::memory_order_acquire) && !is_out_of_step();
  const std::uint64_t sequence = sequence_.load();
  if (is_inside != seen_.is_inside || sequence != seen_.sequence)
    seen_ = {operation_.load(std::memory_order_relaxed), &name_, sequence, size_, is_inside, false, now_ns};
  seen_.is_patient = is_patient();
  return seen_;
}

bool communicator::is_alone() const { return size_ == 1 && mpi::is_forked_child(); }

void communicator::free_now() { handles_->free_collectively(); }

std::shared_ptr<communicator> communicator::make(MPI_Comm data, const topology::node_group* inherited,
                                                 const std::string& name, check_level check) {
  auto handles = std::make_shared<communicator_handles>();
  handles->data = data;
  handles->control = duplicate_of(data);
  handles->messages = duplicate_of(data);
  handles->id = agreed_id(handles->control);
  handles->node = topology::find_node_group(handles->control, inherited);
  return std::shared_ptr<communicator>(new communicator(std::move(handles), name, check));
}

std::shared_ptr<communicator> communicator::add_part(MPI_Comm data, const std::string& name, check_level check,
                                                     std::optional<cartesian_grid> grid) {
  std::shared_ptr<communicator> part;
  if (data != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(data, MPI_ERRORS_RETURN);
    part = make(data, &node(), name, check);
  }
  // Every rank registers something, so that ids stay the same on all of them.
  const auto id = handles_->deferred.add(part ? part->handles_ : std::make_shared<communicator_handles>());
  if (part) {
    part->parent_ = shared_from_this();
    part->id_in_parent_ = id;
    part->grid_ = std::move(grid);
  } else {
    handles_->deferred.drop(id);
  }
  return part;
}

deferred_reference::deferred_reference(std::shared_ptr<communicator> comm,
                                       std::shared_ptr<collective_resource> resource)
    : comm_(std::move(comm)), id_(comm_->deferred().add(std::move(resource))) {}

deferred_reference::~deferred_reference() { comm_->deferred().drop(id_); }

}  // namespace syncyte::comm
