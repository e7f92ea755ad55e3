// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "comm/communicator.hpp"

namespace syncyte::runtime {

/// A root of some ranks of `parent`, in the order of the list; collective over these alone. Throws SYNCYTE_ERR_ARGUMENT
/// on this rank for a wrong tag or a list without it, on all ranks of the list for what else is wrong with it, and
/// SYNCYTE_ERR_MISMATCH where their lists differ: then no further group of `parent` can be made.
std::shared_ptr<comm::communicator> make_group(comm::communicator& parent, std::span<const std::int32_t> ranks, int tag,
                                               const comm::communicator_options& options);

}  // namespace syncyte::runtime
