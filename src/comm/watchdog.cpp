#include "comm/watchdog.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/environment.hpp"
#include "comm/collective.hpp"
#include "comm/mpi.hpp"
#include "comm/progress.hpp"
#include "comm/runtime.hpp"
#include "comm/watchdog_board.hpp"

namespace syncyte::comm {
namespace {

using watchdog::now_ns;

struct watchdog_state {
  std::optional<watchdog::board> board;
  watchdog::place* mine = nullptr;
  double limit = 0.0;  // seconds
  bool only_reports = false;
  std::int64_t reported_ns = 0;  // when what is stuck now was reported; 0: not yet
  std::thread thread;
  std::mutex mutex;
  std::condition_variable stop_signal;
  bool is_stopping = false;
};

// Published once the board is ready; scopes look at nothing else.
std::atomic<watchdog_state*> the_watchdog{nullptr};

void report(const watchdog_state& state) {
  std::string text =
      fmt::format("syncyte watchdog: no progress for {} s (SYNCYTE_WATCHDOG); the ranks of this node:\n", state.limit);
  text += state.board->text();
  text += state.only_reports ? "syncyte watchdog: going on (SYNCYTE_WATCHDOG_ACTION=report)\n"
                             : "syncyte watchdog: aborting the job\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());  // in one piece, and without locks that a stuck thread holds
}

/// When the operation began that this rank has been inside for longer than the limit, the last of several; 0 if none.
std::int64_t stuck_since(const watchdog_state& state) {
  const std::int64_t now = now_ns();
  std::int64_t last = 0;
  for (const auto& lane : state.mine->lanes)
    if (lane.is_inside != 0 && lane.is_patient == 0 && static_cast<double>(now - lane.since_ns) * 1e-9 > state.limit)
      last = std::max(last, lane.since_ns.load());
  return last;
}

/// One rank of a node reports: whether it is this one. A later report is another matter once the limit has passed.
bool is_reporter(const watchdog_state& state) {
  std::atomic<std::int64_t>& last = state.board->at(0).last_report_ns;
  std::int64_t before = last;
  const std::int64_t now = now_ns();
  if (before != 0 && static_cast<double>(now - before) * 1e-9 < state.limit) return false;
  return last.compare_exchange_strong(before, now);
}

void end_job(const watchdog_state& state) {
  // The ranks that do not report give the one that does time to do so, and then end too, in case it could not.
  if (is_reporter(state))
    report(state);
  else
    std::this_thread::sleep_for(std::chrono::seconds(2));
  std::thread([] {  // MPI_Abort may itself hang behind the stuck thread
    std::this_thread::sleep_for(std::chrono::seconds(3));
    ::kill(::getpid(), SIGKILL);
  })
      .detach();
  abort_job(86);
}

/// Tells once of every operation that is stuck, as long as it is.
void look(watchdog_state& state) {
  const std::int64_t since = stuck_since(state);
  if (since == 0) return;
  if (!state.only_reports) end_job(state);
  if (since > state.reported_ns && is_reporter(state)) report(state);
  state.reported_ns = std::max(state.reported_ns, since);
}

void watch(watchdog_state& state) {
  const auto pause = std::chrono::duration<double>(std::min(0.5, state.limit / 4));
  std::unique_lock lock(state.mutex);
  while (!state.stop_signal.wait_for(lock, pause, [&] { return state.is_stopping; })) look(state);
}

void take_place(watchdog_state& state, std::shared_ptr<node_memory> memory, const communicator& world) {
  state.mine = new (memory->local().data()) watchdog::place{};
  state.mine->world_rank = world.rank();
  state.mine->pid = ::getpid();
  state.board.emplace(std::move(memory), world.node().size, world.size());
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
  state->limit = limit;
  state->only_reports = base::environment_choice("SYNCYTE_WATCHDOG_ACTION", {"abort", "report"}, 0) == 1;
  take_place(*state, node_memory::allocate(call, sizeof(watchdog::place), "the watchdog's board", false), world);
  call.agree();  // nobody reads the board before all have taken their places
  if (limit > 0.0) state->thread = std::thread([raw = state.get()] { watch(*raw); });
  the_watchdog = state.release();
}

/// Other threads may be inside scopes, and write to the board: it stays.
void stop_watchdog() {
  const std::shared_ptr<watchdog_state> state(the_watchdog.exchange(nullptr));
  if (!state) return;
  keep_for_ever(state);
  if (!state->thread.joinable()) return;
  {
    const std::lock_guard lock(state->mutex);
    state->is_stopping = true;
  }
  state->stop_signal.notify_all();
  state->thread.join();
}

void forget_watchdog() noexcept { the_watchdog = nullptr; }

namespace {

/// Takes the first free one of a rank's lanes or listings; -1 if there is none.
template <class Slots>
int take(Slots& slots) {
  for (int i = 0; i < static_cast<int>(std::size(slots)); ++i)
    if (slots[i].is_taken.exchange(1) == 0) return i;
  return -1;
}

}  // namespace

watchdog_scope::watchdog_scope(const char* operation, const std::string& comm, std::uint64_t sequence, int ranks,
                               kind how)
    : lane_(-1) {
  const watchdog_state* state = the_watchdog.load(std::memory_order_acquire);
  if (state == nullptr) return;
  lane_ = take(state->mine->lanes);
  if (lane_ < 0) return;
  watchdog::lane& lane = state->mine->lanes[lane_];
  lane.name.set(operation, comm, sequence);
  lane.ranks = ranks;
  lane.is_patient = how == patient;
  lane.since_ns = now_ns();
  lane.is_inside = 1;
}

watchdog_scope::~watchdog_scope() {
  const watchdog_state* state = the_watchdog.load(std::memory_order_acquire);
  if (lane_ < 0 || state == nullptr) return;
  watchdog::lane& lane = state->mine->lanes[lane_];
  lane.is_inside = 0;
  lane.since_ns = now_ns();
  lane.is_taken = 0;
}

watchdog_listing::watchdog_listing(const char* operation, const std::string& comm, std::uint64_t sequence)
    : slot_(none) {
  const watchdog_state* state = the_watchdog.load(std::memory_order_acquire);
  if (state == nullptr) return;
  slot_ = take(state->mine->listings);
  if (slot_ < 0) {
    slot_ = unnamed;
    ++state->mine->unlisted;
    return;
  }
  watchdog::listing& listed = state->mine->listings[slot_];
  listed.name.set(operation, comm, sequence);
  listed.since_ns = now_ns();
  listed.is_shown = 1;
}

watchdog_listing::~watchdog_listing() {
  const watchdog_state* state = the_watchdog.load(std::memory_order_acquire);
  if (slot_ == none || state == nullptr) return;
  if (slot_ == unnamed) {
    --state->mine->unlisted;
    return;
  }
  state->mine->listings[slot_].is_shown = 0;
  state->mine->listings[slot_].is_taken = 0;
}

}  // namespace syncyte::comm
