// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "fabric/key_check.hpp"
#include "fabric/known_peers.hpp"
#include "fabric/target.hpp"
#include "fabric/transport.hpp"

namespace syncyte::fabric {

/// The objects of this process that serve requests, by name.
class target_table {
 public:
  void add(object_name name, std::shared_ptr<target> object);
  /// Waits for the request that the object is serving, if any.
  void remove(object_name name);

  /// Calls visit(target) while it cannot be removed; throws SYNCYTE_ERR_HANDLE if there is none of that name.
  template <class Visit>
  auto use(object_name name, Visit&& visit) {
    const std::lock_guard lock(mutex_);
    return std::forward<Visit>(visit)(*find(name));
  }

  /// Calls target::progress() of the objects that have one; true if one of them did something.
  bool progress();
  /// The least target::time_left() of these objects; negative: none is due.
  std::chrono::nanoseconds time_left(std::chrono::nanoseconds now);

 private:
  target* find(object_name name) const;

  std::mutex mutex_;
  std::map<object_name, std::shared_ptr<target>> targets_;
  std::vector<target*> active_;  // those of them that make progress
};

/// Serves the requests of callers (caller.hpp), by the process's serving worker. Requests of a caller are served once
/// and in the order of their numbers: those that come too early are kept; those that come again are answered by a copy
/// of their answer if they must happen once, and are served again otherwise. One thread uses it.
class server final : private receiver {
 public:
  /// Messages of other kinds than hello, request and received, and links that are not this server's, go to `others`.
  /// `keys` and `peers` outlive it. Callers of unknown processes are not answered.
  server(transport& way, std::uint64_t process, key_check& keys, known_peers& peers, target_table& targets,
         receiver& others);
  ~server();

  std::string address() const { return worker_->address(); }

  /// Closes all links; nothing is served afterwards. Keep calling progress(): it takes several steps.
  void close_links();
  /// Ends the worker; nothing else is called afterwards.
  void end_worker() { worker_.reset(); }

  /// Receives and serves what has arrived, and what had been deferred; true if it did something.
  bool progress();

  /// Number of requests that have been served.
  std::uint64_t served() const { return served_; }

  /// Whether a request is deferred, because its object would have had to wait.
  bool has_deferred() const { return deferred_ > 0; }

  /// Forgets the callers of a process that is dead, and ignores it from now on.
  void forget(std::uint64_t process);

  worker& serving_worker() { return *worker_; }

 private:
  struct kept_request {
    message_header header;
    std::vector<std::byte> payload;
    std::size_t done = 0;
    std::shared_ptr<void> state = nullptr;
  };

  /// A caller of another process.
  struct client {
    process_key key{};  // of its process
    std::string address;
    std::unique_ptr<link> way;
    std::uint64_t tag = 0;          // of `way`
    std::uint64_t connections = 0;  // number of links that the caller had made when `way` was made
    bool needs_link = false;
    std::vector<kept_request> late;              // came while there was no link
    std::uint64_t served = 0;                    // all requests up to this number are done
    bool is_deferred = false;                    // the next request is in flight, and is kept
    std::map<std::uint64_t, kept_request> kept;  // requests that have to wait, by number
    /// Answers to requests that must happen once; the caller may not have received them.
    std::deque<std::shared_ptr<const message>> answers;
  };
  using client_name = std::pair<std::uint64_t, std::uint32_t>;  // process, session

  void on_message(const message_header& header, std::span<const std::byte> payload) override;
  void on_broken(std::uint64_t tag) override;

  void on_hello(const message_header& header, std::span<const std::byte> payload);
  void on_request(const message_header& header, std::span<const std::byte> payload);
  void on_received(const message_header& header);
  void forget_received(client& from, std::uint64_t received);
  bool keep(client& from, kept_request request);
  void tell_working(client& from, std::uint64_t number);
  void on_repeated(client& from, const message_header& header, std::span<const std::byte> payload);
  bool serve(client& from, served_request& request);
  void serve_kept(client& from);
  bool connect_clients();

  const std::uint64_t process_;
  key_check& keys_;
  known_peers& peers_;
  target_table& targets_;
  receiver& others_;
  std::map<client_name, client> clients_;
  std::map<std::uint64_t, client_name> tags_;  // of links
  std::set<std::uint64_t> dead_;
  std::uint64_t last_tag_ = 0;
  std::uint64_t served_ = 0;
  int deferred_ = 0;
  bool has_new_clients_ = false;
  bool is_closed_ = false;
  std::unique_ptr<worker> worker_;  // last: its address is asked for when the rest is there
};

}  // namespace syncyte::fabric
