#include "window/ended_ranks.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/error.hpp"
#include "comm/departures.hpp"
#include "mpi/process.hpp"

namespace syncyte::window {

bool ended_ranks::contains(int rank) {
  if (comm_.node().is_here(rank)) return comm::has_departed(comm_, rank);
  const auto now = std::chrono::steady_clock::now();
  if (question_ != nullptr) {
    const std::optional<bool> answer = question_->answer();
    if (!answer) return false;
    question_.reset();
    if (*answer && asked_ == rank) {
      next_question_ = now;
      return true;
    }
  }
  if (elsewhere_ == nullptr || now < next_question_) return false;
  next_question_ = now + std::chrono::milliseconds(100);
  question_ = elsewhere_->ask_departure(rank);
  asked_ = rank;
  return false;
}

/// A forked child also waits for its rank, which is none of the others.
bool ended_ranks::contains_all_others() {
  if (mpi::is_forked_child()) return false;
  const int others = comm_.size() - 1;
  for (; first_unknown_ < comm_.size(); ++first_unknown_)
    if (first_unknown_ != comm_.rank() && !contains(first_unknown_)) return false;
  return others > 0;
}

void ended_ranks::fail(int rank, const std::string& object, const std::string& consequence) const {
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = object, .rank = comm_.world_rank(rank)},
               fmt::format("rank {} of {} has come to finalize, {}", rank, comm_.name(), consequence));
}

void ended_ranks::fail_by_all_others(const std::string& object, const std::string& consequence) const {
  const int first = comm_.rank() == 0 ? 1 : 0;
  if (comm_.size() == 2) fail(first, object, consequence);
  const int last = comm_.rank() == comm_.size() - 1 ? comm_.size() - 2 : comm_.size() - 1;
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = object, .rank = comm_.world_rank(first)},
               fmt::format("all other ranks of {} ({} to {}) have come to finalize, {}", comm_.name(), first, last,
                           consequence));
}

}  // namespace syncyte::window
