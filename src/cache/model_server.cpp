// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "watchdog/signals_blocked.hpp"

namespace syncyte::cache {
namespace {

using clock = std::chrono::steady_clock;

/// A caller that sends nothing is dropped after this time; one that has connected may be slow on a busy machine.
constexpr std::chrono::seconds grace_period(1);

/// The other end of a connection.
struct caller {
  own_descriptor socket;
  pid_t process = 0;
  bool is_known = false;     // from this process, or it has shown the nonce
  memory::nonce secret{};    // of the listener
  clock::time_point expiry;  // until it has spoken
  std::optional<purpose> asked;
  std::shared_ptr<published_model> model;
  std::uint64_t told = 0;  // a binder: groups that it knows to be ready
  bool has_files = false;  // a binder: it has the model
  bool is_gone = false;
  bool is_full = false;                // its socket takes no message now
  std::optional<base::error> refusal;  // its answer, if the server has too many open files

  bool is_publisher() const { return asked == purpose::publish; }
  bool is_binder() const { return asked == purpose::bind; }
};

pid_t process_of(const memory::descriptor& socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

memory::descriptor make_event() {
  memory::descriptor made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) memory::fail_step("opening", "(an event)", errno);
  return made;
}

/// The list in a file: it may be longer than a message.
memory::descriptor file_of(const std::string& bytes) {
  memory::descriptor file = memory::open_memfd("syncyte-models");
  base::require(static_cast<bool>(file) && ftruncate(file.number(), static_cast<off_t>(bytes.size())) == 0 &&
                    pwrite(file.number(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
                SYNCYTE_ERR_IO, "the list of models cannot be written: {}", base::errno_text(errno));
  return file;
}

bool has_seals(const memory::descriptor& file, int wanted) {
  const int seals = fcntl(file.number(), F_GET_SEALS);
  return seals >= 0 && (seals & wanted) == wanted;
}

bool has_size(const memory::descriptor& file, std::uint64_t bytes) {
  struct stat found{};
  return fstat(file.number(), &found) == 0 && static_cast<std::uint64_t>(found.st_size) == bytes;
}

}  // namespace

/// State that the thread alone uses.
class model_server::loop {
 public:
  explicit loop(model_server& of) : server_(of), catalog_(of.budget_) {}

  void run() {
    while (take_arrivals()) {
      wait();
      for (caller& each : callers_) serve(each);
      tell_binders();
      drop_gone();
    }
  }

 private:
  using listener = std::pair<own_descriptor, memory::nonce>;

  /// Listeners and connections that other threads have passed. False if the server stops.
  bool take_arrivals() {
    std::vector<arrival> arrived;
    {
      const std::lock_guard lock(server_.mutex_);
      if (server_.is_stopping_) return false;
      arrived.swap(server_.arrivals_);
    }
    for (arrival& each : arrived) {
      if (each.is_listener)
        listeners_.emplace_back(own_descriptor(std::move(each.socket)), each.secret);
      else
        add(std::move(each.socket), true, {});
    }
    return true;
  }

  void add(memory::descriptor socket, bool is_known, const memory::nonce& secret) {
    caller& added = callers_.emplace_back();
    added.process = process_of(socket);
    added.socket = own_descriptor(std::move(socket));
    added.is_known = is_known;
    added.secret = secret;
    added.expiry = clock::now() + grace_period;
  }

  /// Sleeps until a message, a caller, the end of a connection, or the time at which a silent caller is dropped.
  void wait() {
    std::vector<pollfd> entries{{server_.wake_.get().number(), POLLIN, 0}};
    std::optional<clock::time_point> expiry;
    for (const auto& [socket, secret] : listeners_) entries.push_back({socket.get().number(), POLLIN, 0});
    for (const caller& each : callers_) {
      entries.push_back({each.socket.get().number(), static_cast<short>(each.is_full ? POLLIN | POLLOUT : POLLIN), 0});
      if (!each.asked) expiry = std::min(expiry.value_or(each.expiry), each.expiry);
    }
    const auto left = [&] { return std::chrono::ceil<std::chrono::milliseconds>(*expiry - clock::now()).count(); };
    poll(entries.data(), entries.size(), expiry ? static_cast<int>(std::clamp<long>(left(), 0, 10000)) : -1);
    if (entries.front().revents != 0) {
      eventfd_t ignored = 0;
      eventfd_read(server_.wake_.get().number(), &ignored);
    }
    for (std::size_t number = 0; number < listeners_.size(); ++number)
      if (entries[1 + number].revents != 0) accept_or_refuse(listeners_[number]);
  }

  void accept_from(const listener& from, const std::optional<base::error>& refusal = {}) {
    if (memory::descriptor socket = memory::accept_caller(from.first.get())) {
      add(std::move(socket), false, from.second);
      callers_.back().refusal = refusal;
    }
  }

  /// With too many open files, the caller gets the spare descriptor's number, and the error as its answer.
  void accept_or_refuse(const listener& from) {
    const auto failed = base::error_of([&] { accept_from(from); });
    if (!failed) return;
    if (!std::exchange(has_warned_, true)) base::log(SYNCYTE_LOG_WARN, "models: {}", failed->what());
    spare_ = {};
    const base::error refusal(failed->status(), fmt::format("the process that serves the models: {}", failed->what()));
    if (base::error_of([&] { accept_from(from, refusal); }))  // the caller waits in the listener's queue
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

  void serve(caller& from) {
    while (!from.is_gone) {
      memory::message got = memory::receive_message(from.socket.get());
      if (got.code == EAGAIN) break;
      if (got.bytes.empty()) {
        from.is_gone = true;
        break;
      }
      try {
        memory::check_open_files("receiving a model", got.code);
        from.asked ? hear(from, got) : begin(from, got.bytes);
      } catch (...) {
        refuse(from, base::current_error());
      }
    }
    if (!from.asked && clock::now() > from.expiry) from.is_gone = true;
    if (from.is_gone) leave(from);
  }

  void begin(caller& from, const std::string& bytes) {
    const auto found = read_request(bytes);
    from.is_gone = !found;  // not one of ours
    if (!found) return;
    if (!from.is_known && found->nonce != from.secret)
      base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = "nonce", .value = "another one", .expected = "the server's"});
    if (from.refusal) throw *from.refusal;
    const std::string name = found->name.data();
    from.asked = found->what;
    switch (found->what) {
      case purpose::hello:
        return answer(from);
      case purpose::publish:
        from.model = catalog_.claim(name, found->place, from.process);
        return tell(from, {});
      case purpose::bind:
        from.model = catalog_.hold(name, from.process);
        return;  // tell_binders() answers
      case purpose::remove:
        catalog_.remove(name);
        return answer(from);
      case purpose::list: {
        const memory::descriptor list = file_of(encode(catalog_.all()));
        return answer(from, {&list, 1});
      }
    }
    from.is_gone = true;
  }

  /// The last note of a connection.
  void answer(caller& to, std::span<const memory::descriptor> files = {}) {
    tell(to, {}, files);
    to.is_gone = true;
  }

  void tell(caller& to, const note& told, std::span<const memory::descriptor> files = {}) {
    const int code = memory::send_message(to.socket.get(), told.encode(), files);
    to.is_full = code == EAGAIN;
    if (code != 0 && code != EAGAIN) to.is_gone = true;
  }

  void refuse(caller& from, const base::error& failed) {
    tell(from, note::of(failed));
    from.is_gone = true;
  }

  /// A note of a publisher: it sends the model's files, then numbers of groups, then its end.
  void hear(caller& from, memory::message& got) {
    if (!from.is_publisher() || from.model->is_complete) return;
    published_model& model = *from.model;
    const note told = note::decode(got.bytes);
    if (told.status != SYNCYTE_SUCCESS) {
      catalog_.fail(model, base::error::unpack(told.status, told.text));
      return answer(from);
    }
    if (told.what == news::memory) {
      base::require(got.files.size() == (model.device.empty() ? 1U : 2U) && model.files.empty() && told.value >= 1 &&
                        (!model.device.empty() || has_size(got.files.front(), model.bytes)) &&
                        has_seals(got.files.front(), F_SEAL_SHRINK | F_SEAL_GROW),
                    SYNCYTE_ERR_FORMAT, "the file of the model \"{}\" has another size, or can be resized", model.name);
      model.groups = told.value;
      model.files = std::move(got.files);
      return;
    }
    base::require(!model.files.empty() && told.value >= model.ready && told.value <= model.groups, SYNCYTE_ERR_FORMAT,
                  "the model \"{}\" has {} groups; {} cannot be ready", model.name, model.groups, told.value);
    model.ready = told.value;
    if (told.what != news::done) return;
    base::require(model.ready == model.groups && has_seals(model.files.front(), F_SEAL_WRITE), SYNCYTE_ERR_FORMAT,
                  "the model \"{}\" is not complete, or its file is not sealed", model.name);
    model.is_complete = true;
    answer(from);
  }

  /// Gives binders the files as soon as they are there, and the number of groups that are ready.
  void tell_binders() {
    for (caller& each : callers_) {
      if (!each.is_binder() || each.is_gone) continue;
      const published_model& model = *each.model;
      if (model.failure) {
        refuse(each, *model.failure);
        leave(each);
      } else if (!model.files.empty() && (!each.has_files || each.told < model.ready)) {
        tell(each, {each.has_files ? news::ready : news::done, SYNCYTE_SUCCESS, model.ready, {}},
             each.has_files ? std::span<const memory::descriptor>() : model.files);
        if (!each.is_full) each.told = model.ready;
        each.has_files = each.has_files || !each.is_full;
      } else {
        each.is_full = false;
      }
    }
  }

  /// Ends what the caller has asked for.
  void leave(caller& from) {
    from.is_gone = true;
    if (from.model == nullptr) return;
    const auto model = std::exchange(from.model, nullptr);
    if (from.is_binder()) catalog_.drop(*model, from.process);
    if (!from.is_publisher() || model->is_complete || model->failure) return;
    catalog_.fail(*model, base::error(SYNCYTE_ERR_PEER_DIED,
                                      fmt::format("the publication of the model \"{}\" has ended before all of it was "
                                                  "there: process {} has ended, or given up",
                                                  model->name, from.process)));
  }

  void drop_gone() {
    for (caller& each : callers_)
      if (each.is_gone) leave(each);
    std::erase_if(callers_, [](const caller& each) { return each.is_gone; });
    if (!spare_) base::error_of([&] { spare_ = own_descriptor(make_event()); });
  }

  model_server& server_;
  model_catalog catalog_;
  std::vector<listener> listeners_;
  std::list<caller> callers_;
  own_descriptor spare_;  // closed to accept a caller when there are too many open files
  bool has_warned_ = false;
};

model_server::model_server(const model_budget& budget) : wake_(make_event()), process_(getpid()), budget_(budget) {
  const watchdog::signals_blocked in_the_new_thread;
  thread_ = std::thread([this] { loop(*this).run(); });
  ::pthread_setname_np(thread_.native_handle(), "syncyte-models");
}

model_server::~model_server() {
  if (process_ != getpid()) {  // a forked child does not have the thread
    thread_.detach();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  eventfd_write(wake_.get().number(), 1);
  thread_.join();
}

void model_server::pass(arrival arrived) {
  const int event = wake_.get().number();
  const std::lock_guard lock(mutex_);
  arrivals_.push_back(std::move(arrived));
  eventfd_write(event, 1);
}

own_descriptor model_server::connect() {
  wake_.get();
  auto [here, there] = memory::connected_pair();
  pass({std::move(there), false, {}});
  return own_descriptor(std::move(here));
}

void model_server::listen_at(memory::descriptor listener, const memory::nonce& secret) {
  pass({std::move(listener), true, secret});
}

}  // namespace syncyte::cache
