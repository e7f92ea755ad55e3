#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace syncyte::kv {

/// Where the workers of one process, which are threads, meet before a collective: one of them enters it for all,
/// because a communicator is for one thread at a time.
class worker_meeting {
 public:
  /// `name` is that of the store, for the watchdog; it outlives this.
  worker_meeting(std::int32_t workers, const std::string& name);

  /// Worker `number` is there from now on. Throws SYNCYTE_ERR_ARGUMENT for a number that is out of range or there.
  void join(std::int32_t number);
  /// Nobody waits for the worker any longer, until it joins again.
  void leave(std::int32_t number);

  /// What one of the workers does for all; it is told where they came for different things.
  using step = std::function<void(const std::optional<base::error>& wrong)>;

  /// Worker `number` waits for all workers that have not left; one that has never joined is waited for. All throw what
  /// the step throws. `operation` is a string literal. Throws comm::interrupted, then the others still wait for this
  /// worker.
  void meet(std::int32_t number, const char* operation, const step& what);

 private:
  enum class place { awaited, here, meets, left };

  bool is_complete() const { return arrived_ == expected_ && !is_running_; }
  std::string awaited() const;
  void wait(std::unique_lock<std::mutex>& lock, const char* operation, std::uint64_t round);
  void look_around(std::unique_lock<std::mutex>& lock);
  void require_started() const;
  void run(std::unique_lock<std::mutex>& lock, const step& what);

  const std::string& name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<place> places_;
  std::int32_t expected_;
  std::int32_t arrived_ = 0;
  bool is_running_ = false;
  std::uint64_t round_ = 0;
  const char* operation_ = nullptr;   // that the first worker came for
  std::optional<base::error> wrong_;  // of this round, before its step
  std::exception_ptr last_;           // of the last round's step
};

}  // namespace syncyte::kv
