#include "comm/communicator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "base/environment.hpp"
#include "comm/collective.hpp"
#include "comm/errors_returned.hpp"
#include "comm/group.hpp"
#include "comm/live_communicators.hpp"
#include "comm/mpi.hpp"
#include "comm/node_reduction.hpp"
#include "comm/progress.hpp"
#include "comm/runtime.hpp"
#include "comm/watchdog.hpp"

namespace syncyte::comm {
namespace {

check_level chosen_check(int check, check_level inherited) {
  base::require(check >= -1 && check <= 2, SYNCYTE_ERR_ARGUMENT,
                "options->check is {}; expected -1 (as the parent), 0 (off), 1 (on) or 2 (full)", check);
  return check < 0 ? inherited : static_cast<check_level>(check);
}

check_level environment_check_level() {
  base::environment_check("SYNCYTE_CHECK", {"off", "on", "full"});
  return static_cast<check_level>(base::environment_choice("SYNCYTE_CHECK", {"off", "on", "full"}, 1));
}

void free_communicator(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

/// See communicator::id(); collective.
std::uint64_t agreed_id(MPI_Comm comm) {
  std::random_device random;
  std::uint64_t id = (std::uint64_t{random()} << 31 ^ random()) & INT64_MAX;
  check_mpi(MPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast");
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
  check_mpi(MPI_Comm_dup(original, &result), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(result, MPI_ERRORS_RETURN);
  return result;
}

/// The duplicate that a root is made of: ranks may come here only after what they wait for elsewhere.
MPI_Comm root_duplicate_of(MPI_Comm original) {
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Request pending = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(original, &result, &pending), "MPI_Comm_idup");
  wait_for(pending, "MPI_Comm_idup");
  MPI_Comm_set_errhandler(result, MPI_ERRORS_RETURN);
  return result;
}

/// The level of what has no parent that all ranks could agree on: all take the highest, and throw if one of them was
/// given nonsense, in its options or, without a level to inherit, in its environment.
check_level agree_on_level(MPI_Comm comm, const communicator_options& options,
                           const std::optional<check_level>& inherited, const char* operation,
                           const std::string& name) {
  std::optional<base::error> error = options.error;
  std::uint32_t level = 0;
  try {
    if (!inherited) base::environment_check("SYNCYTE_SHM", {"proc", "socket", "shm", "none"});
    level = static_cast<std::uint32_t>(chosen_check(options.check, inherited ? *inherited : environment_check_level()));
  } catch (...) {
    if (!error) error = base::current_error();
  }
  const std::uint32_t local[2] = {verdict_of(error), level};
  std::uint32_t highest[2];
  check_mpi(MPI_Allreduce(local, highest, 2, MPI_UINT32_T, MPI_MAX, comm), "MPI_Allreduce");
  if (highest[0] != 0) share_error(comm, error, operation, name);
  return static_cast<check_level>(highest[1]);
}

}  // namespace

communicator_handles::communicator_handles() = default;
communicator_handles::~communicator_handles() = default;

void communicator_handles::free_collectively() noexcept {
  try {
    deferred.free_all();
  } catch (...) {  // MPI failed: nothing can be done about it, and the communicators are freed all the same
  }
  if (!starts.settle()) return;  // MPI still refers to the communicators
  nearby.reset();
  const errors_returned of_self(MPI_COMM_SELF);  // MPICH reports messages that nobody received there
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
    check_mpi(MPI_Comm_split(handles_->data, 0, -rank_, &made), "MPI_Comm_split");
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  }
  return made;
}

node_reduction* communicator::nearby() {
  if (!handles_->has_tried_nearby && node().count == 1) handles_->nearby = node_reduction::make(node());
  handles_->has_tried_nearby = true;
  return made_nearby();
}

collective_seen communicator::seen_by_watchdog(std::int64_t now_ns) {
  const bool is_inside = busy_.test(std::memory_order_acquire) && !is_out_of_step();
  const std::uint64_t sequence = sequence_.load();
  if (is_inside != seen_.is_inside || sequence != seen_.sequence)
    seen_ = {operation_.load(std::memory_order_relaxed), &name_, sequence, size_, is_inside, false, now_ns};
  seen_.is_patient = is_patient();
  return seen_;
}

void communicator::free_now() { handles_->free_collectively(); }

std::shared_ptr<communicator> communicator::make(MPI_Comm data, const node_group* inherited, const std::string& name,
                                                 check_level check) {
  auto handles = std::make_shared<communicator_handles>();
  handles->data = data;
  handles->control = duplicate_of(data);
  handles->messages = duplicate_of(data);
  handles->id = agreed_id(handles->control);
  handles->node = find_node_group(handles->control, inherited);
  return std::shared_ptr<communicator>(new communicator(std::move(handles), name, check));
}

std::shared_ptr<communicator> communicator::make_root(MPI_Comm original, const communicator_options& options,
                                                      const char* operation) {
  const std::string name = options.name.empty() ? "comm" : options.name;
  int size = 0;
  MPI_Comm_size(original, &size);
  const watchdog_scope watched(operation, name, 0, size);  // nothing can be agreed on before there is a duplicate
  MPI_Comm data = root_duplicate_of(original);
  try {
    return make(data, nullptr, name, agree_on_level(data, options, std::nullopt, operation, name));
  } catch (...) {
    free_communicator(data);
    throw;
  }
}

std::shared_ptr<communicator> communicator::make_group(std::span<const std::int32_t> ranks, int tag,
                                                       const communicator_options& options) {
  const std::string title = fmt::format("ranks {} of {}", fmt::join(ranks, ", "), name_);
  const watchdog_scope watched("comm_group", title, 0);
  MPI_Comm data = create_group(*this, ranks, tag);
  const std::string name = options.name.empty() ? name_ + "/group" : options.name;
  try {
    return make(data, &node(), name, agree_on_level(data, options, check_, "comm_group", name));
  } catch (...) {
    free_communicator(data);
    throw;
  }
}

std::shared_ptr<communicator> communicator::split(int color, int key, const communicator_options& options) {
  collective_call call(*this, "comm_split", collective_call::lifecycle);
  check_level check = check_;
  call.attempt([&] {
    if (options.error) throw *options.error;
    base::require(color >= 0 || color == MPI_UNDEFINED, SYNCYTE_ERR_ARGUMENT,
                  "color is {}; expected 0 or more, or -1 for no part", color);
    check = check_of_part(options);
  });
  call.fact("check", static_cast<int>(check));
  call.agree();
  MPI_Comm data = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(handles_->data, color, key, &data), "MPI_Comm_split");
  return add_part(data, options.name.empty() ? fmt::format("{}/{}", name_, color) : options.name, check);
}

check_level communicator::check_of_part(const communicator_options& options) const {
  return chosen_check(options.check, check_);
}

/// A new MPI communicator as a part of this one; MPI_COMM_NULL gives nullptr. Collective.
std::shared_ptr<communicator> communicator::add_part(MPI_Comm data, const std::string& name, check_level check) {
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
  } else {
    handles_->deferred.drop(id);
  }
  return part;
}

std::shared_ptr<communicator> communicator::split_program(const std::string& program,
                                                          const communicator_options& options) {
  constexpr std::size_t limit = 256;
  std::array<char, limit> mine{};
  {
    collective_call call(*this, "comm_split_program", collective_call::lifecycle);
    call.attempt([&] {
      if (options.error) throw *options.error;
      base::require(!program.empty() && program.size() < limit, SYNCYTE_ERR_ARGUMENT,
                    "name has {} bytes; expected 1 to {}", program.size(), limit - 1);
      std::copy(program.begin(), program.end(), mine.begin());
    });
    call.agree();
  }
  std::vector<char> names(limit * static_cast<std::size_t>(size_));
  check_mpi(MPI_Allgather(mine.data(), limit, MPI_CHAR, names.data(), limit, MPI_CHAR, handles_->control),
            "MPI_Allgather");
  int color = 0;  // the lowest rank of the same name
  while (program != names.data() + limit * static_cast<std::size_t>(color)) ++color;
  communicator_options named = options;
  if (named.name.empty()) named.name = fmt::format("{}/{}", name_, program);
  return split(color, rank_, named);
}

std::shared_ptr<communicator> communicator::split_node(const communicator_options& options) {
  communicator_options named = options;
  if (named.name.empty()) named.name = fmt::format("{}/node{}", name_, node().index);
  return split(node().index, rank_, named);
}

std::shared_ptr<communicator> communicator::split_leaders(const communicator_options& options) {
  communicator_options named = options;
  if (named.name.empty()) named.name = fmt::format("{}/leaders", name_);
  return split(node().rank == 0 ? 0 : MPI_UNDEFINED, rank_, named);
}

deferred_reference::deferred_reference(std::shared_ptr<communicator> comm,
                                       std::shared_ptr<collective_resource> resource)
    : comm_(std::move(comm)), id_(comm_->deferred().add(std::move(resource))) {}

deferred_reference::~deferred_reference() { comm_->deferred().drop(id_); }

}  // namespace syncyte::comm
