// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "comm/communicator.hpp"

namespace syncyte::comm {

/// Parts of a communicator; each function is collective over it.

/// The ranks of one colour, in the order of their keys; a colour of MPI_UNDEFINED gives nullptr.
std::shared_ptr<communicator> split(communicator& parent, int color, int key, const communicator_options& options);
/// All ranks; of a Cartesian communicator a Cartesian one.
std::shared_ptr<communicator> duplicate(communicator& parent, const communicator_options& options);
std::shared_ptr<communicator> split_program(communicator& parent, const std::string& program,
                                            const communicator_options& options);
std::shared_ptr<communicator> split_node(communicator& parent, const communicator_options& options);
/// The first rank of each node; the others get nullptr.
std::shared_ptr<communicator> split_leaders(communicator& parent, const communicator_options& options);

}  // namespace syncyte::comm
