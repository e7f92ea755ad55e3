// SPDX-License-Identifier: BSD-3-Clause
#include "comm/control_tags.hpp"

#include <mpi.h>

namespace syncyte::comm {

int highest_tag() {
  int* bound = nullptr;
  int is_there = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &is_there);
  return (is_there != 0 ? *bound : 32767) / channels - 1;
}

int control_tag(std::uint64_t number) {
  const auto numbers = static_cast<std::uint64_t>(highest_tag() - group_tags);
  return channels * (2 + group_tags + static_cast<int>(number % numbers));
}

int vote_tag() { return channels; }

int group_tag(int tag) { return channels * (2 + tag); }

}  // namespace syncyte::comm
