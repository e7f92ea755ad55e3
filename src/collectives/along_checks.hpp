#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/checks.hpp"
#include "collectives/collectives.hpp"
#include "collectives/dense_parts.hpp"
#include "comm/agreement.hpp"

namespace syncyte::collectives {

/// Arrays that are parts of a whole along one axis, checked: what all ranks have, and the two sides where a rank has
/// them. Refers to nothing of the caller's but the arrays.
struct partitioned {
  std::vector<std::int64_t> counts;  // elements of every rank's part
  syncyte_dtype_t dtype = 0;
  std::optional<dense_parts> part;
  std::optional<dense_parts> whole;
};

/// Checks, and adds the facts; `whole` may be null on ranks that have none, and is in the same kind of memory as the
/// part.
partitioned checked_partition(comm::agreement& terms, const base::buffer& part, int axis, given_counts counts,
                              const syncyte_buffer_t* whole, const char* whole_name);

/// The arrays of a reduce_scatter, checked, with all facts; elements are aligned.
partitioned checked_reduce_scatter(comm::agreement& terms, const syncyte_buffer_t* input, int axis, given_counts counts,
                                   syncyte_op_t op, const syncyte_buffer_t* output);

/// The two partitions of an alltoall.
struct axis_change {
  int gather_axis;
  given_counts gather_counts;  // of input
  int scatter_axis;
  given_counts scatter_counts;  // of output
};

/// The arrays of an alltoall, checked; both are in the same kind of memory.
struct repartitioned {
  std::optional<dense_parts> from;
  std::optional<dense_parts> to;
  syncyte_dtype_t dtype = 0;
  bool is_long = false;  // all ranks' elements together pass what MPI can count; the same on all of them
};
repartitioned checked_change(comm::agreement& terms, const base::buffer& input, const axis_change& asked,
                             const syncyte_buffer_t* output);

}  // namespace syncyte::collectives
