// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Communicators of process groups. MPI frees none before the end, so one that its group no longer uses is used again by
// a group of the same ranks.

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "syncyte/comm.hpp"

namespace syncyte::torch_binding::process_group {

using rank_list = std::vector<std::int32_t>;

/// A communicator of groups. One whose ranks are out of step, because an operation failed on this rank alone, is not
/// used again.
struct pooled_communicator {
  communicator comm;
  std::atomic<bool> is_out_of_step = false;
};

/// A group's communicator, which goes back when the group ends.
using group_communicator = std::shared_ptr<pooled_communicator>;

/// The communicator of some ranks of the job, in the order of the list. Collective over these ranks: the first of them
/// tells the others by the store whether it has one, and all must agree to use it. Groups are found by their names, not
/// by the order of the calls: ranks that make different groups get an error that names both.
group_communicator communicator_of(const rank_list& ranks, const std::string& group, c10d::Store& store);

}  // namespace syncyte::torch_binding::process_group
