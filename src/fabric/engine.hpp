// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fabric/brief_polling.hpp"
#include "fabric/caller.hpp"
#include "fabric/counted_transport.hpp"
#include "fabric/key_check.hpp"
#include "fabric/known_peers.hpp"
#include "fabric/server.hpp"
#include "fabric/watch.hpp"
#include "memory/descriptor.hpp"

namespace syncyte::fabric {

/// The fabric of one process: a thread that serves requests of other processes and sleeps while there are none, and a
/// bounded pool of callers, which the threads that wait for answers drive. Not a singleton: tests run several in one
/// process. Thread-safe.
class engine {
 public:
  /// Throws std::runtime_error if the transport cannot make a worker. `on_death` is called once for each process that
  /// is dead, by any thread; it must not wait.
  explicit engine(
      std::unique_ptr<transport> way, time_limits limits = {}, std::function<void(peer&)> on_death = [](peer&) {});
  /// Calls stop() and end_transport(). No exchange may use the engine any more.
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Whether no request is in flight; makes progress on all that are.
  bool is_drained();
  /// Ends the thread, closes all links, and ends all that is in flight: exchanges end with
  /// SYNCYTE_ERR_NOT_INITIALIZED.
  void stop();
  /// After stop(): one step of closing the links. Both sides close them before either ends its workers.
  void progress_links() noexcept;
  /// After stop(): ends all workers, then the transport.
  void end_transport();

  std::uint64_t process() const { return process_; }
  std::string address() const { return address_; }
  const process_key& key() const { return keys_.key(); }
  /// Number of messages without this process's key that were dropped.
  std::int64_t refused() const { return keys_.refused(); }

  /// The processes of the communicators that were added. A process must be known at both ends before one asks the
  /// other.
  known_peers& peers() { return peers_; }

  const traffic& sent() const { return traffic_; }

  /// Makes the reserved caller, if there is none yet; false if the transport cannot. Throws nothing: ranks agree on it.
  bool reserve_caller();

  /// Objects that serve requests.
  target_table& targets() { return targets_; }

  /// Adds the processes of a communicator to peers(), and watches them; this process is one of them.
  void add_ring(std::uint64_t communicator, const std::shared_ptr<const process_table>& members);
  void remove_ring(std::uint64_t communicator);

  /// Takes the peer for dead when `process_end` becomes readable (a pidfd).
  void watch_end(peer& watched, memory::descriptor process_end);

  /// Makes a process dead for good: operations that wait for it fail, and other processes are told.
  void declare_dead(std::uint64_t process);

  /// Wakes the serving thread, which calls target::progress() then.
  void wake();

 private:
  friend class exchange;
  friend class stream;

  struct watched_process {
    peer* process;
    memory::descriptor end;
  };

  caller& borrow();
  caller& borrow_reserved();
  caller* make_caller();
  caller* with_fewest_users();
  void give_back(caller& borrowed, bool is_behind);
  void drive(caller& borrowed);
  void end_drive(caller& borrowed);
  void wake_soon();

  void serve();
  bool polls(std::chrono::nanoseconds time);
  bool progress(std::chrono::nanoseconds time);
  std::vector<caller*> callers_with(int driven);
  bool progress_driven(std::chrono::nanoseconds time);
  void receive_for_idle(std::chrono::nanoseconds time);
  bool arm();
  void sleep(std::chrono::nanoseconds time);
  void end_of_process(int descriptor);
  void forget_dead();
  void take_over_deaths();

  const time_limits limits_;
  const std::function<void(std::uint64_t)> declare_dead_;
  const std::function<void(peer&)> on_death_;
  traffic traffic_;
  std::unique_ptr<transport> transport_;
  const std::uint64_t process_;
  key_check keys_;
  target_table targets_;
  known_peers peers_;
  watch watch_;
  server server_;
  const std::string address_;

  std::mutex mutex_;  // guards the members up to the next empty line
  std::deque<caller> callers_;
  caller* reserved_ = nullptr;              // one of them
  std::chrono::nanoseconds next_caller_{};  // when another caller may be made, after the transport failed to
  std::vector<watched_process> watched_;
  std::vector<std::uint64_t> newly_dead_;
  std::atomic<bool> has_newly_dead_{false};  // read without the mutex
  std::atomic<int> driven_{0};               // exchanges that the serving thread drives; read without the mutex

  // Times and numbers that the serving thread remembers.
  std::chrono::nanoseconds retried_{};   // when it last retried requests of driven callers
  std::chrono::nanoseconds received_{};  // when it last received for idle callers
  brief_polling polling_;
  std::uint64_t served_ = 0;  // server::served(), when it last looked
  int known_deaths_ = 0;      // mpi::known_deaths(), when it last took them over
  memory::descriptor wake_event_;
  std::atomic<std::chrono::nanoseconds> woken_{};  // by wake_soon()
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

/// Exchanges whose requests each owner serves in the order in which they were added: all use one caller, which the
/// first exchange takes from the pool. A wait for one of them makes progress on all. Lives longer than its exchanges.
/// Thread-safe.
///
/// Owners serve requests of one caller in order, so a request that has to wait at its owner keeps waiting all that were
/// sent after it by any stream of the same caller. Requests for which others may wait at an owner go through the
/// reserved caller: none of its requests may wait for another request.
class stream {
 public:
  enum class by { common_callers, reserved_caller };  ///< reserved: after engine::reserve_caller() has succeeded

  explicit stream(engine& through, by kind = by::common_callers) : engine_(through), kind_(kind) {}
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

 private:
  friend class exchange;
  caller& borrow();

  engine& engine_;
  const by kind_;
  std::mutex mutex_;
  caller* caller_ = nullptr;  // null before the first exchange; guarded by the mutex
};

/// One operation: requests to one or several owners, which overlap. One thread at a time uses it.
class exchange {
 public:
  /// In a stream of its own. Throws SYNCYTE_ERR_IO if the transport cannot make a worker, SYNCYTE_ERR_NOT_INITIALIZED
  /// after engine::stop().
  explicit exchange(engine& through);
  explicit exchange(stream& in);
  /// Waits for nothing: answers that come later are dropped.
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Begins to send; `source` lives until the exchange has ended or goes.
  void add(peer& owner, request_source& source);

  /// Begins to send when all requests that were added before are answered, unless one failed; nothing is added after
  /// it. It needs no call of this exchange: the serving thread begins a driven one. Without an owner the source sends
  /// nothing: its next(), which must not wait, is called once, by any thread, and returns null.
  void add_last(peer* owner, request_source& source);

  /// Lets the serving thread make progress on it, so that it ends without calls of test() or wait().
  void drive();

  /// Makes progress without waiting; true once all requests are answered or failed. Throws the first owner's error.
  bool test();

  /// Waits. `poll` is called about once a millisecond, and may throw to end the wait.
  void wait(const std::function<void()>& poll);

 private:
  bool has_ended() const;
  void throw_error() const;

  std::optional<stream> own_;
  engine& engine_;
  caller& caller_;
  std::deque<conversation> talks_;
  bool is_driven_ = false;
};

}  // namespace syncyte::fabric
