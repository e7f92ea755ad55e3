// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/along_checks.hpp"

#include <algorithm>

#include "base/overlap.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {
namespace {

int checked_axis(int axis, const base::buffer& array, const char* name) {
  base::expect(array.ndim() > 0, SYNCYTE_ERR_SHAPE, array.argument(), "of no dimension", "1 or more");
  base::expect(axis >= -array.ndim() && axis < array.ndim(), SYNCYTE_ERR_ARGUMENT, {name, -1, array.ndim()}, axis,
               "{} to {} for {} of shape {}", -array.ndim(), array.ndim() - 1, array.argument(),
               base::shape_text(array.shape()));
  return axis < 0 ? axis + array.ndim() : axis;
}

void require_extent(const base::buffer& array, int axis, std::int64_t wanted, const char* why) {
  if (array.extent(axis) == wanted) return;
  base::refuse(SYNCYTE_ERR_SHAPE,
               {.argument = array.argument(),
                .axis = axis,
                .ndim = array.ndim(),
                .value = fmt::to_string(array.extent(axis)),
                .expected = fmt::format("{}, {}", wanted, why)},
               fmt::format("{}: shape is {}; expected extent {} along axis {}, {}", array.argument(),
                           base::shape_text(array.shape()), wanted, axis, why));
}

/// Throws unless dtypes and, but for some axes, extents are equal.
void require_alike(const base::buffer& array, const base::buffer& like, int axis, int other_axis) {
  array.require_dtype(like.dtype());
  bool alike = array.ndim() == like.ndim();
  for (int d = 0; alike && d < like.ndim(); ++d)
    alike = d == axis || d == other_axis || array.extent(d) == like.extent(d);
  if (alike) return;
  const std::string shape = base::shape_text(array.shape()), wanted = base::shape_text(like.shape());
  base::refuse(SYNCYTE_ERR_SHAPE,
               {.object = array.argument(),
                .argument = "shape",
                .ndim = array.ndim(),
                .value = shape,
                .expected = fmt::format("{} as {}, but for what is cut", wanted, like.argument())},
               fmt::format("{}: shape is {}; expected that of {}, {}, but along the axis", array.argument(), shape,
                           like.argument(), wanted));
}

/// Adds as facts the dtype and the extents but for some axes.
void add_array(comm::agreement& terms, const base::buffer& array, int axis, int other_axis) {
  terms.named_fact("dtype", array.dtype(), base::dtype_name);
  terms.fact("number of dimensions", array.ndim());
  for (int d = 0; d < array.ndim(); ++d)
    if (d != axis && d != other_axis) terms.fact("extent {}", array.extent(d), {"shape", d, array.ndim()});
}

/// Neither is written while the other is read: only arrays that MPI itself is given can be in each other's way.
void require_apart_in_memory(const base::buffer& input, const base::buffer& output) {
  if (input.is_contiguous() && output.is_contiguous()) base::require_apart(input, output);
}

/// The other array of an operation.
base::buffer other_array(const base::buffer& first, const syncyte_buffer_t* raw, const char* argument) {
  if (first.memory() == SYNCYTE_MEMORY_HOST) return any_strides(raw, argument);
  const base::buffer other = any_strides_to_move(raw, argument, form::blocking);
  base::expect(other.memory() == first.memory(), SYNCYTE_ERR_UNSUPPORTED, argument, "in host memory",
               "device memory, as {}", first.argument());
  return other;
}

std::vector<std::int64_t> times(mpi::counts_view counts, std::int64_t factor) {
  std::vector<std::int64_t> result;
  for (const std::int64_t count : counts) result.push_back(count * factor);
  return result;
}

/// Extents of the parts of one rank's interval that lie in each of the parts of another partition of the same axis.
std::vector<std::int64_t> overlaps(mpi::counts_view intervals, std::size_t rank, mpi::counts_view parts) {
  const std::int64_t first = mpi::sum_of(intervals.first(rank)), end = first + intervals[rank];
  std::vector<std::int64_t> result;
  std::int64_t begin = 0;
  for (const std::int64_t part : parts) {
    result.push_back(std::max<std::int64_t>(std::min(begin + part, end) - std::max(begin, first), 0));
    begin += part;
  }
  return result;
}

}  // namespace

const syncyte_buffer_t* on_root(comm::agreement& terms, int root, const syncyte_buffer_t* buffer,
                                const char* argument) {
  if (terms.comm().rank() != checked_root(terms, root)) return nullptr;
  if (buffer == nullptr)
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = argument, .value = "null", .expected = "an array on root"},
                 fmt::format("{} is null on root; expected a syncyte_buffer_t", argument));
  return buffer;
}

partitioned checked_partition(comm::agreement& terms, const base::buffer& part, int given_axis, given_counts counts,
                              const syncyte_buffer_t* raw_whole, const char* whole_name) {
  const int axis = checked_axis(given_axis, part, "axis");
  const mpi::counts_view extents = checked_counts(terms.comm(), counts, "counts");
  require_extent(part, axis, extents[static_cast<std::size_t>(terms.comm().rank())], "this rank's in counts");
  partitioned result{times(extents, elements_across(part, axis)), part.dtype(), dense_parts(part), std::nullopt};
  if (raw_whole != nullptr) {
    const base::buffer whole = other_array(part, raw_whole, whole_name);
    require_alike(whole, part, axis, axis);
    require_extent(whole, axis, mpi::sum_of(extents), "the sum of counts");
    require_apart_in_memory(part, whole);
    result.whole.emplace(whole, axis, extents);
  }
  add_array(terms, part, axis, axis);
  terms.fact("axis", axis, {"axis", -1, part.ndim()});
  comm::add_counts(terms, extents, "sum of counts", "hash of counts");
  return result;
}

repartitioned checked_change(comm::agreement& terms, const base::buffer& input, int given_gather_axis,
                             given_counts gather_counts, int given_scatter_axis, given_counts scatter_counts,
                             const syncyte_buffer_t* raw_output) {
  const base::buffer output = other_array(input, raw_output, "output").require_writable();
  const int gather_axis = checked_axis(given_gather_axis, input, "gather_axis");
  const int scatter_axis = checked_axis(given_scatter_axis, input, "scatter_axis");
  const mpi::counts_view gathered = checked_counts(terms.comm(), gather_counts, "gather_counts");
  const mpi::counts_view scattered = checked_counts(terms.comm(), scatter_counts, "scatter_counts");
  const std::int64_t gathered_sum = mpi::sum_of(gathered), scattered_sum = mpi::sum_of(scattered);
  const auto rank = static_cast<std::size_t>(terms.comm().rank());
  const bool is_repartition = gather_axis == scatter_axis;
  require_extent(input, gather_axis, gathered[rank], "this rank's in gather_counts");
  require_extent(output, scatter_axis, scattered[rank], "this rank's in scatter_counts");
  require_alike(output, input, gather_axis, scatter_axis);
  if (is_repartition) {
    base::expect(gathered_sum == scattered_sum, SYNCYTE_ERR_SHAPE, "sum of scatter_counts", scattered_sum,
                 "{}, the sum of gather_counts", gathered_sum);
  } else {
    require_extent(input, scatter_axis, scattered_sum, "the sum of scatter_counts");
    require_extent(output, gather_axis, gathered_sum, "the sum of gather_counts");
  }
  require_apart_in_memory(input, output);
  add_array(terms, input, gather_axis, scatter_axis);
  terms.fact("gather_axis", gather_axis, {"gather_axis", -1, input.ndim()});
  terms.fact("scatter_axis", scatter_axis, {"scatter_axis", -1, input.ndim()});
  comm::add_counts(terms, gathered, "sum of gather_counts", "hash of gather_counts");
  comm::add_counts(terms, scattered, "sum of scatter_counts", "hash of scatter_counts");
  const std::int64_t all_elements = gathered_sum * elements_across(input, gather_axis);
  if (!is_repartition)
    return {dense_parts(input, scatter_axis, scattered), dense_parts(output, gather_axis, gathered), input.dtype(),
            all_elements};
  return {dense_parts(input, gather_axis, overlaps(gathered, rank, scattered)),
          dense_parts(output, gather_axis, overlaps(scattered, rank, gathered)), input.dtype(), all_elements};
}

}  // namespace syncyte::collectives
