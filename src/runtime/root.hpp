// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "comm/communicator.hpp"

namespace syncyte::runtime {

// A root is a communicator that is not part of another one of Syncyte.

/// Makes a root of a duplicate of an MPI communicator, with its grid if it is Cartesian; collective over it. Finds out
/// which ranks really share memory. `operation` is for messages.
std::shared_ptr<comm::communicator> make_root(MPI_Comm original, const comm::communicator_options& options,
                                              const char* operation);

/// Makes a root of an MPI communicator, which it frees if it throws; collective over it. Its ranks agree on the highest
/// of their check levels, and all throw if one of them was given a wrong one, in its options or, without a parent, in
/// its environment. Ranks share memory as in `parent`; without a
/// parent they find out.
std::shared_ptr<comm::communicator> wrap_root(MPI_Comm data, const comm::communicator* parent,
                                              const comm::communicator_options& options, const char* operation,
                                              const std::string& name);

}  // namespace syncyte::runtime
