// SPDX-License-Identifier: BSD-3-Clause
#include "loopback.hpp"

#include <sys/timerfd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <system_error>

#include "memory/descriptor.hpp"

namespace syncyte::test {

using clock = std::chrono::steady_clock;

/// State of a connection that a link and the network share.
struct loopback_connection {
  int from;
  std::uint64_t tag;
  std::weak_ptr<loopback_inbox> owner;  ///< of the worker that has the link
  std::mt19937_64 random;
  // The network sets these before the link is used.
  int to = -1;
  std::weak_ptr<loopback_inbox> target = {};
  // Only the owner's thread uses these.
  bool is_open = true;  ///< the link is not destroyed
  bool is_broken = false;

  bool draw(double share) { return std::bernoulli_distribution(share)(random); }
  bool is_between(int one, int other) const { return std::minmax(from, to) == std::minmax(one, other); }
};

namespace {

using connection_pointer = std::shared_ptr<loopback_connection>;
using message_pointer = std::shared_ptr<const fabric::message>;

/// A message, or the news that a connection is broken.
struct arrival {
  connection_pointer broken;  // null for messages
  fabric::message_header header;
  std::vector<std::byte> payload;
};

std::string pack(std::uint64_t address) {
  std::string bytes(sizeof address, '\0');
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

std::optional<std::uint64_t> unpack(std::string_view bytes) {
  std::uint64_t address = 0;
  if (bytes.size() != sizeof address) return {};
  std::memcpy(&address, bytes.data(), sizeof address);
  return address;
}

memory::descriptor open_timer() {
  memory::descriptor timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));  // steady_clock's clock
  if (!timer) throw std::system_error(errno, std::generic_category(), "timerfd_create");
  return timer;
}

}  // namespace

/// Messages that will arrive at a worker, in the order of arrival. Other threads put messages into it.
class loopback_inbox {
 public:
  loopback_inbox() : timer_(open_timer()) {}

  void put(clock::time_point due, arrival added) {
    const std::scoped_lock lock(mutex_);
    if (is_closed_) return;
    const auto place = arrivals_.emplace(due, std::move(added));
    if (is_armed_ && place == arrivals_.begin()) set_timer(due);
  }

  void put_broken(clock::time_point due, const connection_pointer& broken) {
    put(due, {.broken = broken, .header = {}, .payload = {}});
  }

  /// Forgets that the connection breaks later.
  void remove_broken(const connection_pointer& restored) {
    const std::scoped_lock lock(mutex_);
    const auto now = clock::now();
    std::erase_if(arrivals_, [&](const auto& each) { return each.first > now && each.second.broken == restored; });
  }

  std::vector<arrival> take() {
    const std::scoped_lock lock(mutex_);
    is_armed_ = false;
    std::vector<arrival> due;
    const auto end = arrivals_.upper_bound(clock::now());
    for (auto each = arrivals_.begin(); each != end; ++each) due.push_back(std::move(each->second));
    arrivals_.erase(arrivals_.begin(), end);
    return due;
  }

  bool arm() {
    const std::scoped_lock lock(mutex_);
    if (!arrivals_.empty() && arrivals_.begin()->first <= clock::now()) return false;
    is_armed_ = true;
    set_timer(arrivals_.empty() ? clock::time_point{} : arrivals_.begin()->first);
    return true;
  }

  int event() const { return timer_.number(); }

  /// Drops all arrivals, and later ones too.
  void close() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    arrivals_.clear();
    set_timer({});
  }

  bool is_closed() {
    const std::scoped_lock lock(mutex_);
    return is_closed_;
  }

 private:
  /// Makes the timer readable from this time on, at once if it is in the past, or never if it is 0. It is not readable
  /// before.
  void set_timer(clock::time_point due) {
    const auto nanoseconds = std::chrono::nanoseconds(due.time_since_epoch()).count();
    itimerspec time{};
    time.it_value.tv_sec = nanoseconds / 1'000'000'000;
    time.it_value.tv_nsec = nanoseconds % 1'000'000'000;
    timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &time, nullptr);
  }

  std::mutex mutex_;
  std::multimap<clock::time_point, arrival> arrivals_;  // by the time they are due; equal times in the order of put()
  bool is_armed_ = false, is_closed_ = false;
  const memory::descriptor timer_;
};

class loopback_worker final : public fabric::worker {
 public:
  loopback_worker(std::shared_ptr<loopback_network> network, int process, std::shared_ptr<loopback_counters> counters,
                  fabric::receiver& target)
      : network_(std::move(network)),
        process_(process),
        counters_(std::move(counters)),
        receiver_(target),
        address_(network_->add_worker(process, inbox_)) {}
  ~loopback_worker() override { network_->remove_worker(address_); }

  std::string address() const override { return pack(address_); }
  std::unique_ptr<fabric::link> connect(std::string_view address, std::uint64_t tag) override;

  void send(const connection_pointer& used, message_pointer sent) {
    if (used->is_broken) return;
    counters_->messages.fetch_add(1, std::memory_order_relaxed);
    counters_->bytes.fetch_add(static_cast<std::int64_t>(sizeof sent->header + sent->size), std::memory_order_relaxed);
    if (kept_.empty() && !used->draw(network_->find_path(*used).faults.keep))
      transmit(*used, *sent, used);
    else
      kept_.emplace_back(used, std::move(sent));
  }

  bool progress() override {
    const bool sends = !kept_.empty();
    for (const auto& [used, sent] : std::exchange(kept_, {}))
      if (used->is_open && !used->is_broken) transmit(*used, *sent, used);
    auto arrivals = inbox_->take();
    for (auto& each : arrivals) {
      if (inbox_->is_closed()) break;  // a receiver may have killed this process
      deliver(each);
      each = {};  // the receiver must not use the payload any more
    }
    return sends || !arrivals.empty();
  }

  int event() const override { return inbox_->event(); }
  bool arm() override { return kept_.empty() && inbox_->arm(); }

 private:
  void transmit(loopback_connection& used, const fabric::message& sent, const connection_pointer& pointer) {
    const auto [faults, is_open] = network_->find_path(used);
    if (!is_open || used.draw(faults.drop)) return;
    const auto target = used.target.lock();
    if (target == nullptr) return inbox_->put_broken(clock::now(), pointer);
    const int copies = used.draw(faults.duplicate) ? 2 : 1;
    const auto payload = sent.payload();
    for (int copy = 0; copy < copies; ++copy) {
      const auto due = clock::now() + faults.delay + (used.draw(faults.reorder) ? faults.hold : faults.hold * 0);
      target->put(due, {.broken = nullptr, .header = sent.header, .payload = {payload.begin(), payload.end()}});
    }
  }

  void deliver(const arrival& due) {
    if (due.broken == nullptr) return receiver_.on_message(due.header, due.payload);
    if (!due.broken->is_open || std::exchange(due.broken->is_broken, true)) return;
    receiver_.on_broken(due.broken->tag);
  }

  const std::shared_ptr<loopback_network> network_;
  const int process_;
  const std::shared_ptr<loopback_counters> counters_;
  fabric::receiver& receiver_;
  const std::shared_ptr<loopback_inbox> inbox_ = std::make_shared<loopback_inbox>();
  const std::uint64_t address_;
  std::uint32_t connected_ = 0;
  std::deque<std::pair<connection_pointer, message_pointer>> kept_;  // messages to send in the next progress()
};

namespace {

class loopback_link final : public fabric::link {
 public:
  loopback_link(loopback_worker& worker, connection_pointer connection)
      : worker_(worker), connection_(std::move(connection)) {}
  ~loopback_link() override { connection_->is_open = false; }

  void send(message_pointer sent) override { worker_.send(connection_, std::move(sent)); }

 private:
  loopback_worker& worker_;
  const connection_pointer connection_;
};

}  // namespace

void loopback_network::refuse_links(int process, int count) {
  const std::lock_guard lock(mutex_);
  refused_[process] = count;
}

void loopback_network::require_links(int process) {
  const std::lock_guard lock(mutex_);
  if (const auto found = refused_.find(process); found != refused_.end() && found->second-- > 0)
    throw std::runtime_error("no descriptors are left");
}

std::unique_ptr<fabric::link> loopback_worker::connect(std::string_view address, std::uint64_t tag) {
  network_->require_links(process_);
  std::seed_seq seed{network_->seed_, static_cast<std::uint32_t>(address_ >> 32), static_cast<std::uint32_t>(address_),
                     ++connected_};
  auto made = std::make_shared<loopback_connection>(
      loopback_connection{.from = process_, .tag = tag, .owner = inbox_, .random = std::mt19937_64(seed)});
  network_->add_connection(made, address);
  return std::make_unique<loopback_link>(*this, std::move(made));
}

std::unique_ptr<fabric::worker> loopback_transport::make_worker(fabric::receiver& target) {
  return std::make_unique<loopback_worker>(network_, process_, counters_, target);
}

void loopback_network::set_faults(const loopback_faults& faults) {
  const std::unique_lock lock(mutex_);
  faults_ = faults;
}

void loopback_network::cut(int one, int other, std::optional<std::chrono::microseconds> broken_after) {
  const std::unique_lock lock(mutex_);
  cuts_[pair_of(one, other)] = broken_after;
  if (!broken_after) return;
  for (const auto& each : connections()) {
    const auto owner = each->owner.lock();
    if (owner != nullptr && each->is_between(one, other)) owner->put_broken(clock::now() + *broken_after, each);
  }
}

void loopback_network::restore(int one, int other) {
  const std::unique_lock lock(mutex_);
  cuts_.erase(pair_of(one, other));
  for (const auto& each : connections()) {
    const auto owner = each->owner.lock();
    if (owner != nullptr && each->is_between(one, other)) owner->remove_broken(each);
  }
}

void loopback_network::kill(int process) {
  const std::unique_lock lock(mutex_);
  killed_.insert(process);
  for (const auto& [address, each] : workers_) {
    const auto inbox = each.inbox.lock();
    if (inbox != nullptr && each.process == process) inbox->close();
  }
  for (const auto& each : connections()) {
    const auto owner = each->owner.lock();
    if (owner != nullptr && each->to == process) owner->put_broken(clock::now(), each);
  }
}

std::uint64_t loopback_network::add_worker(int process, const std::shared_ptr<loopback_inbox>& inbox) {
  const std::unique_lock lock(mutex_);
  const std::uint64_t address = static_cast<std::uint64_t>(process) << 32 | ++made_[process];
  workers_.emplace(address, entry{process, inbox});
  if (killed_.contains(process)) inbox->close();
  return address;
}

void loopback_network::remove_worker(std::uint64_t address) {
  const std::unique_lock lock(mutex_);
  workers_.erase(address);
}

void loopback_network::add_connection(const connection_pointer& added, std::string_view address) {
  const std::unique_lock lock(mutex_);
  if (const auto number = unpack(address)) {
    const auto found = workers_.find(*number);
    if (found != workers_.end()) {
      added->to = found->second.process;
      added->target = found->second.inbox;
    }
  }
  if (const auto delay = breaks_after(*added)) added->owner.lock()->put_broken(clock::now() + *delay, added);
  std::erase_if(connections_, [](const auto& each) { return each.expired(); });
  connections_.push_back(added);
}

std::optional<std::chrono::microseconds> loopback_network::breaks_after(const loopback_connection& added) const {
  if (added.target.expired() || killed_.contains(added.to)) return std::chrono::microseconds(0);
  const auto found = cuts_.find(pair_of(added.from, added.to));
  return found == cuts_.end() ? std::nullopt : found->second;
}

loopback_network::path loopback_network::find_path(const loopback_connection& used) const {
  const std::shared_lock lock(mutex_);
  const bool is_open =
      !cuts_.contains(pair_of(used.from, used.to)) && !killed_.contains(used.from) && !killed_.contains(used.to);
  return {faults_, is_open};
}

std::vector<connection_pointer> loopback_network::connections() {
  std::vector<connection_pointer> found;
  for (const auto& each : connections_)
    if (auto connection = each.lock()) found.push_back(std::move(connection));
  return found;
}

}  // namespace syncyte::test
