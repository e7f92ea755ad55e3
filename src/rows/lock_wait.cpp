#include "rows/lock_wait.hpp"

#include <fmt/format.h>
#include <sched.h>

namespace syncyte::rows {

bool lock_wait::pause(std::uint64_t seen) {
  constexpr auto patience = std::chrono::milliseconds(1);
  const auto now = std::chrono::steady_clock::now();
  if (seen != watched_) {
    watched_ = seen;
    since_ = now;
  }
  const bool is_long = now - since_ > patience;
  if (is_long) {
    since_ = now;
    if (!shown_) shown_.emplace(fmt::format("lock of {}", what_).c_str(), owner_, 0);
  }
  sched_yield();
  return is_long;
}

}  // namespace syncyte::rows
