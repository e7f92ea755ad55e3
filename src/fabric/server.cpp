// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/server.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::fabric {
namespace {

/// Most requests that are kept for a caller until there is a link to it; it sends further ones again later.
constexpr std::size_t most_late = 16;

}  // namespace

void target_table::add(object_name name, std::shared_ptr<target> object) {
  const std::lock_guard lock(mutex_);
  if (object->makes_progress()) active_.push_back(object.get());
  targets_[name] = std::move(object);
}

void target_table::remove(object_name name) {
  std::shared_ptr<target> removed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  if (auto node = targets_.extract(name)) removed = std::move(node.mapped());
  std::erase(active_, removed.get());
}

bool target_table::progress() {
  const std::lock_guard lock(mutex_);
  bool did_something = false;
  for (target* const each : active_) did_something |= each->progress();
  return did_something;
}

std::chrono::nanoseconds target_table::time_left(std::chrono::nanoseconds now) {
  const std::lock_guard lock(mutex_);
  std::chrono::nanoseconds least(-1);
  for (const target* const each : active_) {
    const auto left = each->time_left(now);
    if (left.count() >= 0 && (least.count() < 0 || left < least)) least = left;
  }
  return least;
}

target* target_table::find(object_name name) const {
  const auto found = targets_.find(name);
  base::require(found != targets_.end(), SYNCYTE_ERR_HANDLE, "object {} of communicator {:x} has been freed",
                name.number, name.communicator);
  return found->second.get();
}

server::server(transport& way, std::uint64_t process, key_check& keys, known_peers& peers, target_table& targets,
               receiver& others)
    : process_(process),
      keys_(keys),
      peers_(peers),
      targets_(targets),
      others_(others),
      worker_(way.make_worker(*this)) {}

server::~server() { close_links(); }

void server::close_links() {
  is_closed_ = true;
  deferred_ = 0;
  tags_.clear();
  clients_.clear();
}

bool server::progress() {
  bool did_something = worker_->progress();
  did_something |= connect_clients();
  if (deferred_ > 0) {
    const int before = deferred_;
    for (auto& [name, from] : clients_)
      if (from.is_deferred) serve_kept(from);
    did_something |= deferred_ < before;
  }
  return targets_.progress() || did_something;
}

void server::on_message(const message_header& header, std::span<const std::byte> payload) {
  if (!keys_.admits(header) || is_closed_ || dead_.contains(header.sender)) return;
  if (header.kind == message_kind::hello)
    on_hello(header, payload);
  else if (header.kind == message_kind::request)
    on_request(header, payload);
  else if (header.kind == message_kind::received)
    on_received(header);
  else
    others_.on_message(header, payload);
}

void server::on_broken(std::uint64_t tag) {
  const auto found = tags_.find(tag);
  if (found == tags_.end()) return others_.on_broken(tag);
  clients_[found->second].needs_link = true;  // made when the caller says hello again
}

void server::forget(std::uint64_t process) {
  dead_.insert(process);
  const auto begin = clients_.lower_bound({process, 0});
  auto end = begin;
  for (; end != clients_.end() && end->first.first == process; ++end) {
    deferred_ -= end->second.is_deferred ? 1 : 0;
    tags_.erase(end->second.tag);
  }
  clients_.erase(begin, end);
}

/// A link cannot be made while the worker delivers messages: see connect_clients(). UCX ends the process for an
/// invalid address: only a process that this one knows from MPI may give one, and has the key.
void server::on_hello(const message_header& header, std::span<const std::byte> payload) {
  const peer* const sender = peers_.find(header.sender);
  if (sender == nullptr || header.session >= most_callers || payload.empty() || payload.size() > most_address) return;
  client& from = clients_[{header.sender, header.session}];
  from.key = sender->key;
  from.address.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
  if (header.number > from.connections) from.needs_link = true;
  from.connections = std::max(from.connections, header.number);
  has_new_clients_ |= from.needs_link;
}

bool server::connect_clients() {
  if (!std::exchange(has_new_clients_, false)) return false;
  for (auto& [name, from] : clients_) {
    if (!from.needs_link) continue;
    from.way.reset();
    tags_.erase(from.tag);
    try {
      from.way = worker_->connect(from.address, ++last_tag_);
    } catch (const std::runtime_error& error) {
      base::log(SYNCYTE_LOG_ERROR, "the fabric cannot answer a process: {}", error.what());
      continue;  // until the caller says hello again
    }
    from.needs_link = false;
    from.tag = last_tag_;
    tags_[from.tag] = name;
    for (const kept_request& request : std::exchange(from.late, {})) on_request(request.header, request.payload);
    if (!from.is_deferred) serve_kept(from);
  }
  return true;
}

void server::on_request(const message_header& header, std::span<const std::byte> payload) {
  const auto found = clients_.find({header.sender, header.session});
  if (found == clients_.end()) return;  // its hello was lost; the caller sends both again
  client& from = found->second;
  if (from.needs_link) {  // it could not be answered; a repeated request would be lost once more
    if (from.late.size() < most_late) from.late.push_back({header, {payload.begin(), payload.end()}});
    return;
  }
  forget_received(from, header.received);
  if (header.number <= from.served) return on_repeated(from, header, payload);
  if (header.number > from.served + most_unanswered) return;
  const bool is_next = header.number == from.served + 1 && from.kept.empty() && from.way;
  if (!is_next) {
    if (!keep(from, {header, {payload.begin(), payload.end()}})) tell_working(from, header.number);
    if (!from.is_deferred) serve_kept(from);
    return;
  }
  served_request request{header, payload};
  if (serve(from, request)) return;
  keep(from, {header, {payload.begin(), payload.end()}, request.done, std::move(request.state)});
  from.is_deferred = true;
  ++deferred_;
}

void server::on_received(const message_header& header) {
  const auto found = clients_.find({header.sender, header.session});
  if (found != clients_.end()) forget_received(found->second, header.received);
}

/// Forgets answers that the caller has, and requests that it has given up.
void server::forget_received(client& from, std::uint64_t received) {
  while (!from.answers.empty() && from.answers.front()->header.number <= received) from.answers.pop_front();
  if (received <= from.served) return;
  from.kept.erase(from.kept.begin(), from.kept.upper_bound(received));
  deferred_ -= from.is_deferred ? 1 : 0;
  from.is_deferred = false;
  from.served = received;
}

/// Keeps a request that has to wait; false if it is kept already.
bool server::keep(client& from, kept_request request) {
  return from.kept.emplace(request.header.number, std::move(request)).second;
}

void server::tell_working(client& from, std::uint64_t number) {
  const message_header working{.key = from.key, .sender = process_, .number = number, .kind = message_kind::working};
  if (from.way) from.way->send(std::make_shared<message>(working, 0));
}

/// A request that has been done before.
void server::on_repeated(client& from, const message_header& header, std::span<const std::byte> payload) {
  if (!from.way) return;
  for (const auto& sent : from.answers)
    if (sent->header.number == header.number) return from.way->send(sent);
  if (header.changes != 0) return;  // the caller has the answer
  const std::uint64_t served = std::exchange(from.served, header.number - 1);
  served_request request{header, payload};
  if (!serve(from, request)) tell_working(from, header.number);
  from.served = served;
}

/// Serves a request and answers it; false if it has to wait.
bool server::serve(client& from, served_request& request) {
  const message_header& asked = request.header;
  message_header reply{.key = from.key, .sender = process_, .number = asked.number, .kind = message_kind::answer};
  answer result;
  const auto error = base::error_of([&] {
    const bool is_done =
        targets_.use({asked.communicator, asked.object}, [&](target& object) { return object.serve(request, result); });
    reply.kind = is_done ? message_kind::answer : message_kind::working;
  });
  if (reply.kind == message_kind::working) return false;
  if (error) {
    const std::string packed = error->pack();
    const auto bytes = result.resize(std::min(packed.size(), most_payload));
    std::memcpy(bytes.data(), packed.data(), bytes.size());
    reply.status = error->status();
  }
  from.served = asked.number;
  ++served_;
  const std::shared_ptr<const message> sent = result.to_message(reply);
  if (asked.changes != 0) from.answers.push_back(sent);
  if (from.answers.size() > most_unanswered) from.answers.pop_front();
  from.way->send(sent);
  return true;
}

/// Serves kept requests as far as their numbers follow each other.
void server::serve_kept(client& from) {
  while (from.way) {
    const auto next = from.kept.find(from.served + 1);
    if (next == from.kept.end()) return;
    kept_request& kept = next->second;
    served_request request{kept.header, kept.payload, kept.done, std::move(kept.state)};
    const bool is_done = serve(from, request);
    kept.done = request.done;
    kept.state = std::move(request.state);
    deferred_ += static_cast<int>(!is_done) - static_cast<int>(from.is_deferred);
    from.is_deferred = !is_done;
    if (!is_done) return;
    from.kept.erase(next);
  }
}

}  // namespace syncyte::fabric
