// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/caller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <stdexcept>
#include <utility>

namespace syncyte::fabric {

caller::caller(transport& way, std::uint64_t process, key_check& keys, std::uint32_t number, time_limits limits,
               const std::function<void(std::uint64_t)>& declare_dead)
    : process_(process),
      keys_(keys),
      number_(number),
      limits_(limits),
      declare_dead_(declare_dead),
      worker_(way.make_worker(*this)),
      address_(worker_->address()) {}

caller::~caller() { close_links(); }

caller::session& caller::session_with(peer& owner) {
  return sessions_.try_emplace(owner.process, session{.owner = owner}).first->second;
}

void caller::begin(peer& owner, conversation& talk) {
  base::require(!is_closed_, SYNCYTE_ERR_NOT_INITIALIZED, "Syncyte has ended");
  session& with = session_with(owner);
  if (with.unanswered.empty()) worker_->progress();  // notices that the link broke while it was idle
  with.ready.push_back(&talk);
  send_ready(with);
}

void caller::begin_last(peer* owner, std::deque<conversation>& talks) {
  base::require(!is_closed_, SYNCYTE_ERR_NOT_INITIALIZED, "Syncyte has ended");
  held_.push_back({owner, &talks});
  begin_held();
}

/// Begins held conversations whose turn has come; true if there were some.
bool caller::begin_held() {
  const auto begins = [&](const held_conversation& each) {
    const auto others = std::views::take(*each.talks, std::ssize(*each.talks) - 1);
    if (!std::ranges::all_of(others, &conversation::has_ended)) return false;
    conversation& talk = each.talks->back();
    if (std::ranges::any_of(others, [](const conversation& other) { return other.error.has_value(); }))
      talk.has_more = false;
    else if (each.owner != nullptr)
      begin(*each.owner, talk);
    else
      next_of(talk);
    return true;
  };
  return std::erase_if(held_, begins) > 0;
}

void caller::abandon(conversation& talk) {
  std::erase_if(held_, [&](const held_conversation& each) { return &each.talks->back() == &talk; });
  for (auto& [process, with] : sessions_) {
    std::erase(with.ready, &talk);
    for (auto& request : with.unanswered)
      if (request.talk == &talk) request.talk = nullptr;
  }
}

/// Makes a link, and introduces this caller on it.
void caller::connect(session& to) {
  to.way.reset();
  to.is_broken = false;
  to.way = worker_->connect(to.owner.address, to.owner.process);
  ++to.connections;
  send_hello(to);
}

void caller::send_hello(session& to) {
  const message_header begin{.key = to.owner.key,
                             .sender = process_,
                             .number = to.connections,
                             .session = number_,
                             .kind = message_kind::hello};
  auto hello = std::make_shared<message>(begin, address_.size());
  std::memcpy(hello->payload().data(), address_.data(), address_.size());
  to.way->send(std::move(hello));
}

/// A conversation's next request; null if there is none, or it cannot be made.
std::shared_ptr<message> caller::next_of(conversation& talk) {
  std::shared_ptr<message> request;
  if (auto error = base::error_of([&] { request = talk.source->next(); })) talk.fail(std::move(*error));
  talk.has_more = request != nullptr;
  return request;
}

/// Takes requests from one conversation after another while the session has room for them.
bool caller::send_ready(session& to) {
  bool did_something = false;
  while (!to.ready.empty() && to.sent - to.received < most_unanswered) {
    if (to.owner.is_dead) {
      end_dead(to);
      return true;
    }
    did_something = true;
    conversation& talk = *to.ready.front();
    auto request = next_of(talk);
    if (!request) {
      to.ready.pop_front();
      continue;
    }
    request->header.key = to.owner.key;
    request->header.sender = process_;
    request->header.session = number_;
    request->header.kind = message_kind::request;
    request->header.number = ++to.sent;
    request->header.received = to.received;
    if (to.unanswered.empty()) to.heard = to.moved = now();
    to.kept = 0;
    ++talk.unanswered;
    to.unanswered.push_back({request, &talk});
    try {
      const bool was_idle = to.unanswered.size() == 1;
      if (!to.way || (to.is_broken && was_idle)) connect(to);
      if (!to.is_broken) to.way->send(request);  // otherwise retry() connects again, and sends all that is unanswered
    } catch (const std::runtime_error& error) {
      end(to, SYNCYTE_ERR_IO, fmt::format("cannot be reached: {}", error.what()));
    }
  }
  return did_something;
}

/// Lets the owner forget the answers of an idle session, if they are large; otherwise the next request does.
void caller::confirm(session& to) {
  constexpr std::size_t most_kept = std::size_t{128} << 10;
  if (to.kept <= most_kept || !to.unanswered.empty() || !to.ready.empty() || !to.way) return;
  to.kept = 0;
  const message_header confirmed{.key = to.owner.key,
                                 .sender = process_,
                                 .received = to.received,
                                 .session = number_,
                                 .kind = message_kind::received};
  to.way->send(std::make_shared<message>(confirmed, 0));
}

bool caller::is_busy() const {
  return !held_.empty() || std::ranges::any_of(sessions_, [](const auto& each) {
    return !each.second.unanswered.empty() || !each.second.ready.empty();
  });
}

bool caller::progress() {
  if (!worker_) return false;
  bool did_something = worker_->progress();
  for (auto& [process, to] : sessions_) {
    did_something |= send_ready(to);
    confirm(to);
  }
  return begin_held() || did_something;
}

void caller::on_message(const message_header& header, std::span<const std::byte> payload) {
  if (!keys_.admits(header)) return;
  const auto found = sessions_.find(header.sender);
  if (found == sessions_.end()) return;
  session& with = found->second;
  with.heard = now();
  if (header.kind != message_kind::answer || with.unanswered.empty()) return;
  const auto request =
      std::lower_bound(with.unanswered.begin(), with.unanswered.end(), header.number,
                       [](const auto& entry, std::uint64_t number) { return entry.sent->header.number < number; });
  if (request == with.unanswered.end() || request->sent->header.number != header.number) return;  // answered before
  if (request == with.unanswered.begin()) with.moved = with.heard;
  const unanswered_request answered = std::move(*request);
  with.unanswered.erase(request);
  with.received = with.unanswered.empty() ? with.sent : with.unanswered.front().sent->header.number - 1;
  if (answered.sent->header.changes != 0) with.kept += payload.size();
  if (answered.talk == nullptr) return;
  conversation& talk = *answered.talk;
  --talk.unanswered;
  const auto error = base::error_of([&] {
    if (header.status == SYNCYTE_SUCCESS) return talk.source->on_answer(answered.sent->header, payload);
    throw base::error::unpack(header.status, {reinterpret_cast<const char*>(payload.data()), payload.size()});
  });
  if (!error) return;
  talk.fail(*error);
  std::erase(with.ready, &talk);
}

void caller::on_broken(std::uint64_t tag) {
  const auto found = sessions_.find(tag);
  if (found != sessions_.end()) found->second.is_broken = true;
}

/// Ends all conversations of a session with an error, whose text begins with the owner's name. `dead_rank`: the owner's
/// number in MPI_COMM_WORLD if it has died.
void caller::end(session& to, syncyte_status_t status, const std::string& reason, int dead_rank) {
  const auto fail = [&](conversation& talk) {
    talk.fail(base::error(status, talk.source->owner_name() + " " + reason, {.rank = dead_rank}));
  };
  for (const auto& request : to.unanswered) {
    if (request.talk == nullptr) continue;
    fail(*request.talk);
    --request.talk->unanswered;
  }
  for (conversation* const talk : to.ready) fail(*talk);
  to.unanswered.clear();
  to.received = to.sent;
  to.ready.clear();
  to.way.reset();
}

void caller::end_dead(session& to) {
  end(to, SYNCYTE_ERR_PEER_DIED,
      fmt::format("died, or has been out of reach for {} seconds",
                  std::chrono::duration<double>(limits_.deadline).count()),
      to.owner.world_rank);
}

void caller::close_links() {
  is_closed_ = true;
  for (auto& [process, to] : sessions_) end(to, SYNCYTE_ERR_NOT_INITIALIZED, "has not answered: Syncyte has ended");
  sessions_.clear();
  for (const held_conversation& each : held_)
    each.talks->back().fail(base::error(SYNCYTE_ERR_NOT_INITIALIZED, "Syncyte has ended"));
  held_.clear();
}

void caller::retry() {
  const auto time = now();
  // A process that was stopped itself cannot tell how long others have been silent.
  const bool was_stopped = time - std::exchange(looked_, time) > limits_.deadline / 2;
  for (auto& [process, at] : sessions_) {
    if (was_stopped) at.heard = time;
    if (!at.unanswered.empty()) retry(at, time);
  }
}

void caller::retry(session& at, std::chrono::nanoseconds time) {
  if (time - at.heard > limits_.deadline) declare_dead_(at.owner.process);
  if (at.owner.is_dead) return end_dead(at);
  if (time - at.moved < (at.is_broken ? limits_.resend / 8 : limits_.resend)) return;
  at.moved = time;
  try {
    // A link may be broken without our knowing: after a cut, TCP tries again only after as long a time. The first time
    // the owner may just have lost its own link.
    if (at.is_broken || time - at.heard > limits_.resend * 3 / 2)
      connect(at);
    else
      send_hello(at);
    for (const auto& request : at.unanswered) at.way->send(request.sent);
  } catch (const std::runtime_error& error) {
    end(at, SYNCYTE_ERR_IO, fmt::format("cannot be reached: {}", error.what()));
  }
}

}  // namespace syncyte::fabric
