#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include "base/buffer.hpp"
#include "comm/agreement.hpp"
#include "comm/collectives.hpp"

namespace syncyte::comm {

/// A contiguous buffer in host memory.
base::buffer checked(const syncyte_buffer_t* raw, const char* argument);

/// A contiguous buffer in memory that MPI takes, for what only moves elements.
base::buffer checked_to_move(const syncyte_buffer_t* raw, const char* argument);

/// Throws SYNCYTE_ERR_ARGUMENT if two contiguous buffers share memory.
void require_apart(const base::buffer& input, const base::buffer& output);

void require_root(const communicator& comm, int root);

/// Sum of one count for each rank, each 0 or more; throws SYNCYTE_ERR_ARGUMENT, naming the rank, otherwise.
std::int64_t checked_sum(const std::int64_t* counts, int size, const char* argument);

/// Counts that must be equal on all ranks, as facts; the names must outlive the call.
void add_counts(agreement& terms, std::span<const std::int64_t> counts, const char* sum_name, const char* hash_name);

/// "word[0]", "word[1]" and so on: names of facts, for a static variable, since names must outlive the call.
using indexed_names = std::array<std::string, SYNCYTE_MAX_NDIM>;
indexed_names make_indexed_names(const char* word);

/// One fact for each value.
template <class Values>
void add_facts(agreement& terms, const indexed_names& names, const Values& values) {
  for (std::size_t i = 0; i < std::size(values) && i < names.size(); ++i)
    terms.fact(names[i].c_str(), static_cast<std::int64_t>(values[i]));
}

/// What the caller brings as facts.
void add_facts(agreement& terms, const collective_extras& extras);

}  // namespace syncyte::comm
