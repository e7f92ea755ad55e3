// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "fabric/key_check.hpp"
#include "fabric/peer.hpp"
#include "fabric/transport.hpp"

namespace syncyte::fabric {

/// Requests of one operation to one owner, which the caller takes one after another.
class request_source {
 public:
  virtual ~request_source() = default;

  /// The next request: operation, object, arguments, `changes` and the payload are set. Null: there are no more.
  virtual std::shared_ptr<message> next() = 0;

  /// The answer to a request of next(). Answers may come in another order than requests.
  virtual void on_answer(const message_header& request, std::span<const std::byte> payload) = 0;

  /// Name of the owner, for errors: "rank 3".
  virtual std::string owner_name() const = 0;
};

/// One operation's requests to one owner, and how far they are.
struct conversation {
  request_source* source = nullptr;
  int unanswered = 0;
  bool has_more = true;
  std::optional<base::error> error;

  bool has_ended() const { return !has_more && unanswered == 0; }

  /// Asks nothing more; the first error stays.
  void fail(base::error reason) {
    if (!error) error = std::move(reason);
    has_more = false;
  }
};

/// Sends requests of this process to serving workers of others, and receives the answers, by a worker of its own. Each
/// request is applied at its owner once and, among requests of one caller to one owner, in order: requests are numbered
/// and sent again until they are answered (see server.hpp for the owner's side). A conversation's requests follow those
/// of all conversations with that owner that began before it. At most most_unanswered requests to an owner are in
/// flight, which bounds memory on both sides.
///
/// A thread that uses it holds its mutex.
class caller final : private receiver {
 public:
  /// `number`: of this caller in its process. declare_dead(process) makes a process dead for good. `keys` outlives the
  /// caller.
  caller(transport& way, std::uint64_t process, key_check& keys, std::uint32_t number, time_limits limits,
         const std::function<void(std::uint64_t)>& declare_dead);
  ~caller();

  std::mutex mutex;

  /// Begins a conversation, which lives until it has ended or is abandoned.
  void begin(peer& owner, conversation& talk);
  /// Begins the last of an operation's conversations when the others have ended; ends it if one of them failed.
  /// Whichever thread makes progress of the caller begins it. No owner: its source is asked once, and has no requests.
  void begin_last(peer* owner, std::deque<conversation>& talks);
  /// Forgets a conversation: answers to its requests are dropped.
  void abandon(conversation& talk);

  /// Whether there are requests to send, or to be answered.
  bool is_busy() const;

  /// Receives answers and sends further requests, as far as possible without waiting; true if it did something.
  bool progress();

  /// Sends again what has waited too long for an answer, and ends conversations with dead owners. Call it about once a
  /// millisecond while a conversation has not ended.
  void retry();

  /// Ends all conversations with SYNCYTE_ERR_NOT_INITIALIZED, takes no others, and closes all links. Keep calling
  /// progress(): closing takes several steps.
  void close_links();
  /// Ends the worker, after close_links().
  void end_worker() { worker_.reset(); }

  /// Whether it can sleep now until event() is readable, or something is due in retry().
  bool arm() { return worker_->arm(); }
  int event() const { return worker_->event(); }

  std::atomic<int> waiting = 0;  // threads in exchange::wait(), each of which makes progress of the caller

  // Used by the engine, under its mutex.
  int users = 0;                // streams that use it
  std::atomic<int> driven = 0;  // exchanges on which the serving thread makes progress; read without the mutex
  bool is_behind = false;       // requests that were given up may still keep others waiting

 private:
  struct unanswered_request {
    std::shared_ptr<const message> sent;
    conversation* talk;  // null: abandoned
  };

  /// All requests to one owner.
  struct session {
    peer& owner;
    std::unique_ptr<link> way = nullptr;
    bool is_broken = false;
    std::uint64_t connections = 0;                   // number of links made
    std::uint64_t sent = 0;                          // number of the last request
    std::uint64_t received = 0;                      // all requests up to this number have been answered
    std::deque<unanswered_request> unanswered = {};  // ascending numbers
    std::deque<conversation*> ready = {};            // have more requests; in the order of their begins
    std::size_t kept = 0;                            // bytes of answers that the owner may keep since the last request
    std::chrono::nanoseconds heard{};                // when the owner's last message came, or the first request went
    std::chrono::nanoseconds moved{};                // when a request became the oldest one, or was sent again
  };

  /// The last one of `talks`, which waits for the end of the others.
  struct held_conversation {
    peer* owner;  // null: it has no requests
    std::deque<conversation>* talks;
  };

  void on_message(const message_header& header, std::span<const std::byte> payload) override;
  void on_broken(std::uint64_t tag) override;

  session& session_with(peer& owner);
  std::shared_ptr<message> next_of(conversation& talk);
  bool begin_held();
  void connect(session& to);
  void send_hello(session& to);
  bool send_ready(session& to);
  void confirm(session& to);
  void end(session& to, syncyte_status_t status, const std::string& reason, int dead_rank = -1);
  void end_dead(session& to);
  void retry(session& at, std::chrono::nanoseconds time);

  const std::uint64_t process_;
  key_check& keys_;
  const std::uint32_t number_;
  const time_limits limits_;
  const std::function<void(std::uint64_t)>& declare_dead_;
  std::unique_ptr<worker> worker_;
  std::string address_;
  std::map<std::uint64_t, session> sessions_;  // by the owner's process
  std::vector<held_conversation> held_;
  std::chrono::nanoseconds looked_{};  // when retry() was last called
  bool is_closed_ = false;
};

}  // namespace syncyte::fabric
