// SPDX-License-Identifier: BSD-3-Clause
// Generated from syncyte/*.h by bindings/generate; do not edit.
// clang-format off
#pragma once

#include "syncyte/base.hpp"

namespace syncyte::detail {

class comm_methods : public reference<syncyte_comm_t, syncyte_comm_retain, syncyte_comm_destroy> {
 public:
  using reference::reference;

  /// Sends root's elements to all ranks. Collective; facts: dtype, number of elements, root.
  /// @param root rank that sends its elements
  /// @param array contiguous; read on root, written elsewhere
  void bcast(std::int32_t root, const buffer& array) const {
    check(syncyte_comm_bcast(get(), root, nullptr, array.get()));
  }

  /// Starts bcast(), as the head of syncyte/collectives.h says. Collective; does not wait.
  /// @param root rank that sends its elements
  /// @param array contiguous; read on root, written elsewhere; must stay unchanged on root and may not be read
  /// elsewhere until the request has ended
  request ibcast(std::int32_t root, const buffer& array) const {
    return started(syncyte_comm_ibcast, get(), root, nullptr, array.get());
  }

  /// Reduces element by element over all ranks; all ranks get the result. Collective; facts: dtype, number of elements,
  /// op. float16 and bfloat16 are reduced in float32 and rounded once. In place.
  /// @param how reduction
  /// @param output contiguous; this rank's elements, then the result
  void allreduce(const buffer& output, op how = op::sum) const {
    check(syncyte_comm_allreduce(get(), nullptr, raw(how), nullptr, output.get()));
  }

  /// Reduces element by element over all ranks; all ranks get the result. Collective; facts: dtype, number of elements,
  /// op. float16 and bfloat16 are reduced in float32 and rounded once.
  /// @param input contiguous; this rank's elements
  /// @param how reduction
  /// @param output contiguous, of input's dtype and number of elements; must not overlap input
  void allreduce(const const_buffer& input, const buffer& output, op how = op::sum) const {
    check(syncyte_comm_allreduce(get(), input.get(), raw(how), nullptr, output.get()));
  }

  /// Starts allreduce(), as the head of syncyte/collectives.h says. Collective; does not wait. In place.
  /// @param how reduction
  /// @param output contiguous; this rank's elements, then the result
  request iallreduce(const buffer& output, op how = op::sum) const {
    return started(syncyte_comm_iallreduce, get(), nullptr, raw(how), nullptr, output.get());
  }

  /// Starts allreduce(), as the head of syncyte/collectives.h says. Collective; does not wait.
  /// @param input contiguous; this rank's elements
  /// @param how reduction
  /// @param output contiguous, of input's dtype and number of elements; must not overlap input; may be neither read nor
  /// written until the request has ended
  request iallreduce(const const_buffer& input, const buffer& output, op how = op::sum) const {
    return started(syncyte_comm_iallreduce, get(), input.get(), raw(how), nullptr, output.get());
  }

  /// Concatenates contributions of equal size of all ranks, in rank order. Collective; facts: dtype, number of
  /// elements.
  /// @param input contiguous
  /// @param output contiguous, of input's dtype and size times as many elements; must not overlap input
  void allgather(const const_buffer& input, const buffer& output) const {
    check(syncyte_comm_allgather(get(), input.get(), nullptr, output.get()));
  }

  /// Concatenates contributions of different sizes, in rank order. Collective; facts: dtype, counts.
  /// @param input contiguous, counts[rank] elements
  /// @param counts elements of every rank, 0 or more, equal on all ranks
  /// @param output contiguous, the sum of counts elements; must not overlap input
  void allgatherv(const const_buffer& input, std::span<const std::int64_t> counts, const buffer& output) const {
    check(syncyte_comm_allgatherv(get(), input.get(), std::ssize(counts), counts.data(), nullptr, output.get()));
  }

  /// Every rank sends a block to every rank. Collective; facts: dtype, and that the count that rank i sends to j equals
  /// the count that j expects from i (compared as a 64-bit sum of hashes; with SYNCYTE_CHECK=full entry by entry).
  /// @param input contiguous, the blocks in order of target ranks
  /// @param send_counts elements for every rank
  /// @param recv_counts elements from every rank
  /// @param output contiguous, the blocks in order of source ranks; must not overlap input
  void alltoallv(const const_buffer& input, std::span<const std::int64_t> send_counts,
      std::span<const std::int64_t> recv_counts, const buffer& output) const {
    check(syncyte_comm_alltoallv(get(), input.get(), std::ssize(send_counts), send_counts.data(),
        std::ssize(recv_counts), recv_counts.data(), nullptr, output.get()));
  }

  /// Exchanges a block with each neighbour on a grid. Collective over a Cartesian communicator; after the agreement it
  /// waits for the neighbours only. Facts: dtype, number of elements. A buffer has two blocks for each dimension, all
  /// of equal size: one for the neighbour below, then one for the neighbour above. The block that a rank sends up
  /// arrives in the neighbour's block "below", also if a periodic dimension has one or two ranks, so that both
  /// neighbours are one rank. Beyond an edge that is not periodic there is no neighbour: that block of input is not
  /// read, and that of output not written. The operation is its own adjoint if those blocks are 0.
  /// @param input contiguous, a block for each neighbour
  /// @param output contiguous, of input's dtype and number of elements; must not overlap input
  void neighbor_alltoall(const const_buffer& input, const buffer& output) const {
    check(syncyte_comm_neighbor_alltoall(get(), input.get(), nullptr, output.get()));
  }

  /// Reduces element by element over the ranks from the first (or the last) to this one, its own included. Collective;
  /// facts: dtype, number of elements, op, reverse. In place.
  /// @param how reduction
  /// @param reverse 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
  /// @param output contiguous; this rank's elements, then the result
  void scan(const buffer& output, op how = op::sum, bool reverse = false) const {
    check(syncyte_comm_scan(get(), nullptr, raw(how), reverse, nullptr, output.get()));
  }

  /// Reduces element by element over the ranks from the first (or the last) to this one, its own included. Collective;
  /// facts: dtype, number of elements, op, reverse.
  /// @param input contiguous; this rank's elements
  /// @param how reduction
  /// @param reverse 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
  /// @param output contiguous, of input's dtype and number of elements; must not overlap input
  void scan(const const_buffer& input, const buffer& output, op how = op::sum, bool reverse = false) const {
    check(syncyte_comm_scan(get(), input.get(), raw(how), reverse, nullptr, output.get()));
  }

  /// Exclusive scan: does the same as scan(), without this rank's own elements. The rank where it begins gets the
  /// identity element of op: 0 for SUM, 1 for PROD, the highest value (or infinity) for MIN, the lowest for MAX.
  /// Collective; facts as scan(). In place.
  /// @param how reduction
  /// @param reverse 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
  /// @param output contiguous; this rank's elements, then the result
  void exscan(const buffer& output, op how = op::sum, bool reverse = false) const {
    check(syncyte_comm_exscan(get(), nullptr, raw(how), reverse, nullptr, output.get()));
  }

  /// Exclusive scan: does the same as scan(), without this rank's own elements. The rank where it begins gets the
  /// identity element of op: 0 for SUM, 1 for PROD, the highest value (or infinity) for MIN, the lowest for MAX.
  /// Collective; facts as scan().
  /// @param input contiguous; this rank's elements
  /// @param how reduction
  /// @param reverse 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
  /// @param output contiguous, of input's dtype and number of elements; must not overlap input
  void exscan(const const_buffer& input, const buffer& output, op how = op::sum, bool reverse = false) const {
    check(syncyte_comm_exscan(get(), input.get(), raw(how), reverse, nullptr, output.get()));
  }

  /// Joins the ranks' parts along an axis, on root. Collective; facts: dtype, extents of the other axes, axis, counts,
  /// root.
  /// @param input this rank's part
  /// @param axis dimension along which the parts are joined
  /// @param root rank that gets the whole array
  /// @param counts extents of the parts along the axis, equal on all ranks
  /// @param output on root: the whole array, not overlapping input; elsewhere ignored, may be null
  void gather_along(const const_buffer& input, std::int32_t axis, std::int32_t root,
      std::span<const std::int64_t> counts, const buffer& output) const {
    check(syncyte_comm_gather_along(get(), input.get(), axis, root, std::ssize(counts), counts.data(), nullptr,
        output.get()));
  }

  /// Joins the ranks' parts along an axis, on all ranks. Collective; facts as gather_along(), without root.
  /// @param input this rank's part
  /// @param axis dimension along which the parts are joined
  /// @param counts extents of the parts along the axis, equal on all ranks
  /// @param output the whole array, not overlapping input
  void allgather_along(const const_buffer& input, std::int32_t axis, std::span<const std::int64_t> counts,
      const buffer& output) const {
    check(syncyte_comm_allgather_along(get(), input.get(), axis, std::ssize(counts), counts.data(), nullptr,
        output.get()));
  }

  /// Starts allgather_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
  /// @param input this rank's part; must stay unchanged until the request has ended
  /// @param axis dimension along which the parts are joined
  /// @param counts extents of the parts along the axis, equal on all ranks; may be re-used on return
  /// @param output the whole array, not overlapping input; may not be read until the request has ended
  request iallgather_along(const const_buffer& input, std::int32_t axis, std::span<const std::int64_t> counts,
      const buffer& output) const {
    return started(syncyte_comm_iallgather_along, get(), input.get(), axis, std::ssize(counts), counts.data(), nullptr,
        output.get());
  }

  /// Cuts root's array along an axis, a part for every rank. Collective; facts as gather_along().
  /// @param input on root: the whole array; elsewhere ignored, may be null
  /// @param axis dimension to cut
  /// @param root rank that has the whole array
  /// @param counts extents of the parts along the axis, equal on all ranks
  /// @param output this rank's part, not overlapping input
  void scatter_along(const const_buffer& input, std::int32_t axis, std::int32_t root,
      std::span<const std::int64_t> counts, const buffer& output) const {
    check(syncyte_comm_scatter_along(get(), input.get(), axis, root, std::ssize(counts), counts.data(), nullptr,
        output.get()));
  }

  /// Reduces the ranks' whole arrays element by element, and gives each rank its part of the result. Collective; facts:
  /// dtype, extents, axis, counts, op. float16 and bfloat16 are reduced in float32 and rounded once.
  /// @param input a whole array
  /// @param axis dimension to cut
  /// @param how reduction
  /// @param counts extents of the parts along the axis, equal on all ranks
  /// @param output this rank's part, not overlapping input
  void reduce_scatter_along(const const_buffer& input, std::int32_t axis, std::span<const std::int64_t> counts,
      const buffer& output, op how = op::sum) const {
    check(syncyte_comm_reduce_scatter_along(get(), input.get(), axis, raw(how), std::ssize(counts), counts.data(),
        nullptr, output.get()));
  }

  /// Starts reduce_scatter_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
  /// @param input a whole array; must stay unchanged until the request has ended
  /// @param axis dimension to cut
  /// @param how reduction
  /// @param counts extents of the parts along the axis, equal on all ranks; may be re-used on return
  /// @param output this rank's part, not overlapping input; may not be read until the request has ended
  request ireduce_scatter_along(const const_buffer& input, std::int32_t axis, std::span<const std::int64_t> counts,
      const buffer& output, op how = op::sum) const {
    return started(syncyte_comm_ireduce_scatter_along, get(), input.get(), axis, raw(how), std::ssize(counts),
        counts.data(), nullptr, output.get());
  }

  /// Changes the axis along which an array is partitioned over the ranks (a parallel transposition); with equal axes,
  /// changes the extents of its parts. Collective; facts: dtype, extents of the other axes, both axes, all counts. Rank
  /// r passes its part of extent gather_counts[r] along gather_axis, and gets its part of extent scatter_counts[r]
  /// along scatter_axis; the extent along the other axis is that of the whole array.
  /// @param input this rank's part along gather_axis
  /// @param gather_axis dimension along which the inputs are parts
  /// @param scatter_axis dimension along which the outputs are parts
  /// @param gather_counts their extents, equal on all ranks
  /// @param scatter_counts their extents, equal on all ranks
  /// @param output this rank's part along scatter_axis, not overlapping input
  void alltoall_along(const const_buffer& input, std::int32_t gather_axis, std::int32_t scatter_axis,
      std::span<const std::int64_t> gather_counts, std::span<const std::int64_t> scatter_counts,
      const buffer& output) const {
    check(syncyte_comm_alltoall_along(get(), input.get(), gather_axis, scatter_axis, std::ssize(gather_counts),
        gather_counts.data(), std::ssize(scatter_counts), scatter_counts.data(), nullptr, output.get()));
  }

  /// Starts alltoall_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
  /// @param input this rank's part along gather_axis; must stay unchanged until the request has ended
  /// @param gather_axis dimension along which the inputs are parts
  /// @param scatter_axis dimension along which the outputs are parts
  /// @param gather_counts their extents, equal on all ranks; may be re-used on return
  /// @param scatter_counts their extents, equal on all ranks; may be re-used on return
  /// @param output this rank's part along scatter_axis, not overlapping input; may not be read until the request has
  /// ended
  request ialltoall_along(const const_buffer& input, std::int32_t gather_axis, std::int32_t scatter_axis,
      std::span<const std::int64_t> gather_counts, std::span<const std::int64_t> scatter_counts,
      const buffer& output) const {
    return started(syncyte_comm_ialltoall_along, get(), input.get(), gather_axis, scatter_axis,
        std::ssize(gather_counts), gather_counts.data(), std::ssize(scatter_counts), scatter_counts.data(), nullptr,
        output.get());
  }

  /// Sends an array. Local; returns when its memory may be used again, possibly before the receive.
  /// @param array array to send; any strides
  /// @param dest rank of the receiver, or SYNCYTE_PROC_NULL
  /// @param tag 0 to highest_tag()
  void send(const const_buffer& array, std::int32_t dest, std::int32_t tag = 0) const {
    check(syncyte_comm_send(get(), array.get(), dest, tag, nullptr));
  }

  /// Starts send(), as the head of syncyte/messages.h says.
  /// @param array array to send; any strides; must stay unchanged until the request has ended
  /// @param dest rank of the receiver, or SYNCYTE_PROC_NULL
  /// @param tag 0 to highest_tag()
  request isend(const const_buffer& array, std::int32_t dest, std::int32_t tag = 0) const {
    return started(syncyte_comm_isend, get(), array.get(), dest, tag, nullptr);
  }
};

class reducer_methods : public reference<syncyte_reducer_t, syncyte_reducer_retain, syncyte_reducer_destroy> {
 public:
  using reference::reference;

  /// Starts the sum of a bucket that this rank has filled. All ranks start all buckets in each round, in any order.
  /// Does not wait for other ranks; sums parts of buckets that all ranks of the node have started.
  /// @param bucket 0 to buckets - 1
  void start(std::int32_t bucket) const {
    check(syncyte_reducer_start(get(), bucket));
  }

  /// Sums parts of buckets that all ranks of the node have started, without waiting. Local.
  void progress() const {
    check(syncyte_reducer_progress(get()));
  }

  /// Waits for the end of the round: all buckets hold the sums. Collective.
  void wait() const {
    check(syncyte_reducer_wait(get()));
  }

  /// Gives up the round: wait() returns SYNCYTE_ERR_MISMATCH with this rank's number on all ranks. This rank must call
  /// wait() too. Local; does not wait.
  void give_up() const {
    check(syncyte_reducer_give_up(get()));
  }
};

class tensor_methods : public reference<syncyte_tensor_t, syncyte_tensor_retain, syncyte_tensor_destroy> {
 public:
  using reference::reference;

  /// Lets a device of this process access a tensor: kernels of that device may use the addresses of tensor_local() and
  /// tensor_node(). Local. Host memory is registered with the driver until the tensor is freed; what kernels do with it
  /// has ended before a call of the library, such as tensor_sync(), orders it for others.
  /// @param device the device's number
  void allow_device(std::int32_t device) const {
    check(syncyte_tensor_allow_device(get(), device));
  }

  /// Reads rows: output[i] = tensor[index[i]]. Local; a forked child may call it. Rows may repeat.
  /// @param index int32 or int64, contiguous, any number of dimensions
  /// @param output contiguous, of the tensor's dtype, index's elements times a row's elements
  void gather(const const_buffer& index, const buffer& output) const {
    check(syncyte_tensor_gather(get(), index.get(), output.get()));
  }

  /// Starts gather(), as the head of syncyte/tensor.h says.
  /// @param index int32 or int64, contiguous, any number of dimensions; may be re-used on return
  /// @param output contiguous, of the tensor's dtype, index's elements times a row's elements; may not be read until
  /// the request has ended
  request igather(const const_buffer& index, const buffer& output) const {
    return started(syncyte_tensor_igather, get(), index.get(), output.get());
  }

  /// Writes rows: tensor[index[i]] = source[i]. Local. If a row repeats, its last source stays. A row that two ranks
  /// write at once, or that is added to meanwhile, is undefined.
  /// @param index int32 or int64, contiguous
  /// @param source contiguous, of the tensor's dtype, index's elements times a row's elements
  void scatter(const const_buffer& index, const const_buffer& source) const {
    check(syncyte_tensor_scatter(get(), index.get(), source.get()));
  }

  /// Starts scatter(), as the head of syncyte/tensor.h says.
  /// @param index int32 or int64, contiguous; may be re-used on return
  /// @param source contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged
  /// until the request has ended
  request iscatter(const const_buffer& index, const const_buffer& source) const {
    return started(syncyte_tensor_iscatter, get(), index.get(), source.get());
  }

  /// Adds to rows: tensor[index[i]] += source[i]. Local. No add is lost when several ranks add at once. A row that
  /// repeats is added to several times, in an undefined order. bool: logical or. Each element is added atomically; of a
  /// complex number, each component: a rank that reads it meanwhile may see the components of different adds. In a
  /// tensor made with options->deterministic, rows of floating-point or complex numbers change in the next
  /// tensor_sync(): the owner sums exactly what all ranks have added to a row since the last one, adds the sum to the
  /// row, and rounds once, to nearest even. The result has the same bits whatever the timing, the number of ranks, and
  /// the ranks that add. A sum of zero is +0. Until then this rank keeps the sum of each row that it has added to:
  /// usually 32 to 40 bytes for each real number, and at most 560, if the magnitudes of a row's numbers span all
  /// exponents of float64.
  /// @param index int32 or int64, contiguous
  /// @param source contiguous, of the tensor's dtype, index's elements times a row's elements
  void scatter_add(const const_buffer& index, const const_buffer& source) const {
    check(syncyte_tensor_scatter_add(get(), index.get(), source.get()));
  }

  /// Starts scatter_add(), as the head of syncyte/tensor.h says.
  /// @param index int32 or int64, contiguous; may be re-used on return
  /// @param source contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged
  /// until the request has ended
  request iscatter_add(const const_buffer& index, const const_buffer& source) const {
    return started(syncyte_tensor_iscatter_add, get(), index.get(), source.get());
  }

  /// Changes the learning rate of this rank's later calls of tensor_apply_gradients(). Local.
  /// @param lr learning rate, 0 or more
  void set_learning_rate(double lr) const {
    check(syncyte_tensor_set_learning_rate(get(), lr));
  }

  /// Updates rows by the tensor's optimizer: gradients[i] belongs to tensor[index[i]]. Local; rows of other nodes are
  /// updated by their owners' library. Gradients of a row that repeats are summed first, so that each call updates a
  /// row once. Calls of several ranks for the same row are separate updates, done one after another in any order, each
  /// exactly once. On return all are done; all ranks see them after tensor_sync(). An Adam update's number, which
  /// corrects the moments' bias, is the number of calls for this tensor by all ranks so far. A row that is written or
  /// added to meanwhile is undefined.
  /// @param index int32 or int64, contiguous
  /// @param gradients contiguous, of the tensor's dtype, index's elements times a row's elements
  void apply_gradients(const const_buffer& index, const const_buffer& gradients) const {
    check(syncyte_tensor_apply_gradients(get(), index.get(), gradients.get()));
  }

  /// Starts apply_gradients(), as the head of syncyte/tensor.h says. Gradients of a row that repeats are summed, and an
  /// Adam update gets its number, in the start; if another node has the number, the start waits for the answer of that
  /// node's library. The learning rate is that of the start.
  /// @param index int32 or int64, contiguous; may be re-used on return
  /// @param gradients contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged
  /// until the request has ended
  request iapply_gradients(const const_buffer& index, const const_buffer& gradients) const {
    return started(syncyte_tensor_iapply_gradients, get(), index.get(), gradients.get());
  }

  /// Reads the box [lower, lower + extent of output) of the tensor. Local; a forked child may call it.
  /// @param lower first element of the box
  /// @param output as many dimensions as the tensor, any strides, the tensor's dtype
  void get_box(std::span<const std::int64_t> lower, const buffer& output) const {
    check(syncyte_tensor_get_box(get(), std::ssize(lower), lower.data(), output.get()));
  }

  /// Starts get_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need packed memory of their
  /// size until the end; the test or wait that finds the end copies them to output.
  /// @param lower first element of the box; may be re-used on return
  /// @param output as many dimensions as the tensor, any strides, the tensor's dtype; may not be read until the request
  /// has ended
  request iget_box(std::span<const std::int64_t> lower, const buffer& output) const {
    return started(syncyte_tensor_iget_box, get(), std::ssize(lower), lower.data(), output.get());
  }

  /// Writes the box [lower, lower + extent of source) of the tensor. Local. Visible to other ranks as in scatter.
  /// @param lower first element of the box
  /// @param source as many dimensions as the tensor, any strides, the tensor's dtype
  void put_box(std::span<const std::int64_t> lower, const const_buffer& source) const {
    check(syncyte_tensor_put_box(get(), std::ssize(lower), lower.data(), source.get()));
  }

  /// Starts put_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need packed memory of their
  /// size until the end.
  /// @param lower first element of the box; may be re-used on return
  /// @param source as many dimensions as the tensor, any strides, the tensor's dtype; may be re-used on return
  request iput_box(std::span<const std::int64_t> lower, const const_buffer& source) const {
    return started(syncyte_tensor_iput_box, get(), std::ssize(lower), lower.data(), source.get());
  }

  /// Adds to one element of an int32 or int64 tensor and returns its old value; atomic, acquire and release. Local.
  /// @param element number of the element in row-major order
  /// @param operand number to add
  std::int64_t fetch_add(std::int64_t element, std::int64_t operand) const {
    return fetch<std::int64_t>(syncyte_tensor_fetch_add, get(), element, operand);
  }

  /// Writes desired to one element if it equals expected, and returns its old value; atomic, acquire and release.
  /// Local.
  /// @param element number of the element in row-major order
  /// @param expected value to compare with
  /// @param desired value to write if they are equal
  std::int64_t compare_swap(std::int64_t element, std::int64_t expected, std::int64_t desired) const {
    return fetch<std::int64_t>(syncyte_tensor_compare_swap, get(), element, expected, desired);
  }

  /// Reads one element of an int32 or int64 tensor; acquire. Local; a forked child may call it.
  /// @param element number of the element in row-major order
  std::int64_t load(std::int64_t element) const {
    return fetch<std::int64_t>(syncyte_tensor_load, get(), element);
  }

  /// Writes one element of an int32 or int64 tensor; release: a rank that reads the new value sees all earlier writes
  /// of this rank (on the same node; on other nodes, those before a flush). Local.
  /// @param element number of the element in row-major order
  /// @param value its new value
  void store(std::int64_t element, std::int64_t value) const {
    check(syncyte_tensor_store(get(), element, value));
  }

  /// Waits, mostly asleep, until it has a row's lock. Local. The lock excludes other holders of it, and nothing else:
  /// operations on the row take no notice, so the holder may call all of them. Writes of earlier holders are visible to
  /// the holder. Each row has its own lock, so a rank may hold several; ranks that take them in different orders may
  /// wait for each other for ever. A second lock of the row by this rank waits too, for an unlock by another thread.
  /// There is no started form: a rank would hold a lock that it started from a moment that it does not know.
  /// @param row a row's number
  void lock(std::int64_t row) const {
    check(syncyte_tensor_lock(get(), row));
  }

  /// Completes this rank's writes, as flush, and releases a row's lock. Local. Any thread of the rank may call it.
  /// @param row a row's number
  void unlock(std::int64_t row) const {
    check(syncyte_tensor_unlock(get(), row));
  }

  /// Completes this rank's writes at their owners. Local.
  void flush() const {
    check(syncyte_tensor_flush(get()));
  }

  /// Synchronizes the tensor: after it, all ranks see all earlier writes of all ranks. Collective; also frees objects
  /// that all ranks have dropped, and makes the adds of a tensor with options->deterministic. Adds that another thread
  /// makes meanwhile may wait for the next call.
  void sync() const {
    check(syncyte_tensor_sync(get()));
  }
};

class window_methods : public reference<syncyte_window_t, syncyte_window_retain, syncyte_window_destroy> {
 public:
  using reference::reference;

  /// Returns the size of a rank's part. Local.
  /// @param rank rank that contributed the part
  std::int64_t size(std::int32_t rank) const {
    return fetch<std::int64_t>(syncyte_window_size, get(), rank);
  }

  /// Writes elements to a rank. The buffer may be re-used on return; visible at the target after flush.
  /// @param rank target
  /// @param offset bytes from the start of its part
  /// @param source contiguous
  void put(std::int32_t rank, std::int64_t offset, const const_buffer& source) const {
    check(syncyte_window_put(get(), rank, offset, source.get()));
  }

  /// Starts put(), as the head of syncyte/window.h says.
  /// @param rank target
  /// @param offset bytes from the start of its part
  /// @param source contiguous; must stay unchanged until the request has ended
  request iput(std::int32_t rank, std::int64_t offset, const const_buffer& source) const {
    return started(syncyte_window_iput, get(), rank, offset, source.get());
  }

  /// Starts get(), as the head of syncyte/window.h says.
  /// @param rank target
  /// @param offset bytes from the start of its part
  /// @param target contiguous; may not be read until the request has ended
  request iget(std::int32_t rank, std::int64_t offset, const buffer& target) const {
    return started(syncyte_window_iget, get(), rank, offset, target.get());
  }

  /// Combines elements with those at a rank; atomic per element (a complex number as a whole) with other accumulates,
  /// fetch-ops and compare-swaps. The buffer may be re-used on return; visible at the target after flush.
  /// @param rank target
  /// @param offset bytes from the start of its part; a multiple of the element's size
  /// @param source contiguous
  /// @param how SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE
  void accumulate(std::int32_t rank, std::int64_t offset, const const_buffer& source, op how = op::sum) const {
    check(syncyte_window_accumulate(get(), rank, offset, source.get(), raw(how)));
  }

  /// Starts accumulate(), as the head of syncyte/window.h says.
  /// @param rank target
  /// @param offset bytes from the start of its part; a multiple of the element's size
  /// @param source contiguous; must stay unchanged until the request has ended
  /// @param how SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE
  request iaccumulate(std::int32_t rank, std::int64_t offset, const const_buffer& source, op how = op::sum) const {
    return started(syncyte_window_iaccumulate, get(), rank, offset, source.get(), raw(how));
  }

  /// Completes this rank's blocking operations at their targets. Local. A started operation (iput and so on) is
  /// complete when its request has ended.
  /// @param rank target; -1: all
  void flush(std::int32_t rank = -1) const {
    check(syncyte_window_flush(get(), rank));
  }

  /// Completes all ranks' blocking operations: after it, all ranks see all earlier writes. Collective; also frees
  /// objects that all ranks have dropped.
  void fence() const {
    check(syncyte_window_fence(get()));
  }
};

class store_methods : public reference<syncyte_store_t, syncyte_store_retain, syncyte_store_destroy> {
 public:
  using reference::reference;

  /// Returns the number of keys. Local.
  std::int64_t keys() const {
    return fetch<std::int64_t>(syncyte_store_keys, get());
  }

  /// Synchronizes the store: after it, all ranks see all earlier writes of all ranks that were waited for. Collective,
  /// called by one thread of each process; also frees objects that all ranks have dropped.
  void sync() const {
    check(syncyte_store_sync(get()));
  }
};

class store_worker_methods : public reference<syncyte_store_worker_t, syncyte_store_worker_retain, syncyte_store_worker_destroy> {
 public:
  using reference::reference;

  /// Reads the values of keys, concatenated in the order of the keys. A forked child may call it if all keys are local.
  /// @param keys int64, contiguous, any number of dimensions
  /// @param values float32, contiguous, as many as the keys have
  void pull(const const_buffer& keys, const buffer& values) const {
    check(syncyte_store_worker_pull(get(), keys.get(), values.get()));
  }

  /// Starts pull(), as the head of syncyte/store.h says.
  /// @param keys int64, contiguous, any number of dimensions; may be re-used on return
  /// @param values float32, contiguous, as many as the keys have; may not be read until the request has ended
  request ipull(const const_buffer& keys, const buffer& values) const {
    return started(syncyte_store_worker_ipull, get(), keys.get(), values.get());
  }

  /// Adds to the values of keys; a key that repeats is added to several times. Each value is added exactly once.
  /// @param keys int64, contiguous
  /// @param values float32, contiguous, as many as the keys have
  void push(const const_buffer& keys, const const_buffer& values) const {
    check(syncyte_store_worker_push(get(), keys.get(), values.get()));
  }

  /// Starts push(), as the head of syncyte/store.h says.
  /// @param keys int64, contiguous; may be re-used on return
  /// @param values float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
  request ipush(const const_buffer& keys, const const_buffer& values) const {
    return started(syncyte_store_worker_ipush, get(), keys.get(), values.get());
  }

  /// Replaces the values of keys; if a key repeats, its last values stay. Repairs damaged keys.
  /// @param keys int64, contiguous
  /// @param values float32, contiguous, as many as the keys have
  void set(const const_buffer& keys, const const_buffer& values) const {
    check(syncyte_store_worker_set(get(), keys.get(), values.get()));
  }

  /// Starts set(), as the head of syncyte/store.h says.
  /// @param keys int64, contiguous; may be re-used on return
  /// @param values float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
  request iset(const const_buffer& keys, const const_buffer& values) const {
    return started(syncyte_store_worker_iset, get(), keys.get(), values.get());
  }

  /// Reads the values of each distinct key of a list once: key i of the list has the values of distinct key inverse[i].
  /// Distinct keys are in the order of their first appearance. Arrays are written up to the distinct keys that there
  /// are; the rest is unchanged.
  /// @param keys int64, contiguous, any number of dimensions
  /// @param distinct int64, contiguous, room for as many keys as the list has
  /// @param inverse int64, contiguous, as many elements as the list has keys
  /// @param values float32, contiguous, room for as many as the list's keys have; concatenated in the order of the
  /// distinct keys
  std::int64_t pull_unique(const const_buffer& keys, const buffer& distinct, const buffer& inverse,
      const buffer& values) const {
    return fetch<std::int64_t>(syncyte_store_worker_pull_unique, get(), keys.get(), distinct.get(), inverse.get(),
        values.get());
  }

  /// Adds to the values of keys, as push, and sends each distinct key once: first the values of a key that repeats are
  /// added to each other, in the order of the list. So rounding may differ from that of push.
  /// @param keys int64, contiguous
  /// @param values float32, contiguous, as many as the keys have
  void push_unique(const const_buffer& keys, const const_buffer& values) const {
    check(syncyte_store_worker_push_unique(get(), keys.get(), values.get()));
  }

  /// Starts push_unique(), as the head of syncyte/store.h says.
  /// @param keys int64, contiguous; may be re-used on return
  /// @param values float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
  request ipush_unique(const const_buffer& keys, const const_buffer& values) const {
    return started(syncyte_store_worker_ipush_unique, get(), keys.get(), values.get());
  }

  /// Starts a pull whose values wait in the worker: its next pull, ipull, pull_unique, or ipull_unique of exactly this
  /// list of keys takes them; so does pull_if_local, if they have come. They have the worker's own pushes and sets up
  /// to that pull, also started ones. They may miss writes of other workers after the prefetch, unless a
  /// store_worker_barrier() or store_sync() follows those: it drops the prefetches that began before. Nothing is
  /// prefetched if all keys are local, so always on one node. A worker keeps SYNCYTE_STORE_MAX_PREFETCHES prefetches,
  /// each with its values; a further one drops the oldest. Of several prefetches of one list a pull takes the oldest. A
  /// pull whose prefetch was dropped or has failed reads the values as if there had been none; an ipull that takes a
  /// prefetch in flight tells its error. Prefetches are also dropped by a push or set that fails, or if several threads
  /// start pushes, sets and prefetches of the worker at the same time. Local; it does not wait.
  /// @param keys int64, contiguous; may be re-used on return
  void prefetch(const const_buffer& keys) const {
    check(syncyte_store_worker_prefetch(get(), keys.get()));
  }

  /// Drops the worker's prefetches, so that its next pulls read the values. Local.
  void drop_prefetches() const {
    check(syncyte_store_worker_drop_prefetches(get()));
  }

  /// Moves the values of keys to this node, so that they are local, until another node localizes them or memory for
  /// other keys is needed (store_options_t::foreign_bytes: those that came first leave first). A key that cannot come
  /// stays where it is, and is used from there: it is damaged, a rank has died, memory is used up, or
  /// SYNCYTE_STORE_MOVES is off. On return, or at the end of the request, each key is here or cannot come. Other
  /// operations go on meanwhile, also on these keys; the order of a worker's operations is kept.
  /// @param keys int64, contiguous
  void localize(const const_buffer& keys) const {
    check(syncyte_store_worker_localize(get(), keys.get()));
  }

  /// Starts localize(), as the head of syncyte/store.h says.
  /// @param keys int64, contiguous; may be re-used on return
  request ilocalize(const const_buffer& keys) const {
    return started(syncyte_store_worker_ilocalize, get(), keys.get());
  }

  /// Signals that this worker will use keys while its clock is in [start, end): they come to this node shortly before,
  /// or copies of them if workers of other nodes intend to use them too (store_options_t::intents). A copy goes when no
  /// window of this node's workers needs it. A key for which there is no memory is used where it is. Local; waits for
  /// nothing.
  /// @param keys int64, contiguous
  /// @param start 0 or more
  /// @param end more than start; 0: start + 1
  void intent(const const_buffer& keys, std::int64_t start, std::int64_t end = 0) const {
    check(syncyte_store_worker_intent(get(), keys.get(), start, end));
  }

  /// Adds 1 to the worker's clock, which begins at 0. Local.
  std::int64_t advance_clock() const {
    return fetch<std::int64_t>(syncyte_store_worker_advance_clock, get());
  }

  /// Returns the worker's clock. Local.
  std::int64_t clock() const {
    return fetch<std::int64_t>(syncyte_store_worker_clock, get());
  }

  /// Prepares a sample: this worker will pull its keys while its clock is in [start, end). Local.
  /// @param count number of keys, 0 to 2^40
  /// @param start 0 or more
  /// @param end more than start; 0: start + 1
  std::int64_t prepare_sample(std::int64_t count, std::int64_t start, std::int64_t end = 0) const {
    return fetch<std::int64_t>(syncyte_store_worker_prepare_sample, get(), count, start, end);
  }

  /// Reads the next keys of a sample and their values. A sample ends when its last key was pulled. The keys are
  /// complete on return, the values as in pull.
  /// @param sample its number
  /// @param keys int64, contiguous, at most as many as the sample has left
  /// @param values float32, contiguous, as many as the keys have
  void pull_sample(std::int64_t sample, const buffer& keys, const buffer& values) const {
    check(syncyte_store_worker_pull_sample(get(), sample, keys.get(), values.get()));
  }

  /// Starts pull_sample(), as the head of syncyte/store.h says.
  /// @param sample its number
  /// @param keys int64, contiguous, at most as many as the sample has left; complete on return
  /// @param values float32, contiguous, as many as the keys have; may not be read until the request has ended
  request ipull_sample(std::int64_t sample, const buffer& keys, const buffer& values) const {
    return started(syncyte_store_worker_ipull_sample, get(), sample, keys.get(), values.get());
  }

  /// Ends a sample before all its keys were pulled. Local.
  /// @param sample its number; one that has ended is ignored
  void finish_sample(std::int64_t sample) const {
    check(syncyte_store_worker_finish_sample(get(), sample));
  }

  /// Waits until all operations in flight of this worker have ended: its writes are where the keys are, and keys of
  /// intents for its present clock are here or cannot come. Errors of operations stay for their requests. Local.
  void flush() const {
    check(syncyte_store_worker_flush(get()));
  }

  /// Barrier of all workers of all ranks: after it, all workers see all earlier writes. It waits first for the worker's
  /// operations in flight, whose errors stay for their requests. Collective: each worker calls it, in a thread of its
  /// own if a process has several. One worker enters the collective for its process, so MPI's thread level must then be
  /// serialized or above. Workers that were destroyed are not waited for.
  void barrier() const {
    check(syncyte_store_worker_barrier(get()));
  }
};

class cache_methods : public reference<syncyte_cache_t, syncyte_cache_retain, syncyte_cache_destroy> {
 public:
  using reference::reference;

  /// Makes bytes resident in this process, in huge pages if the machine has some, so that first uses do not wait for
  /// pages. Contents are kept. Those of a device are resident from the start.
  /// @param offset 0 or more
  /// @param size bytes from offset on, 0 or more
  void touch(std::int64_t offset, std::int64_t size) const {
    check(syncyte_cache_touch(get(), offset, size));
  }

  /// Inserts a slice: the calling thread acquires blocks from these bytes, until it inserts another slice or calls
  /// clear().
  /// @param offset a multiple of 512
  /// @param size bytes from offset on, a multiple of 512, 512 or more
  void insert(std::int64_t offset, std::int64_t size) const {
    check(syncyte_cache_insert(get(), offset, size));
  }
};

class models_methods : public reference<syncyte_models_t, syncyte_models_retain, syncyte_models_destroy> {
 public:
  using reference::reference;
};

class publication_methods : public reference<syncyte_publication_t, syncyte_publication_retain, syncyte_publication_destroy> {
 public:
  using reference::reference;

  /// Takes the name and the memory. From now on processes can bind the model, and wait for its groups.
  void start() const {
    check(syncyte_publication_start(get()));
  }

  /// Copies all tensors that are not filled, in the order in which they were added, and seals the model; starts first.
  /// On an error after the start, the name is free and binders get the error.
  void finish() const {
    check(syncyte_publication_finish(get()));
  }
};

class model_methods : public reference<syncyte_model_t, syncyte_model_retain, syncyte_model_destroy> {
 public:
  using reference::reference;

  /// Waits until a group and those before it are ready, and copies them if the binding is a copy.
  /// @param group 0 to the number of groups - 1; -1: all
  /// @param timeout seconds; negative: as long as another group becomes ready within the time limit of the models
  /// (SYNCYTE_CACHE_TIMEOUT)
  void wait(std::int64_t group, double timeout = -1) const {
    check(syncyte_model_wait(get(), group, timeout));
  }

  /// Compares the published bytes with the checksums that were published. Waits for all groups.
  void verify() const {
    check(syncyte_model_verify(get()));
  }
};

}  // namespace syncyte::detail
