#include "comm/watchdog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/environment.hpp"
#include "comm/collective.hpp"
#include "comm/mpi.hpp"
#include "comm/node_memory.hpp"
#include "comm/runtime.hpp"

namespace syncyte::comm {
namespace {

constexpr int lanes = 4;  // threads of a rank that are inside operations at the same time; further ones are not watched

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// What one thread is doing, or did last. Written by it alone, read by everybody: a torn text only blurs a message.
struct lane {
  std::atomic<std::int32_t> is_taken;
  std::atomic<std::int32_t> is_inside;
  std::atomic<std::int32_t> is_patient;
  std::atomic<std::int64_t> since_ns;
  std::atomic<std::uint64_t> sequence;
  std::atomic<std::int32_t> ranks;  // that enter the operation; 0: not one of a whole communicator
  char operation[48];
  char comm[48];
};

/// One rank's place on the board.
struct place {
  std::int32_t world_rank;
  std::int32_t pid;
  std::atomic<std::int32_t> reporter;  // only the node's first place is used: who reports, as pid
  lane lanes[comm::lanes];
};

struct watchdog_state {
  std::shared_ptr<node_memory> board;
  place* mine = nullptr;
  int node_size = 0;
  int world_size = 0;
  double limit = 0.0;  // seconds
  std::thread thread;
  std::mutex mutex;
  std::condition_variable stop_signal;
  bool is_stopping = false;
};

// Published once the board is ready; scopes look at nothing else.
std::atomic<watchdog_state*> the_watchdog{nullptr};

place& place_of(const watchdog_state& state, int node_rank) {
  return *reinterpret_cast<place*>(state.board->part(node_rank).data());
}

std::string lane_text(const lane& lane, std::int64_t now) {
  const double seconds = static_cast<double>(now - lane.since_ns) * 1e-9;
  const std::uint64_t sequence = lane.sequence;
  const std::string what =
      fmt::format("{}{} on {}", lane.operation, sequence == 0 ? "" : fmt::format(" #{}", sequence), lane.comm);
  return lane.is_inside != 0 ? fmt::format("inside {} for {:.1f} s", what, seconds)
                             : fmt::format("in no operation; left {} {:.1f} s ago", what, seconds);
}

bool is_same_operation(const lane& a, const lane& b) {
  return a.is_inside != 0 && b.is_inside != 0 && a.sequence == b.sequence &&
         std::strncmp(a.operation, b.operation, sizeof a.operation) == 0 &&
         std::strncmp(a.comm, b.comm, sizeof a.comm) == 0;
}

/// Whom a rank waits for: the node's ranks that are not inside the same operation. They are named where all ranks are
/// to enter it; of a smaller communicator the board does not know the members, only how many there are.
std::string awaited_text(const watchdog_state& state, const lane& waiting) {
  if (waiting.is_inside == 0 || waiting.ranks == 0) return "";
  std::vector<int> absent;
  for (int node_rank = 0; node_rank < state.node_size; ++node_rank) {
    const place& place = place_of(state, node_rank);
    const bool is_there = std::any_of(std::begin(place.lanes), std::end(place.lanes),
                                      [&](const lane& lane) { return is_same_operation(lane, waiting); });
    if (!is_there) absent.push_back(place.world_rank);
  }
  const int present = state.node_size - static_cast<int>(absent.size());
  if (present >= waiting.ranks) return "";
  if (waiting.ranks == state.world_size && !absent.empty())
    return fmt::format("; waits for rank{} {}", absent.size() > 1 ? "s" : "", fmt::join(absent, ", "));
  return fmt::format("; of its {} ranks {} are inside on this node", waiting.ranks.load(), present);
}

/// The lane that tells most about a rank: one it is inside, otherwise the last it left.
const lane* telling_lane(const place& place) {
  const lane* best = nullptr;
  for (const auto& lane : place.lanes) {
    if (lane.operation[0] == '\0') continue;
    if (best == nullptr || lane.is_inside > best->is_inside ||
        (lane.is_inside == best->is_inside && lane.since_ns > best->since_ns))
      best = &lane;
  }
  return best;
}

void report(const watchdog_state& state) {
  const std::int64_t now = now_ns();
  std::string text =
      fmt::format("syncyte watchdog: no progress for {} s (SYNCYTE_WATCHDOG); the ranks of this node:\n", state.limit);
  for (int node_rank = 0; node_rank < state.node_size; ++node_rank) {
    const place& place = place_of(state, node_rank);
    const lane* lane = telling_lane(place);
    text += fmt::format("  rank {} (pid {}): {}\n", place.world_rank, place.pid,
                        lane != nullptr ? lane_text(*lane, now) + awaited_text(state, *lane) : "in no operation yet");
  }
  text += "syncyte watchdog: aborting the job\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());  // in one piece, and without locks that a stuck thread holds
}

bool is_stuck(const watchdog_state& state) {
  const std::int64_t now = now_ns();
  for (const auto& lane : state.mine->lanes)
    if (lane.is_inside != 0 && lane.is_patient == 0 && static_cast<double>(now - lane.since_ns) * 1e-9 > state.limit)
      return true;
  return false;
}

void end_job(const watchdog_state& state) {
  // One rank of a node reports; the others give it time to do so, and then end too, in case it could not.
  std::int32_t nobody = 0;
  if (place_of(state, 0).reporter.compare_exchange_strong(nobody, state.mine->pid)) {
    report(state);
  } else {
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
  std::thread([] {  // MPI_Abort may itself hang behind the stuck thread
    std::this_thread::sleep_for(std::chrono::seconds(3));
    ::kill(::getpid(), SIGKILL);
  })
      .detach();
  abort_job(86);
}

void watch(watchdog_state& state) {
  const auto pause = std::chrono::duration<double>(std::min(0.5, state.limit / 4));
  std::unique_lock lock(state.mutex);
  while (!state.stop_signal.wait_for(lock, pause, [&] { return state.is_stopping; }))
    if (is_stuck(state)) end_job(state);
}

void take_place(watchdog_state& state, communicator& world, double limit) {
  state.mine = new (state.board->local().data()) place{};
  state.mine->world_rank = world.rank();
  state.mine->pid = ::getpid();
  state.node_size = world.node().size;
  state.world_size = world.size();
  state.limit = limit;
}

}  // namespace

void start_watchdog(communicator& world) {
  collective_call call(world, "init_watchdog", collective_call::lifecycle);
  double limit = 0.0;
  call.attempt([&] { limit = base::environment_number("SYNCYTE_WATCHDOG", 0.0, 0.0); });
  call.agree();
  double longest = 0.0;  // in a job of several programs some may not ask; all put themselves on the board
  check_mpi(MPI_Allreduce(&limit, &longest, 1, MPI_DOUBLE, MPI_MAX, world.control()), "MPI_Allreduce");
  if (longest == 0.0) return;
  auto state = std::make_unique<watchdog_state>();
  state->board = node_memory::allocate(call, sizeof(place), "the watchdog's board", false);
  take_place(*state, world, limit);
  call.agree();  // nobody reads the board before all have taken their places
  if (limit > 0.0) state->thread = std::thread([raw = state.get()] { watch(*raw); });
  the_watchdog = state.release();
}

void stop_watchdog() {
  const std::unique_ptr<watchdog_state> state(the_watchdog.exchange(nullptr));
  if (!state || !state->thread.joinable()) return;
  {
    const std::lock_guard lock(state->mutex);
    state->is_stopping = true;
  }
  state->stop_signal.notify_all();
  state->thread.join();
}

watchdog_scope::watchdog_scope(const char* operation, const std::string& comm, std::uint64_t sequence, int ranks,
                               kind how)
    : lane_(-1) {
  const watchdog_state* state = the_watchdog.load(std::memory_order_acquire);
  if (state == nullptr) return;
  for (int i = 0; i < lanes && lane_ < 0; ++i)
    if (state->mine->lanes[i].is_taken.exchange(1) == 0) lane_ = i;
  if (lane_ < 0) return;
  lane& lane = state->mine->lanes[lane_];
  std::strncpy(lane.operation, operation, sizeof lane.operation - 1);
  std::strncpy(lane.comm, comm.c_str(), sizeof lane.comm - 1);
  lane.sequence = sequence;
  lane.ranks = ranks;
  lane.is_patient = how == patient;
  lane.since_ns = now_ns();
  lane.is_inside = 1;
}

watchdog_scope::~watchdog_scope() {
  const watchdog_state* state = the_watchdog.load(std::memory_order_acquire);
  if (lane_ < 0 || state == nullptr) return;
  lane& lane = state->mine->lanes[lane_];
  lane.is_inside = 0;
  lane.since_ns = now_ns();
  lane.is_taken = 0;
}

}  // namespace syncyte::comm
