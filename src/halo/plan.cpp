// SPDX-License-Identifier: BSD-3-Clause
#include "halo/plan.hpp"

#include <fmt/format.h>

#include "syncyte/messages.h"

namespace syncyte::halo {
namespace {

int only_neighbour_of(std::span<const plan::phase> phases) {
  int found = SYNCYTE_PROC_NULL;
  for (const plan::phase& sides : phases) {
    for (const side& side : sides) {
      for (const int rank : {side.receive_from, side.send_to}) {
        if (rank == SYNCYTE_PROC_NULL || rank == found) continue;
        if (found != SYNCYTE_PROC_NULL) return SYNCYTE_PROC_NULL;
        found = rank;
      }
    }
  }
  return found;
}

}  // namespace

std::size_t lay_out(std::span<place> message, std::span<const element_form> arrays) {
  std::size_t end = 0;
  for (place& each : message) {
    const element_form form = arrays[static_cast<std::size_t>(each.array)];
    auto bytes = static_cast<std::int64_t>(form.element_bytes);
    for (auto axis = static_cast<std::size_t>(form.ndim); axis-- > 0;) {
      each.strides[axis] = bytes;
      bytes *= each.box.count[axis];
    }
    each.offset = (end + place_alignment - 1) / place_alignment * place_alignment;
    end = each.offset + static_cast<std::size_t>(bytes);
  }
  return end;
}

std::string plan::difference(std::size_t, const char* name, std::int64_t theirs, int sender, std::int64_t mine) const {
  return fmt::format("neighbours disagree: {} is {} on rank {}, but {} on rank {}, this one; expected equal ones", name,
                     theirs, sender, mine, comm_->rank());
}

void plan::set_phases(std::vector<phase> phases) {
  phases_ = std::move(phases);
  only_neighbour_ = only_neighbour_of(phases_);
}

}  // namespace syncyte::halo
