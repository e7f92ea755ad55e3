// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/engine.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <stdexcept>
#include <utility>

#include "base/log.hpp"
#include "mpi/deaths.hpp"
#include "watchdog/signals_blocked.hpp"

namespace syncyte::fabric {
namespace {

using namespace std::chrono_literals;

/// Pause between two rounds over the callers that the serving thread drives.
constexpr auto caller_pause = 10ms;
constexpr auto used_caller_pause = 1ms;  // while another thread uses the caller
constexpr auto idle_caller_pause = 1s;   // if all driven exchanges have ended

/// Counts a thread in exchange::wait().
class waiting_thread {
 public:
  explicit waiting_thread(std::atomic<int>& threads) : threads_(threads) { ++threads_; }
  ~waiting_thread() { --threads_; }
  waiting_thread(const waiting_thread&) = delete;
  waiting_thread& operator=(const waiting_thread&) = delete;

 private:
  std::atomic<int>& threads_;
};

/// Time for which a thread that waits for an answer polls before it sleeps: an answer from another host takes less, and
/// to wake up would take a third of that.
constexpr auto longest_spin = 100us;

/// Pause before a request that was deferred is tried again.
constexpr auto retry_pause = 1ms;

/// Least pause before an object is asked again whether something is due.
constexpr std::chrono::nanoseconds least_pause = 50us;

/// Pause before messages for idle callers are received again. UCX's queues in shared memory hold 64 messages, and each
/// owner of a caller's requests sends one a second (keepalive).
constexpr auto idle_receive_pause = 500ms;

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

memory::descriptor make_event() {
  memory::descriptor result(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int code = errno;
  if (!result) memory::check_open_files("eventfd", code);
  base::require(static_cast<bool>(result), SYNCYTE_ERR_IO, "eventfd: {}", base::errno_text(code));
  return result;
}

}  // namespace

engine::engine(std::unique_ptr<transport> way, time_limits limits, std::function<void(peer&)> on_death)
    : limits_(limits),
      declare_dead_([this](std::uint64_t process) { declare_dead(process); }),
      on_death_(std::move(on_death)),
      transport_(counted(std::move(way), traffic_)),
      process_(random_number()),
      watch_(process_, limits, peers_, declare_dead_),
      server_(*transport_, process_, keys_, peers_, targets_, watch_),
      address_(server_.address()),
      wake_event_(make_event()) {
  watch_.use(server_.serving_worker());
  const watchdog::signals_blocked in_the_new_thread;
  thread_ = std::thread([this] { serve(); });
  ::pthread_setname_np(thread_.native_handle(), "syncyte-fabric");
}

engine::~engine() {
  stop();
  end_transport();
}

bool engine::is_drained() {
  return std::ranges::none_of(callers_with(0), [](caller* each) {
    const std::lock_guard turn(each->mutex);
    each->progress();
    return each->is_busy();
  });
}

void engine::stop() {
  if (is_stopping_.exchange(true)) return;
  wake();
  thread_.join();
  watched_.clear();
  watch_.close();
  server_.close_links();
  for (caller* const each : callers_with(0)) {
    const std::lock_guard turn(each->mutex);
    each->close_links();
  }
}

void engine::progress_links() noexcept {
  const auto error = base::error_of([this] {
    server_.progress();
    for (caller* const each : callers_with(0)) {
      const std::lock_guard turn(each->mutex);
      each->progress();
    }
  });
  if (error) base::log(SYNCYTE_LOG_ERROR, "the fabric's links are not closed in order: {}", error->what());
}

void engine::end_transport() {
  server_.end_worker();
  for (caller* const each : callers_with(0)) {
    const std::lock_guard turn(each->mutex);
    each->end_worker();
  }
  transport_.reset();
}

void engine::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_event_.number(), &one, sizeof one);
}

// ---- the serving thread

void engine::serve() {
  while (!is_stopping_) {
    const auto error = base::error_of([&] {
      const auto time = now();
      if (!progress(time) && !polls(time) && arm()) sleep(time);
    });
    if (!error) continue;
    base::log(SYNCYTE_LOG_ERROR, "the fabric's thread continues after an error: {}", error->what());
    std::this_thread::sleep_for(100ms);
  }
}

/// Yields the core for a moment; false, at once, if it is better to sleep.
bool engine::polls(std::chrono::nanoseconds time) {
  if (!polling_.goes_on(time)) return false;
  ::sched_yield();
  polling_.yielded(time, now());
  return true;
}

bool engine::progress(std::chrono::nanoseconds time) {
  if (known_deaths_ != mpi::known_deaths()) take_over_deaths();
  if (has_newly_dead_) forget_dead();
  bool did_something = server_.progress();
  if (std::exchange(served_, server_.served()) != server_.served()) polling_.served(time, now());
  did_something |= progress_driven(time);
  receive_for_idle(time);
  return watch_.progress(time) || did_something;
}

/// Callers with at least so many exchanges that the serving thread drives; with 0 all callers. They stay where they
/// are; their mutexes are locked before the engine's.
std::vector<caller*> engine::callers_with(int driven) {
  std::vector<caller*> found;
  if (driven > driven_) return found;
  const std::lock_guard lock(mutex_);
  for (caller& each : callers_)
    if (each.driven >= driven) found.push_back(&each);
  return found;
}

/// Makes progress on exchanges for which no thread waits now.
bool engine::progress_driven(std::chrono::nanoseconds time) {
  const bool is_time_to_retry = time - retried_ >= caller_pause;
  if (is_time_to_retry) retried_ = time;
  bool did_something = false;
  for (caller* const each : callers_with(1)) {
    if (each->waiting > 0) continue;
    const std::unique_lock turn(each->mutex, std::try_to_lock);
    if (!turn) continue;
    did_something |= each->progress();
    if (is_time_to_retry) each->retry();
  }
  return did_something;
}

/// Receives UCX's own control messages for callers that no thread uses now: while they are not received, the sender's
/// thread tries again and again, and never sleeps. Also ends requests that their callers have given up.
void engine::receive_for_idle(std::chrono::nanoseconds time) {
  constexpr int most_rounds = 16;
  if (time - received_ < idle_receive_pause) return;
  received_ = time;
  for (caller* const each : callers_with(0)) {
    const std::unique_lock turn(each->mutex, std::try_to_lock);
    if (!turn) continue;
    for (int i = 0; i < most_rounds && each->progress(); ++i) {  // a round receives a part of a queue
    }
    const bool is_busy = each->is_busy();
    if (is_busy) each->retry();
    const std::lock_guard lock(mutex_);
    each->is_behind = each->is_behind && is_busy;
  }
}

bool engine::arm() {
  if (!server_.serving_worker().arm()) return false;
  return std::ranges::all_of(callers_with(1), [](caller* each) {
    if (each->waiting > 0) return true;
    const std::unique_lock turn(each->mutex, std::try_to_lock);
    return !turn || each->arm();
  });
}

void engine::sleep(std::chrono::nanoseconds time) {
  std::vector<pollfd> events{{server_.serving_worker().event(), POLLIN, 0}, {wake_event_.number(), POLLIN, 0}};
  auto longest = watch_.time_left(time);
  const auto shorten = [&](std::chrono::nanoseconds limit) {
    longest = longest < 0ns ? limit : std::min(longest, limit);
  };
  if (server_.has_deferred()) shorten(retry_pause);
  if (const auto left = targets_.time_left(time); left >= 0ns) shorten(std::max(left, least_pause));
  for (caller* const each : callers_with(1)) {
    const std::unique_lock turn(each->mutex, std::try_to_lock);
    if (!turn || each->waiting > 0) {  // its event may be what another thread receives now
      shorten(used_caller_pause);
      continue;
    }
    events.push_back({each->event(), POLLIN, 0});
    const bool is_quiet = !each->is_busy() && time - woken_.load(std::memory_order_relaxed) > 2 * caller_pause;
    shorten(is_quiet ? idle_caller_pause : caller_pause);
  }
  const std::size_t first_process = events.size();
  {
    const std::lock_guard lock(mutex_);
    if (!callers_.empty()) shorten(idle_receive_pause);
    for (const auto& each : watched_) events.push_back({each.end.number(), POLLIN, 0});
  }
  const auto limit = std::min<std::chrono::nanoseconds>(longest, 1h);
  const timespec timeout{.tv_sec = limit / 1s, .tv_nsec = (limit % 1s).count()};
  if (::ppoll(events.data(), events.size(), longest < 0ns ? nullptr : &timeout, nullptr) <= 0) return;
  std::uint64_t count = 0;
  if (events[1].revents != 0) [[maybe_unused]]
    const auto drained = ::read(wake_event_.number(), &count, sizeof count);
  for (std::size_t i = first_process; i < events.size(); ++i)
    if (events[i].revents != 0) end_of_process(events[i].fd);
}

void engine::end_of_process(int descriptor) {
  peer* dead = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find(watched_, descriptor, [](const watched_process& each) { return each.end.number(); });
    if (found == watched_.end()) return;
    dead = found->process;
    watched_.erase(found);
  }
  declare_dead(dead->process);
}

void engine::forget_dead() {
  std::vector<std::uint64_t> dead;
  {
    const std::lock_guard lock(mutex_);
    dead.swap(newly_dead_);
    has_newly_dead_ = false;
  }
  for (const std::uint64_t process : dead) server_.forget(process);
}

/// Declares processes dead whose ranks are dead as another part of this process has found (mpi/deaths.hpp).
void engine::take_over_deaths() {
  known_deaths_ = mpi::known_deaths();
  for (const std::uint64_t process : peers_.dead()) declare_dead(process);
}

// ---- any thread

void engine::declare_dead(std::uint64_t process) {
  peer* const dead = peers_.find(process);
  if (dead == nullptr || dead->is_dead.exchange(true)) return;
  {
    const std::lock_guard lock(mutex_);
    newly_dead_.push_back(process);
    has_newly_dead_ = true;
  }
  watch_.report(process);
  wake();
  on_death_(*dead);
}

void engine::add_ring(std::uint64_t communicator, const std::shared_ptr<const process_table>& members) {
  peers_.add(communicator, members);
  watch_.add_ring(communicator, members);
  wake();
}

void engine::remove_ring(std::uint64_t communicator) {
  watch_.remove_ring(communicator);
  peers_.remove(communicator);
}

void engine::watch_end(peer& watched, memory::descriptor process_end) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_known = std::ranges::any_of(watched_, [&](const auto& each) { return each.process == &watched; });
    if (is_known) return;
    watched_.push_back({&watched, std::move(process_end)});
  }
  wake();
}

/// A caller without users; a new one if all have some and the pool is not full; or the one with the fewest users.
caller& engine::borrow() {
  const std::lock_guard lock(mutex_);
  caller* chosen = nullptr;
  for (caller& each : callers_)
    if (each.users == 0 && !each.is_behind && &each != reserved_) chosen = &each;
  const std::size_t common = callers_.size() - (reserved_ != nullptr ? 1 : 0);
  if (chosen == nullptr && common < most_callers - 1 && now() >= next_caller_) chosen = make_caller();
  if (chosen == nullptr) chosen = with_fewest_users();
  ++chosen->users;
  return *chosen;
}

/// The caller with the fewest users, without the reserved one; null if there is no other.
caller* engine::with_fewest_users() {
  caller* fewest = nullptr;
  for (caller& each : callers_)
    if (&each != reserved_ && (fewest == nullptr || each.users < fewest->users)) fewest = &each;
  return fewest;
}

/// Null if the transport cannot make another one; throws if there is none yet.
caller* engine::make_caller() {
  base::require(!is_stopping_, SYNCYTE_ERR_NOT_INITIALIZED, "Syncyte has ended");
  try {
    const auto number = static_cast<std::uint32_t>(callers_.size());
    return &callers_.emplace_back(*transport_, process_, keys_, number, limits_, declare_dead_);
  } catch (const std::runtime_error& error) {
    base::require(with_fewest_users() != nullptr, SYNCYTE_ERR_IO, "the fabric cannot ask other processes: {}",
                  error.what());
    next_caller_ = now() + 1s;
    return nullptr;
  }
}

/// A common caller is made first: without one nothing could be asked.
bool engine::reserve_caller() {
  const std::lock_guard lock(mutex_);
  if (reserved_ != nullptr) return true;
  const auto error = base::error_of([this] {
    if (callers_.empty()) make_caller();
    reserved_ = make_caller();
  });
  if (error) base::log(SYNCYTE_LOG_INFO, "no caller is reserved: {}", error->what());
  return reserved_ != nullptr;
}

caller& engine::borrow_reserved() {
  const std::lock_guard lock(mutex_);
  base::require(reserved_ != nullptr, SYNCYTE_ERR_INTERNAL, "no caller is reserved");
  ++reserved_->users;
  return *reserved_;
}

void engine::give_back(caller& borrowed, bool is_behind) {
  const std::lock_guard lock(mutex_);
  --borrowed.users;
  borrowed.is_behind = is_behind && borrowed.users == 0;
}

/// The serving thread is told of an exchange at once, unless it polls every caller_pause in any case.
void engine::drive(caller& borrowed) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = borrowed.driven++ == 0;
    ++driven_;
  }
  is_first ? wake() : wake_soon();
}

void engine::end_drive(caller& borrowed) {
  const std::lock_guard lock(mutex_);
  --borrowed.driven;
  --driven_;
}

/// Wakes the serving thread for driven exchanges, once a millisecond at most: a thread may start many exchanges, or
/// wait for them, one after another. The serving thread polls them every caller_pause for a while after it.
void engine::wake_soon() {
  const auto time = now();
  if (time - woken_.load(std::memory_order_relaxed) < 1ms) return;
  woken_.store(time, std::memory_order_relaxed);
  wake();
}

stream::~stream() {
  if (caller_ == nullptr) return;
  bool is_behind = false;
  {
    const std::lock_guard lock(caller_->mutex);
    is_behind = caller_->is_busy();
  }
  engine_.give_back(*caller_, is_behind);
}

caller& stream::borrow() {
  const std::lock_guard lock(mutex_);
  if (caller_ == nullptr) caller_ = kind_ == by::reserved_caller ? &engine_.borrow_reserved() : &engine_.borrow();
  return *caller_;
}

exchange::exchange(engine& through) : own_(std::in_place, through), engine_(through), caller_(own_->borrow()) {}

exchange::exchange(stream& in) : engine_(in.engine_), caller_(in.borrow()) {}

exchange::~exchange() {
  {
    const std::lock_guard lock(caller_.mutex);
    for (conversation& talk : talks_)
      if (!talk.has_ended()) caller_.abandon(talk);
  }
  if (is_driven_) engine_.end_drive(caller_);
}

void exchange::add(peer& owner, request_source& source) {
  const std::lock_guard lock(caller_.mutex);
  conversation& talk = talks_.emplace_back();
  talk.source = &source;
  caller_.begin(owner, talk);
}

void exchange::add_last(peer* owner, request_source& source) {
  const std::lock_guard lock(caller_.mutex);
  talks_.emplace_back().source = &source;
  caller_.begin_last(owner, talks_);
}

void exchange::drive() {
  if (!std::exchange(is_driven_, true)) engine_.drive(caller_);
}

bool exchange::has_ended() const {
  return std::ranges::all_of(talks_, [](const conversation& talk) { return talk.has_ended(); });
}

void exchange::throw_error() const {
  for (const conversation& talk : talks_)
    if (talk.error) throw *talk.error;
}

bool exchange::test() {
  {
    const std::lock_guard lock(caller_.mutex);
    caller_.progress();
    caller_.retry();
    if (!has_ended()) return false;
  }
  throw_error();
  return true;
}

void exchange::wait(const std::function<void()>& poll) {
  const waiting_thread counted(caller_.waiting);
  auto polled = now(), moved = polled;  // when poll() was called, and when something came
  while (true) {
    pollfd event{-1, POLLIN, 0};
    {
      const std::lock_guard lock(caller_.mutex);
      const bool is_moving = caller_.progress();
      if (has_ended()) break;
      if (is_moving)
        moved = now();
      else if (now() - moved > longest_spin && caller_.arm())
        event.fd = caller_.event();
    }
    if (event.fd >= 0)
      ::poll(&event, 1, 1);
    else
      ::sched_yield();
    if (now() - polled < 1ms) continue;
    polled = now();
    {
      const std::lock_guard lock(caller_.mutex);
      caller_.retry();
    }
    poll();
  }
  if (caller_.driven > 0) engine_.wake_soon();
  throw_error();
}

}  // namespace syncyte::fabric
