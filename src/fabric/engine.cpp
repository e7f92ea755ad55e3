#include "fabric/engine.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

namespace syncyte::fabric {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

/// Sleeps until one of the descriptors is readable, or the time is over; -1: no limit.
void sleep(std::initializer_list<int> events, int milliseconds) {
  pollfd entries[2];
  nfds_t count = 0;
  for (const int event : events) entries[count++] = {event, POLLIN, 0};
  ::poll(entries, count, milliseconds);
}

/// Signals of the application are handled by its own threads.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

memory::descriptor make_event() {
  memory::descriptor result(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int code = errno;
  if (!result) memory::check_open_files("eventfd", code);
  base::require(static_cast<bool>(result), SYNCYTE_ERR_IO, "eventfd: {}", base::errno_text(code));
  return result;
}

}  // namespace

engine::engine(std::unique_ptr<transport> way, time_limits limits)
    : transport_(std::move(way)),
      limits_(limits),
      process_(random_number()),
      server_(*transport_, process_, targets_),
      address_(server_.address()),
      stop_event_(make_event()) {
  const signals_blocked in_the_new_thread;
  thread_ = std::thread([this] { serve(); });
  ::pthread_setname_np(thread_.native_handle(), "syncyte-fabric");
}

engine::~engine() {
  is_stopping_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_event_.number(), &one, sizeof one);
  thread_.join();
}

void engine::serve() {
  while (!is_stopping_) {
    if (server_.progress() || !server_.arm()) continue;
    sleep({server_.event(), stop_event_.number()}, server_.has_put_aside() ? 1 : -1);
  }
}

peer& engine::find_peer(std::uint64_t process, std::string_view address) {
  const std::lock_guard lock(mutex_);
  return peers_.try_emplace(process, process, address).first->second;
}

/// The caller with the fewest users; a new one if all have some and the pool is not full.
caller& engine::borrow() {
  const std::lock_guard lock(mutex_);
  const auto least = std::ranges::min_element(callers_, {}, &caller::users);
  if (least != callers_.end() && (least->users == 0 || callers_.size() == most_callers)) {
    ++least->users;
    return *least;
  }
  caller& made = callers_.emplace_back(*transport_, process_, static_cast<std::uint32_t>(callers_.size()), limits_);
  ++made.users;
  return made;
}

void engine::give_back(caller& borrowed) {
  const std::lock_guard lock(mutex_);
  --borrowed.users;
}

exchange::exchange(engine& through) : engine_(through), caller_(through.borrow()) {}

exchange::~exchange() {
  {
    const std::lock_guard lock(caller_.mutex);
    for (conversation& talk : talks_)
      if (!talk.has_ended()) caller_.abandon(talk);
  }
  engine_.give_back(caller_);
}

void exchange::add(peer& owner, request_source& source) {
  const std::lock_guard lock(caller_.mutex);
  conversation& talk = talks_.emplace_back();
  talk.source = &source;
  caller_.begin(owner, talk);
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
    caller_.look();
    if (!has_ended()) return false;
  }
  throw_error();
  return true;
}

void exchange::wait(const std::function<void()>& look) {
  constexpr int spins = 16;
  auto looked = now();
  for (int idle = 0;;) {
    bool may_sleep = false;
    {
      const std::lock_guard lock(caller_.mutex);
      idle = caller_.progress() ? 0 : idle + 1;
      if (has_ended()) break;
      if (idle > spins) may_sleep = caller_.arm();
    }
    if (may_sleep)
      sleep({caller_.event()}, 1);
    else if (idle > 0)
      ::sched_yield();
    if (now() - looked < std::chrono::milliseconds(1)) continue;
    looked = now();
    {
      const std::lock_guard lock(caller_.mutex);
      caller_.look();
    }
    look();
  }
  throw_error();
}

}  // namespace syncyte::fabric
