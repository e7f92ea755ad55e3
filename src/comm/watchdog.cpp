#include "comm/watchdog.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/environment.hpp"
#include "comm/application_line.hpp"
#include "comm/collective.hpp"
#include "comm/live_communicators.hpp"
#include "comm/mpi.hpp"
#include "comm/progress.hpp"
#include "comm/runtime.hpp"
#include "comm/started_collective.hpp"
#include "comm/watchdog_board.hpp"

namespace syncyte::comm {
namespace {

using watchdog::now_ns;

constexpr double default_limit = 60.0;

struct watchdog_state {
  std::optional<watchdog::board> board;
  watchdog::place* mine = nullptr;
  double limit = 0.0;         // seconds; 0: off
  bool is_watched = false;    // some rank of the job looks
  bool is_asked_for = false;  // by SYNCYTE_WATCHDOG: otherwise it only reports, and costs nothing but long waits
  bool only_reports = false;
  std::int64_t reported_ns = 0;  // when what is stuck now was reported; 0: not yet
  std::thread thread;
  std::mutex mutex;
  std::condition_variable stop_signal;
  bool is_stopping = false;
};

// Published once the board is ready; scopes look at nothing else.
std::atomic<watchdog_state*> the_watchdog{nullptr};

constexpr auto short_pause = std::chrono::milliseconds(20);

/// Says at which line of its program this rank is, where a rank that reports has asked.
void answer(const watchdog_state& state) {
  const std::int64_t asked = state.mine->asked_ns;
  if (asked == state.mine->answered_ns) return;
  std::strncpy(state.mine->line, application_line().c_str(), sizeof state.mine->line - 1);
  state.mine->answered_ns = asked;
}

/// The other ranks look for the question as often as for what is stuck, and have a second for the answer.
void gather_lines(const watchdog_state& state) {
  const std::int64_t end = now_ns() + 1'800'000'000;
  state.board->ask_for_lines();
  answer(state);
  for (; !state.board->have_answered() && now_ns() < end; answer(state)) std::this_thread::sleep_for(short_pause);
}

const char* outcome_text(const watchdog_state& state, bool is_open_ended) {
  if (is_open_ended)
    return "syncyte watchdog: going on (a counter may be waited for as long as the program likes: reported once)\n";
  if (!state.only_reports) return "syncyte watchdog: aborting the job\n";
  if (state.is_asked_for) return "syncyte watchdog: going on (SYNCYTE_WATCHDOG_ACTION=report)\n";
  return "syncyte watchdog: going on (SYNCYTE_WATCHDOG is not set: seconds after which to abort, or 0 for no report)\n";
}

/// Gives the rank that reports time to do so.
void wait_for_report(const watchdog_state& state) {
  for (const std::int64_t end = now_ns() + 4'000'000'000; now_ns() < end; std::this_thread::sleep_for(short_pause))
    answer(state);
}

void report(const watchdog_state& state, bool is_open_ended = false) {
  gather_lines(state);
  std::string text =
      fmt::format("syncyte watchdog: no progress for {} s (SYNCYTE_WATCHDOG); the ranks of this node:\n", state.limit);
  text += state.board->text();
  text += outcome_text(state, is_open_ended);
  (void)!::write(STDERR_FILENO, text.data(), text.size());  // in one piece, and without locks that a stuck thread holds
}

/// When the operation of a kind began that this rank has been inside for longer than the limit, the last of several; 0
/// if none.
std::int64_t stuck_since(const watchdog_state& state, watchdog_scope::kind kind) {
  const std::int64_t now = now_ns();
  std::int64_t last = 0;
  for (const auto& lane : state.mine->lanes)
    if (lane.is_inside != 0 && lane.kind == kind && static_cast<double>(now - lane.since_ns) * 1e-9 > state.limit)
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
  // The ranks that do not report end too, in case the one that does could not end the job.
  if (is_reporter(state))
    report(state);
  else
    wait_for_report(state);
  std::thread([] {  // MPI_Abort may itself hang behind the stuck thread
    std::this_thread::sleep_for(std::chrono::seconds(3));
    ::kill(::getpid(), SIGKILL);
  })
      .detach();
  abort_job(86);
}

/// Whether a rank of this node may soon report an operation that must end.
bool may_be_reported_soon(const watchdog_state& state) {
  const std::int64_t now = now_ns();
  for (int rank = 0; rank < state.board->ranks(); ++rank)
    for (const auto& lane : state.board->at(rank).lanes)
      if (lane.is_inside != 0 && lane.kind == watchdog_scope::limited &&
          static_cast<double>(now - lane.since_ns) * 1e-9 > state.limit / 2)
        return true;
  return false;
}

/// A wait for a counter may be a hang, or a server's: it is reported once, unless another report shows it.
void look_at_open_ended(const watchdog_state& state) {
  std::atomic<std::int32_t>& has_told = state.board->at(0).has_told_open;
  if (has_told != 0 || stuck_since(state, watchdog_scope::open_ended) == 0 || may_be_reported_soon(state)) return;
  if (has_told.exchange(1) == 0) report(state, true);
}

/// Tells once of every operation that is stuck, as long as it is.
void look(watchdog_state& state) {
  const std::int64_t since = stuck_since(state, watchdog_scope::limited);
  if (since == 0) return look_at_open_ended(state);
  if (!state.only_reports) end_job(state);
  if (since > state.reported_ns && is_reporter(state)) report(state);
  state.reported_ns = std::max(state.reported_ns, since);
}

void clear(watchdog::lane& lane) {
  lane.is_inside = 0;
  lane.name.operation[0] = '\0';
}

void write(watchdog::lane& lane, const collective_seen& seen, bool is_inside) {
  lane.kind = seen.is_patient ? watchdog_scope::patient : watchdog_scope::limited;
  if (lane.since_ns == seen.since_ns && lane.is_inside == static_cast<int>(is_inside)) return;
  lane.is_inside = 0;
  lane.name.set(seen.operation, *seen.comm, seen.sequence);
  lane.ranks = seen.ranks;
  lane.since_ns = seen.since_ns;
  lane.is_inside = static_cast<int>(is_inside);
}

/// Brings to the board in which collectives this rank is, or which it has left last, and what it has started.
void write_collectives(watchdog_state& state) {
  const std::int64_t now = now_ns();
  auto& lanes = state.mine->lanes;
  auto& listings = state.mine->listings;
  int next_lane = watchdog::lanes;
  int next_listing = watchdog::listings;
  std::optional<collective_seen> left;
  visit_live([&](communicator& comm) {
    const collective_seen seen = comm.seen_by_watchdog(now);
    if (seen.operation != nullptr && seen.is_inside) {
      if (next_lane < static_cast<int>(std::size(lanes))) write(lanes[next_lane++], seen, true);
    } else if (seen.operation != nullptr && (!left || seen.since_ns > left->since_ns)) {
      left = seen;
    }
    comm.starts().visit([&](started_collective& started) {
      if (next_listing == static_cast<int>(std::size(listings))) return;
      watchdog::listing& listed = listings[next_listing++];
      listed.name.set(started.name(), comm.name(), started.sequence());
      listed.since_ns = started.seen_since(now);
      listed.is_shown = 1;
    });
  });
  if (left && next_lane == watchdog::lanes) write(lanes[next_lane++], *left, false);
  while (next_lane < static_cast<int>(std::size(lanes))) clear(lanes[next_lane++]);
  while (next_listing < static_cast<int>(std::size(listings))) listings[next_listing++].is_shown = 0;
}

void watch(watchdog_state& state) {
  const auto pause = std::chrono::duration<double>(state.limit > 0.0 ? std::min(0.5, state.limit / 4) : 0.5);
  std::unique_lock lock(state.mutex);
  while (!state.stop_signal.wait_for(lock, pause, [&] { return state.is_stopping; })) {
    write_collectives(state);
    state.mine->has_lines = static_cast<int>(has_line_function());
    answer(state);
    if (state.limit > 0.0) look(state);
  }
}

void take_place(watchdog_state& state, std::shared_ptr<node_memory> memory, const communicator& world) {
  state.mine = new (memory->local().data()) watchdog::place{};
  state.mine->world_rank = world.rank();
  state.mine->pid = ::getpid();
  state.board.emplace(std::move(memory), world);
}

}  // namespace

void start_watchdog(communicator& world) {
  collective_call call(world, "init_watchdog", collective_call::lifecycle);
  double limit = 0.0;
  call.attempt([&] { limit = base::environment_number("SYNCYTE_WATCHDOG", default_limit, 0.0); });
  call.agree();
  double longest = 0.0;  // in a job of several programs some may not ask; all put themselves on the board
  check_mpi(MPI_Allreduce(&limit, &longest, 1, MPI_DOUBLE, MPI_MAX, world.control()), "MPI_Allreduce");
  auto state = std::make_unique<watchdog_state>();
  state->limit = limit;
  state->is_watched = longest > 0.0;
  state->is_asked_for = base::environment("SYNCYTE_WATCHDOG").has_value();
  state->only_reports =
      !state->is_asked_for || base::environment_choice("SYNCYTE_WATCHDOG_ACTION", {"abort", "report"}, 0) == 1;
  take_place(*state, node_memory::allocate(call, sizeof(watchdog::place), "the watchdog's board", false), world);
  call.agree();  // nobody reads the board before all have taken their places
  watchdog::publish(*state->board);
  if (state->is_watched) state->thread = std::thread([raw = state.get()] { watch(*raw); });
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
int take(Slots& slots, int count) {
  for (int i = 0; i < count; ++i)
    if (slots[i].is_taken.exchange(1) == 0) return i;
  return -1;
}

}  // namespace

watchdog_scope::watchdog_scope(const char* operation, const std::string& comm, std::uint64_t sequence, int ranks,
                               kind how)
    : lane_(-1) {
  const watchdog_state* state = the_watchdog.load(std::memory_order_acquire);
  if (state == nullptr || !state->is_watched) return;
  lane_ = take(state->mine->lanes, watchdog::lanes);
  if (lane_ < 0) return;
  watchdog::lane& lane = state->mine->lanes[lane_];
  const std::int64_t now = now_ns();
  // A patient wait may come in pieces, so that something else can be looked at in between: it is shown as one.
  constexpr std::int64_t longest_gap = 100'000'000;
  const bool goes_on = how != limited && lane.kind == how && now - lane.since_ns < longest_gap &&
                       std::strncmp(lane.name.operation, operation, sizeof lane.name.operation - 1) == 0;
  lane.name.set(operation, comm, sequence);
  lane.ranks = ranks;
  lane.kind = how;
  if (!goes_on) lane.begun_ns = now;
  lane.since_ns = lane.begun_ns.load();
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
  if (state == nullptr || !state->is_asked_for) return;
  slot_ = take(state->mine->listings, watchdog::listings);
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
