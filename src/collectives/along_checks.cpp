#include "collectives/along_checks.hpp"

#include <algorithm>
#include <numeric>

#include "collectives/reduction_ops.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {
namespace {

int checked_axis(int axis, const base::buffer& array, const char* name) {
  base::require(array.ndim() > 0, SYNCYTE_ERR_SHAPE, "{} has no dimension; expected 1 or more", array.argument());
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

/// Same dtype and, but for some axes, the same extents.
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
  if (input.is_contiguous() && output.is_contiguous()) require_apart(input, output);
}

/// The other array of an operation.
base::buffer other_array(const base::buffer& first, const syncyte_buffer_t* raw, const char* argument) {
  if (first.memory() == SYNCYTE_MEMORY_HOST) return any_strides(raw, argument);
  const base::buffer other = any_strides_to_move(raw, argument, form::blocking);
  base::require(other.memory() == first.memory(), SYNCYTE_ERR_UNSUPPORTED,
                "{} is in host memory; expected device memory, as {}", argument, first.argument());
  return other;
}

/// The ranks' parts of a whole array along one axis: what the operations on one axis check and agree on.
class axis_partition {
 public:
  axis_partition(const comm::communicator& comm, const base::buffer& part, int axis, given_counts counts)
      : part_(part), axis_(checked_axis(axis, part, "axis")), counts_(checked_counts(comm, counts, "counts")) {
    require_extent(part, axis_, counts_[static_cast<std::size_t>(comm.rank())], "this rank's in counts");
  }

  void add_facts(comm::agreement& terms) const {
    add_array(terms, part_, axis_, axis_);
    terms.fact("axis", axis_, {"axis", -1, part_.ndim()});
    comm::add_counts(terms, counts_, "sum of counts", "hash of counts");
  }

  dense_parts part() const { return dense_parts(part_); }

  /// The whole array, cut; its shape is checked.
  dense_parts cut(const base::buffer& whole) const {
    require_alike(whole, part_, axis_, axis_);
    require_extent(whole, axis_, mpi::sum_of(counts_), "the sum of counts");
    require_apart_in_memory(part_, whole);
    return dense_parts(whole, axis_, counts_);
  }

  /// Elements of every rank's part.
  std::vector<std::int64_t> elements() const {
    std::int64_t across = 1;
    for (int d = 0; d < part_.ndim(); ++d)
      if (d != axis_) across *= part_.extent(d);
    std::vector<std::int64_t> result;
    for (const std::int64_t count : counts_) result.push_back(count * across);
    return result;
  }

 private:
  base::buffer part_;
  int axis_;
  mpi::counts_view counts_;
};

/// Extents of the parts of [first, first + length) that lie in each of consecutive parts.
std::vector<std::int64_t> overlaps(std::int64_t first, std::int64_t length, mpi::counts_view parts) {
  std::vector<std::int64_t> result;
  std::int64_t begin = 0;
  for (const std::int64_t part : parts) {
    const std::int64_t low = std::max(begin, first);
    const std::int64_t high = std::min(begin + part, first + length);
    result.push_back(std::max<std::int64_t>(high - low, 0));
    begin += part;
  }
  return result;
}

/// An alltoall's two partitions, checked against the arrays.
struct partition_change {
  int gather_axis;
  int scatter_axis;
  mpi::counts_view gathered;
  mpi::counts_view scattered;
  int rank;

  partition_change(const comm::communicator& comm, const base::buffer& input, const axis_change& asked)
      : gather_axis(checked_axis(asked.gather_axis, input, "gather_axis")),
        scatter_axis(checked_axis(asked.scatter_axis, input, "scatter_axis")),
        gathered(checked_counts(comm, asked.gather_counts, "gather_counts")),
        scattered(checked_counts(comm, asked.scatter_counts, "scatter_counts")),
        rank(comm.rank()) {}

  bool is_repartition() const { return gather_axis == scatter_axis; }
  std::int64_t mine(mpi::counts_view counts) const { return counts[static_cast<std::size_t>(rank)]; }

  void require_fit(const base::buffer& input, const base::buffer& output) const {
    require_extent(input, gather_axis, mine(gathered), "this rank's in gather_counts");
    require_extent(output, scatter_axis, mine(scattered), "this rank's in scatter_counts");
    require_alike(output, input, gather_axis, scatter_axis);
    if (is_repartition()) {
      base::require(mpi::sum_of(gathered) == mpi::sum_of(scattered), SYNCYTE_ERR_SHAPE,
                    "gather_counts add up to {}, scatter_counts to {}; expected equal sums", mpi::sum_of(gathered),
                    mpi::sum_of(scattered));
    } else {
      require_extent(input, scatter_axis, mpi::sum_of(scattered), "the sum of scatter_counts");
      require_extent(output, gather_axis, mpi::sum_of(gathered), "the sum of gather_counts");
    }
  }

  void add_facts(comm::agreement& terms, const base::buffer& input) const {
    add_array(terms, input, gather_axis, scatter_axis);
    terms.fact("gather_axis", gather_axis, {"gather_axis", -1, input.ndim()});
    terms.fact("scatter_axis", scatter_axis, {"scatter_axis", -1, input.ndim()});
    comm::add_counts(terms, gathered, "sum of gather_counts", "hash of gather_counts");
    comm::add_counts(terms, scattered, "sum of scatter_counts", "hash of scatter_counts");
  }

  dense_parts cut_input(const base::buffer& input) const {
    if (!is_repartition()) return dense_parts(input, scatter_axis, scattered);
    const std::int64_t first = mpi::sum_of(gathered.first(static_cast<std::size_t>(rank)));
    return dense_parts(input, gather_axis, overlaps(first, mine(gathered), scattered));
  }

  dense_parts cut_output(const base::buffer& output) const {
    if (!is_repartition()) return dense_parts(output, gather_axis, gathered);
    const std::int64_t first = mpi::sum_of(scattered.first(static_cast<std::size_t>(rank)));
    return dense_parts(output, gather_axis, overlaps(first, mine(scattered), gathered));
  }

  /// Whether all ranks' elements together pass what MPI can count; the same on all of them.
  bool is_long(const base::buffer& input) const {
    std::int64_t elements = mpi::sum_of(gathered);
    for (int d = 0; d < input.ndim(); ++d)
      if (d != gather_axis) elements *= input.extent(d);
    return elements > mpi::piece_limit();
  }
};

}  // namespace

partitioned checked_partition(comm::agreement& terms, const base::buffer& part, int axis, given_counts counts,
                              const syncyte_buffer_t* whole, const char* whole_name) {
  const axis_partition partition(terms.comm(), part, axis, counts);
  partitioned result{partition.elements(), part.dtype(), partition.part(), std::nullopt};
  if (whole != nullptr) result.whole = partition.cut(other_array(part, whole, whole_name));
  partition.add_facts(terms);
  return result;
}

partitioned checked_reduce_scatter(comm::agreement& terms, const syncyte_buffer_t* input, int axis, given_counts counts,
                                   syncyte_op_t op, const syncyte_buffer_t* output) {
  const base::buffer part = any_strides(output, "output").require_aligned();
  require_reducible(part.dtype(), op);
  any_strides(input, "input").require_aligned();
  partitioned result = checked_partition(terms, part, axis, counts, input, "input");
  terms.named_fact("op", op, base::op_name);
  return result;
}

repartitioned checked_change(comm::agreement& terms, const base::buffer& input, const axis_change& asked,
                             const syncyte_buffer_t* raw_output) {
  const base::buffer output = other_array(input, raw_output, "output");
  const partition_change change(terms.comm(), input, asked);
  change.require_fit(input, output);
  require_apart_in_memory(input, output);
  change.add_facts(terms, input);
  return {change.cut_input(input), change.cut_output(output), input.dtype(), change.is_long(input)};
}

}  // namespace syncyte::collectives
