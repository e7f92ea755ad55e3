#pragma once
/// @file collectives.hpp Collectives: methods of syncyte::communicator (comm.hpp). syncyte/collectives.h lists the
/// facts that the ranks of each agree on, and docs/collectives.md explains the results.

#include "syncyte/base.hpp"
#include "syncyte/collectives.h"
#include "syncyte/nonblocking.h"

namespace syncyte {

/// Check level: how much the ranks compare before data moves.
enum class check_level : std::int32_t { inherit = -1, off = 0, on = 1, full = 2 };

/// Direction of a scan: from rank 0 up, or from the last rank down.
enum class scan_from : std::int32_t { first = SYNCYTE_SCAN_FROM_FIRST, last = SYNCYTE_SCAN_FROM_LAST };

/// Lengths of `parts` parts, as even as possible, the first ones longer. Local; throws status::argument for a negative
/// extent or less than one part.
inline extents even_counts(std::int64_t extent, std::int64_t parts) {
  if (extent < 0 || parts < 1) {
    throw error(status::argument, "even_counts: extent is " + std::to_string(extent) + ", parts is " +
                                      std::to_string(parts) + "; expected 0 or more, and 1 or more");
  }
  extents result(static_cast<std::size_t>(parts), extent / parts);
  std::fill_n(result.begin(), extent % parts, extent / parts + 1);
  return result;
}

namespace detail {

using comm_reference = reference<syncyte_comm_t, syncyte_comm_retain, syncyte_comm_destroy>;

/// The collectives of a communicator.
class collectives : public comm_reference {
 public:
  using counts_view = std::span<const std::int64_t>;

  using comm_reference::comm_reference;

  /// This process's number, 0 to size() - 1. Local.
  std::int32_t rank() const { return output<std::int32_t>(syncyte_comm_rank, get()); }
  /// Number of ranks. Local.
  std::int32_t size() const { return output<std::int32_t>(syncyte_comm_size, get()); }
  /// The check level. Local.
  check_level level() const { return static_cast<check_level>(output<std::int32_t>(syncyte_comm_check_level, get())); }

  // ---- contiguous buffers, as sequences of elements

  /// Sends root's elements to all ranks. Collective.
  void bcast(std::int32_t root, const buffer& values) const {
    check(syncyte_comm_bcast(get(), root, nullptr, values.get()));
  }

  /// Reduces element by element over all ranks, in place. Collective.
  void allreduce(const buffer& values, op how = op::sum) const {
    check(syncyte_comm_allreduce(get(), nullptr, raw(how), nullptr, values.get()));
  }

  /// Reduces input into output, which must not overlap. Collective.
  void allreduce(const const_buffer& input, const buffer& output, op how = op::sum) const {
    check(syncyte_comm_allreduce(get(), input.get(), raw(how), nullptr, output.get()));
  }

  /// Reduces one number. Collective.
  template <element T>
  T allreduce_value(T value, op how = op::sum) const {
    allreduce(buffer(std::span<T>(&value, 1)), how);
    return value;
  }

  /// Reduces element by element to root, in place there; the other ranks' values stay as they are. Collective.
  void reduce(const buffer& values, std::int32_t root, op how = op::sum) const {
    const bool in_place = rank() == root;
    check(syncyte_comm_reduce(get(), in_place ? nullptr : values.get(), raw(how), root, nullptr,
                              in_place ? values.get() : nullptr));
  }

  /// Reduces input into root's output, which must not overlap it; the other ranks' output is ignored. Collective.
  void reduce(const const_buffer& input, const buffer& output, std::int32_t root, op how = op::sum) const {
    check(syncyte_comm_reduce(get(), input.get(), raw(how), root, nullptr, output.get()));
  }

  /// Reduces element by element over the ranks from the first (or the last) to this one, in place. Collective.
  void scan(const buffer& values, op how = op::sum, scan_from from = scan_from::first) const {
    check(syncyte_comm_scan(get(), nullptr, raw(how), raw(from), nullptr, values.get()));
  }

  /// Scans input into output, which must not overlap. Collective.
  void scan(const const_buffer& input, const buffer& output, op how = op::sum,
            scan_from from = scan_from::first) const {
    check(syncyte_comm_scan(get(), input.get(), raw(how), raw(from), nullptr, output.get()));
  }

  /// Exclusive scan: without this rank's own elements. The rank where it begins gets the identity element of op: 0 for
  /// sum, 1 for prod ... Collective.
  void exscan(const buffer& values, op how = op::sum, scan_from from = scan_from::first) const {
    check(syncyte_comm_exscan(get(), nullptr, raw(how), raw(from), nullptr, values.get()));
  }

  /// Exclusive scan of input into output, which must not overlap. Collective.
  void exscan(const const_buffer& input, const buffer& output, op how = op::sum,
              scan_from from = scan_from::first) const {
    check(syncyte_comm_exscan(get(), input.get(), raw(how), raw(from), nullptr, output.get()));
  }

  /// Concatenates contributions of equal size, in rank order. Collective.
  void allgather(const const_buffer& input, const buffer& output) const {
    check(syncyte_comm_allgather(get(), input.get(), nullptr, output.get()));
  }

  /// Concatenates contributions of counts[rank] elements, in rank order. Collective.
  void allgatherv(const const_buffer& input, counts_view counts, const buffer& output) const {
    check(syncyte_comm_allgatherv(get(), input.get(), counts.data(), entries(counts), nullptr, output.get()));
  }

  /// Every rank sends a piece to every rank; pieces lie in order of target and source ranks. Collective.
  void alltoallv(const const_buffer& input, counts_view send_counts, counts_view recv_counts,
                 const buffer& output) const {
    check(syncyte_comm_alltoallv(get(), input.get(), send_counts.data(), entries(send_counts), recv_counts.data(),
                                 entries(recv_counts), nullptr, output.get()));
  }

  /// Exchanges a block with each neighbour of a Cartesian communicator, below and above along each dimension; blocks of
  /// missing neighbours stay as they are. Collective.
  void neighbor_alltoall(const const_buffer& input, const buffer& output) const {
    check(syncyte_comm_neighbor_alltoall(get(), input.get(), nullptr, output.get()));
  }

  // ---- arrays of any strides; each rank's array is a part of a whole along an axis (negative: counted from the end);
  // counts are the parts' extents there in rank order, equal on all ranks

  /// Collects the counts of all ranks, in rank order. Collective.
  extents counts(std::int64_t count) const {
    extents result(static_cast<std::size_t>(size()));
    check(syncyte_comm_counts(get(), count, nullptr, result.data(), size()));
    return result;
  }

  /// Joins the ranks' parts along an axis in root's output; the other ranks' output is ignored. Collective.
  void gather_along(const const_buffer& input, std::int32_t axis, counts_view counts, std::int32_t root,
                    const buffer& output) const {
    check(syncyte_comm_gather_along(get(), input.get(), axis, counts.data(), entries(counts), root, nullptr,
                                    output.get()));
  }

  /// Joins the ranks' parts along an axis, on all ranks. Collective.
  void allgather_along(const const_buffer& input, std::int32_t axis, counts_view counts, const buffer& output) const {
    check(
        syncyte_comm_allgather_along(get(), input.get(), axis, counts.data(), entries(counts), nullptr, output.get()));
  }

  /// Cuts root's input along an axis, a part for every rank; the other ranks' input is ignored. Collective.
  void scatter_along(const const_buffer& input, std::int32_t axis, counts_view counts, std::int32_t root,
                     const buffer& output) const {
    check(syncyte_comm_scatter_along(get(), input.get(), axis, counts.data(), entries(counts), root, nullptr,
                                     output.get()));
  }

  /// Reduces the ranks' whole arrays, and cuts the result along an axis, a part for every rank. Collective.
  void reduce_scatter_along(const const_buffer& input, std::int32_t axis, counts_view counts, const buffer& output,
                            op how = op::sum) const {
    check(syncyte_comm_reduce_scatter_along(get(), input.get(), axis, counts.data(), entries(counts), raw(how), nullptr,
                                            output.get()));
  }

  /// Turns parts along gather_axis into parts along scatter_axis; if these are one axis, changes the parts'
  /// extents. Collective.
  void alltoall_along(const const_buffer& input, std::int32_t gather_axis, counts_view gather_counts,
                      std::int32_t scatter_axis, counts_view scatter_counts, const buffer& output) const {
    check(syncyte_comm_alltoall_along(get(), input.get(), gather_axis, gather_counts.data(), entries(gather_counts),
                                      scatter_axis, scatter_counts.data(), entries(scatter_counts), nullptr,
                                      output.get()));
  }

  // ---- started, and ended by the request; the arrays' memory must stay until then. A start waits for nobody; this
  // rank's own error is thrown at once, the others' get it from wait() or test() (syncyte/nonblocking.h)

  /// Starts bcast(). Collective.
  request ibcast(std::int32_t root, const buffer& values) const {
    return started(syncyte_comm_ibcast, get(), root, nullptr, values.get());
  }

  /// Starts allreduce() in place. Collective.
  request iallreduce(const buffer& values, op how = op::sum) const {
    return started(syncyte_comm_iallreduce, get(), nullptr, raw(how), nullptr, values.get());
  }

  /// Starts allreduce() of input into output, which must not overlap. Collective.
  request iallreduce(const const_buffer& input, const buffer& output, op how = op::sum) const {
    return started(syncyte_comm_iallreduce, get(), input.get(), raw(how), nullptr, output.get());
  }

  /// Starts allgather_along(). Collective.
  request iallgather_along(const const_buffer& input, std::int32_t axis, counts_view counts,
                           const buffer& output) const {
    return started(syncyte_comm_iallgather_along, get(), input.get(), axis, counts.data(), entries(counts), nullptr,
                   output.get());
  }

  /// Starts reduce_scatter_along(). Collective.
  request ireduce_scatter_along(const const_buffer& input, std::int32_t axis, counts_view counts, const buffer& output,
                                op how = op::sum) const {
    return started(syncyte_comm_ireduce_scatter_along, get(), input.get(), axis, counts.data(), entries(counts),
                   raw(how), nullptr, output.get());
  }

  /// Starts alltoall_along(). Collective.
  request ialltoall_along(const const_buffer& input, std::int32_t gather_axis, counts_view gather_counts,
                          std::int32_t scatter_axis, counts_view scatter_counts, const buffer& output) const {
    return started(syncyte_comm_ialltoall_along, get(), input.get(), gather_axis, gather_counts.data(),
                   entries(gather_counts), scatter_axis, scatter_counts.data(), entries(scatter_counts), nullptr,
                   output.get());
  }

 private:
  static std::int64_t entries(counts_view counts) noexcept { return static_cast<std::int64_t>(counts.size()); }
};

}  // namespace detail

}  // namespace syncyte
