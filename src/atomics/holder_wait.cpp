#include "atomics/holder_wait.hpp"

#include <fmt/format.h>

namespace syncyte::atomics {

bool holder_wait::pause(std::uint64_t seen) {
  if (seen != watched_) {
    watched_ = seen;
    pauses_ = backoff();
  }
  pauses_.pause();
  if (!pauses_.is_time_to_look()) return false;
  if (!shown_) shown_.emplace(fmt::format("lock of {}", what_).c_str(), owner_, number_);
  return true;
}

}  // namespace syncyte::atomics
