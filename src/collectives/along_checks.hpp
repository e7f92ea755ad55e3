// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/checks.hpp"
#include "collectives/dense_parts.hpp"
#include "comm/agreement.hpp"

namespace syncyte::collectives {

/// Arrays that are parts of a whole along one axis, checked. `whole` is there on ranks that have such an array. Refers
/// to nothing of the caller's but the arrays.
struct partitioned {
  std::vector<std::int64_t> counts;  // elements of every rank's part
  syncyte_dtype_t dtype;
  dense_parts part;
  std::optional<dense_parts> whole;

  std::byte* whole_data() const { return whole ? whole->data() : nullptr; }
};

/// The root's array; null elsewhere.
const syncyte_buffer_t* on_root(comm::agreement& terms, int root, const syncyte_buffer_t* buffer, const char* argument);

/// Checks, and adds the facts; `whole` may be null on ranks that have none, and is in the same kind of memory as the
/// part.
partitioned checked_partition(comm::agreement& terms, const base::buffer& part, int axis, given_counts counts,
                              const syncyte_buffer_t* whole, const char* whole_name);

/// The arrays of an alltoall, checked; both are in the same kind of memory.
struct repartitioned {
  dense_parts from;
  dense_parts to;
  syncyte_dtype_t dtype;
  std::int64_t all_elements;  // of all ranks together; equal on all ranks
};

/// Checks, and adds the facts. gather_counts are of input, scatter_counts of output.
repartitioned checked_change(comm::agreement& terms, const base::buffer& input, int gather_axis,
                             given_counts gather_counts, int scatter_axis, given_counts scatter_counts,
                             const syncyte_buffer_t* output);

}  // namespace syncyte::collectives
