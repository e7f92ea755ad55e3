// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

namespace syncyte::comm {

/// A reduction of few elements, which travel with the votes of the agreement before it: between nodes the time of a
/// message is the time of both.
struct small_reduction {
  static constexpr std::size_t most_bytes = 64;

  std::array<std::byte, most_bytes> values;  ///< this rank's, then those of all
  std::size_t bytes = 0;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
};

}  // namespace syncyte::comm
