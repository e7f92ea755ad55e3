// SPDX-License-Identifier: BSD-3-Clause
#include "window/ended_ranks.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/ranks.hpp"
#include "comm/departures.hpp"
#include "mpi/process.hpp"

namespace syncyte::window {

bool ended_ranks::contains(int rank) {
  if (comm_.node().is_here(rank)) return comm::has_departed(comm_, rank);
  if (elsewhere_ == nullptr) return false;
  try {
    return ask(rank);
  } catch (const base::error& error) {
    if (error.status() == SYNCYTE_ERR_PEER_DIED) throw;
    question_.reset();  // no descriptor or memory for a link now: the rank is not known to have ended
    return false;
  }
}

bool ended_ranks::ask(int rank) {
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
  if (now < next_question_) return false;
  next_question_ = now + std::chrono::milliseconds(100);
  question_ = elsewhere_->ask_departure(rank);
  asked_ = rank;
  return false;
}

/// A forked child also waits for the rank that it was forked from.
bool ended_ranks::contains_all_others() {
  if (mpi::is_forked_child()) return false;
  // Each rank begins with its neighbour, so that ranks which all wait do not all ask the same one.
  for (; first_unknown_ < comm_.size(); ++first_unknown_)
    if (!contains((comm_.rank() + first_unknown_) % comm_.size())) return false;
  return comm_.size() > 1;
}

void ended_ranks::fail(int rank, const std::string& object, const std::string& consequence) const {
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = object, .rank = comm_.world_rank(rank)},
               fmt::format("rank {} of {} has come to finalize, {}", rank, comm_.name(), consequence));
}

void ended_ranks::fail_by_all_others(const std::string& object, const std::string& consequence) const {
  std::vector<int> others;
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (rank != comm_.rank()) others.push_back(rank);
  if (others.size() == 1) fail(others.front(), object, consequence);
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = object, .rank = comm_.world_rank(others.front())},
               fmt::format("all other ranks of {} ({}) have come to finalize, {}", comm_.name(),
                           base::rank_numbers(others), consequence));
}

}  // namespace syncyte::window
