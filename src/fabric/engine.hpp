#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fabric/caller.hpp"
#include "fabric/server.hpp"
#include "memory/descriptor.hpp"

namespace syncyte::fabric {

/// The fabric of one process: a thread that serves requests of other processes and sleeps while there are none, and a
/// bounded pool of callers, which the threads that wait for answers drive. Not a singleton: tests run several in one
/// process. Thread-safe.
class engine {
 public:
  static constexpr std::size_t most_callers = 16;

  /// Throws std::runtime_error if the transport cannot make a worker.
  explicit engine(std::unique_ptr<transport> way, time_limits limits = {});
  /// Ends the thread. No exchange is under way.
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  std::uint64_t process() const { return process_; }
  std::string address() const { return address_; }

  /// The peer with this number; added if it is not known. It lives as long as the engine.
  peer& find_peer(std::uint64_t process, std::string_view address);

  target_table& targets() { return targets_; }

 private:
  friend class exchange;

  caller& borrow();
  void give_back(caller& borrowed);
  void serve();

  std::unique_ptr<transport> transport_;
  const time_limits limits_;
  const std::uint64_t process_;
  target_table targets_;
  server server_;
  const std::string address_;
  std::mutex mutex_;
  std::map<std::uint64_t, peer> peers_;
  std::deque<caller> callers_;
  memory::descriptor stop_event_;
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

/// One operation: requests to one or several owners, which overlap. One thread at a time uses it.
class exchange {
 public:
  /// Throws std::runtime_error if the transport cannot make a worker.
  explicit exchange(engine& through);
  /// Waits for nothing: answers that come later are dropped.
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Begins to send; `source` lives until the exchange has ended or goes.
  void add(peer& owner, request_source& source);

  /// Goes on without waiting; true once all requests are answered, or failed. Throws the first owner's error then.
  bool test();

  /// Waits. `look` is called about once a millisecond, and may throw to end the wait.
  void wait(const std::function<void()>& look);

 private:
  bool has_ended() const;
  void throw_error() const;

  engine& engine_;
  caller& caller_;
  std::deque<conversation> talks_;
};

}  // namespace syncyte::fabric
