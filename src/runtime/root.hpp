#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "comm/communicator.hpp"

namespace syncyte::runtime {

/// Duplicates an MPI communicator; collective over it. Finds out which ranks really share memory. `operation` is
/// for messages.
std::shared_ptr<comm::communicator> make_root(MPI_Comm original, const comm::communicator_options& options,
                                              const char* operation);

/// The level of a communicator whose ranks have no parent to agree on; collective over `comm`. All take the
/// highest, and throw if one of them was given nonsense, in its options or, without a level to inherit, in its
/// environment.
comm::check_level agree_on_level(MPI_Comm comm, const comm::communicator_options& options,
                                 const std::optional<comm::check_level>& inherited, const char* operation,
                                 const std::string& name);

}  // namespace syncyte::runtime
