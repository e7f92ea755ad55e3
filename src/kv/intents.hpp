// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace syncyte::kv {

/// Mean of times that come one after the other, and their deviation from it; newer ones weigh more.
class recent_times {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  void add(nanoseconds time);
  nanoseconds mean() const { return nanoseconds(static_cast<std::int64_t>(mean_)); }
  /// A time that few exceed: twice the mean and three standard deviations.
  nanoseconds nearly_longest() const;

 private:
  double mean_ = 0, variance_ = 0;
  bool is_empty_ = true;
};

/// Keys that a worker will use while its clock is in [start, end).
struct intent_window {
  struct key_here {
    std::int64_t slot;
    int place;  // of the home in this node
  };

  std::int64_t start, end;
  std::vector<std::int64_t> keys;
  std::uint64_t number = 0;         // among the windows of this rank
  std::vector<key_here> here = {};  // keys whose homes are at this node, while it is open
};

/// The intents of one worker by its clock. A window is waiting, then it is open, then it is over: it opens some clocks
/// before its start, so that its keys can come.
class intents {
 public:
  using window = std::shared_ptr<intent_window>;

  void add(window which) { waiting_.emplace(which->start, std::move(which)); }

  /// Opens the windows that start at clock `last` or before; returns those that are not over.
  std::vector<window> open(std::int64_t now, std::int64_t last);
  /// Forgets the open windows that are over, and returns them.
  std::vector<window> close(std::int64_t now);
  /// Forgets a window; true if it is open.
  bool remove(const window& which);
  /// Forgets all windows, and returns the open ones.
  std::vector<window> remove_all();

 private:
  std::multimap<std::int64_t, window> waiting_;  // by start
  std::multimap<std::int64_t, window> open_;     // by end
};

/// Number of clocks before its start at which a window opens: the clock advances so often in the time in which keys
/// come. One worker's.
class clock_ahead {
 public:
  void advance(std::chrono::nanoseconds now);
  /// `coming`: the time in which nearly all keys come.
  std::int64_t clocks(std::chrono::nanoseconds coming) const;

 private:
  std::optional<std::chrono::nanoseconds> last_;
  recent_times between_;
};

}  // namespace syncyte::kv
