// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/transport.hpp"

/// A transport for tests: processes are numbers, and their workers belong to threads of one real process.

namespace syncyte::test {

class loopback_inbox;
struct loopback_connection;
class loopback_worker;

/// Faults of all messages of a network. Shares are between 0 and 1. Each link draws from a random generator of its own,
/// whose seed is made from the network's seed and the numbers of the process, of its worker and of the worker's link.
struct loopback_faults {
  double drop = 0;                       ///< share of the messages that are lost
  double duplicate = 0;                  ///< share of the messages that arrive twice
  double reorder = 0;                    ///< share of the messages that arrive later by `hold`, behind others
  std::chrono::microseconds hold{1000};  ///< additional delay of reordered messages
  double keep = 0;                       ///< share of the messages that are not sent before worker::progress()
  std::chrono::microseconds delay{0};    ///< of each message; a smaller delay lets later messages overtake
};

/// Connects the workers of several processes. Thread-safe.
class loopback_network {
 public:
  explicit loopback_network(std::uint32_t seed = 1) : seed_(seed) {}

  /// Applies to messages that are sent from now on.
  void set_faults(const loopback_faults& faults);

  /// Messages that the two processes send to each other from now on are lost. Their links break after `broken_after`,
  /// counted from this call or from a later connect(); without it they do not break.
  void cut(int one, int other, std::optional<std::chrono::microseconds> broken_after = {});
  /// Ends a cut. Links that it has broken stay broken.
  void restore(int one, int other);

  /// The next `count` links that workers of the process make are refused: connect() throws.
  void refuse_links(int process, int count);

  /// The workers of the process send and receive nothing from now on, and links of others to it break. Its threads may
  /// go on: progress() does nothing there, and the events do not occur.
  void kill(int process);

 private:
  friend class loopback_transport;
  friend class loopback_worker;

  struct entry {
    int process;
    std::weak_ptr<loopback_inbox> inbox;
  };
  struct path {
    loopback_faults faults;
    bool is_open;
  };
  using pair = std::pair<int, int>;

  void require_links(int process);
  static pair pair_of(int one, int other) { return std::minmax(one, other); }
  std::uint64_t add_worker(int process, const std::shared_ptr<loopback_inbox>& inbox);
  void remove_worker(std::uint64_t address);
  /// Finds the worker at the address; the link breaks if there is none, or as the last cut or kill says.
  void add_connection(const std::shared_ptr<loopback_connection>& added, std::string_view address);
  std::optional<std::chrono::microseconds> breaks_after(const loopback_connection& added) const;
  path find_path(const loopback_connection& used) const;
  std::vector<std::shared_ptr<loopback_connection>> connections();

  const std::uint32_t seed_;
  mutable std::shared_mutex mutex_;  // senders share it; ThreadSanitizer sees no order between them
  loopback_faults faults_;
  std::map<std::uint64_t, entry> workers_;                         // by address
  std::map<int, std::uint32_t> made_;                              // workers made so far, by process
  std::map<pair, std::optional<std::chrono::microseconds>> cuts_;  // with broken_after
  std::set<int> killed_;
  std::map<int, int> refused_;  // links that are still refused, by process
  std::vector<std::weak_ptr<loopback_connection>> connections_;
};

/// Numbers of one transport. They are counted with relaxed order, which hides no race from ThreadSanitizer.
struct loopback_counters {
  std::atomic<std::int64_t> messages = 0;  // passed to send() of links that are not broken; lost ones too
  std::atomic<std::int64_t> bytes = 0;     // headers and payloads
};

/// The transport of one simulated process. Several transports may have the same process's number.
class loopback_transport final : public fabric::transport {
 public:
  loopback_transport(std::shared_ptr<loopback_network> network, int process)
      : network_(std::move(network)), process_(process), counters_(std::make_shared<loopback_counters>()) {}

  std::unique_ptr<fabric::worker> make_worker(fabric::receiver& target) override;

  std::int64_t messages_sent() const { return counters_->messages; }
  std::int64_t bytes_sent() const { return counters_->bytes; }

 private:
  const std::shared_ptr<loopback_network> network_;
  const int process_;
  const std::shared_ptr<loopback_counters> counters_;
};

}  // namespace syncyte::test
