// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/checks.hpp"

#include "mpi/memory_kinds.hpp"

namespace syncyte::collectives {

base::buffer any_strides(const syncyte_buffer_t* raw, const char* argument) {
  return base::buffer(raw, argument).require_host();
}

base::buffer any_strides_to_move(const syncyte_buffer_t* raw, const char* argument, form how) {
  if (how == form::started) return any_strides(raw, argument);
  return mpi::require_taken(base::buffer(raw, argument));
}

base::buffer checked(const syncyte_buffer_t* raw, const char* argument) {
  return any_strides(raw, argument).require_contiguous();
}

base::buffer checked_to_move(const syncyte_buffer_t* raw, const char* argument, form how) {
  return any_strides_to_move(raw, argument, how).require_contiguous();
}

int checked_root(comm::agreement& terms, int root) {
  base::expect(root >= 0 && root < terms.comm().size(), SYNCYTE_ERR_ARGUMENT, "root", root, "0 to {}",
               terms.comm().size() - 1);
  terms.fact("root", root);
  return root;
}

mpi::counts_view checked_counts(const comm::communicator& comm, given_counts given, const char* argument) {
  const mpi::counts_view counts = given.checked(argument, comm.size(), "rank");
  std::int64_t sum = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const std::int64_t count = counts[rank];
    base::expect(count >= 0, SYNCYTE_ERR_ARGUMENT, {argument, static_cast<std::int64_t>(rank)}, count, "0 or more");
    base::expect(!__builtin_add_overflow(sum, count, &sum), SYNCYTE_ERR_ARGUMENT, argument,
                 "more than 2^63 - 1 elements in sum", "fewer");
  }
  return counts;
}

void add_facts(comm::agreement& terms, const caller_facts& caller) {
  terms.fact("options->fact", caller.fact);
  for (std::int64_t i = 0; i < caller.facts.size(); ++i) {
    const syncyte_fact_t each = caller.facts[i];
    terms.fact(each.name, each.value);
  }
}

}  // namespace syncyte::collectives
