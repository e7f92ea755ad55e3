// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file tensor.hpp Whole tensors in C++: one array over the memory of all ranks. syncyte/tensor.h says when writes
/// become visible.

#include <chrono>
#include <limits>
#include <optional>

#include "syncyte/base.hpp"
#include "syncyte/comm.hpp"
#include "syncyte/generated/methods.hpp"
#include "syncyte/layout.hpp"

namespace syncyte {

/// Options of a new tensor.
struct tensor_options {
  std::string name = {};  ///< equal on all ranks; empty is a name of its own
  /// Number of this rank's rows, on all ranks or none; empty: equal parts.
  std::optional<std::int64_t> local_rows = {};
  memory_kind memory = memory_kind::host;  ///< equal on all ranks
  bool row_locks = false;                  ///< rows have locks, for lock(), of 8 bytes each; equal on all ranks
  bool deterministic = false;              ///< sync() makes the adds, with a result that depends on no order
  std::string label = "";                  ///< name for messages, if not empty; ranks may differ
  std::int32_t device = -1;                ///< this rank's, of memory_kind::cuda; -1: that of the thread's context
};

/// Hyperparameters of optimizers, which ignore those that they do not have.
struct optimizer_options {
  double momentum = 0.0;           ///< SGD
  double beta1 = 0.9;              ///< Adam
  double beta2 = 0.999;            ///< Adam
  std::optional<double> eps = {};  ///< AdaGrad and Adam; empty: 1e-10 and 1e-8
};

/// Rows first to first + count - 1.
struct row_range {
  std::int64_t first;
  std::int64_t count;
};

/// The part of a box that a rank owns: the box's elements in rows first to first + rows - 1.
struct box_part {
  std::int32_t rank;
  std::int64_t first;
  std::int64_t rows;
};

/// The rows of a node's ranks in one address range.
template <element T>
struct node_view {
  std::span<T> values;  ///< row-major
  /// Global number of the first row, or nothing if the node's ranks are not consecutive: the rows then are the ranges
  /// of tensor::rows() for the node's ranks one after another.
  std::optional<std::int64_t> first_row;
};

/// An array over the memory of all ranks, partitioned by rows, or by a layout. Move-only; spans of it are valid while a
/// reference exists. All calls except the constructor, wrap() and sync() are local.
class tensor : public detail::tensor_methods {
 public:
  tensor() = default;
  explicit tensor(syncyte_tensor_t raw) noexcept : detail::tensor_methods(raw) {}

  /// A tensor of zeros; shape is global. Collective.
  tensor(const communicator& comm, dtype type, std::span<const std::int64_t> shape,
         const tensor_options& options = {}) {
    const auto raw = options_of(options);
    *this = tensor(detail::fetch<syncyte_tensor_t>(syncyte_tensor_create, comm.get(), detail::raw(type),
                                                   static_cast<std::int32_t>(shape.size()), shape.data(), &raw));
  }
  tensor(const communicator& comm, dtype type, std::initializer_list<std::int64_t> shape,
         const tensor_options& options = {})
      : tensor(comm, type, std::span<const std::int64_t>(shape.begin(), shape.size()), options) {}

  /// A tensor of zeros that is cut by a layout of these ranks, or of some of them. With slots it keeps so many versions
  /// of the field, and has one dimension more, in front. The options have no local_rows, row_locks and deterministic.
  /// Collective.
  tensor(const communicator& comm, dtype type, const class layout& by, const tensor_options& options = {},
         std::int64_t slots = 0) {
    const auto raw = options_of(options);
    *this = tensor(detail::fetch<syncyte_tensor_t>(syncyte_tensor_create_by_layout, comm.get(), detail::raw(type),
                                                   by.get(), slots, &raw));
  }

  /// Takes part in the creation of a tensor by other ranks' layout, and gets type and shape from them. Collective, with
  /// their constructor.
  static tensor open(const communicator& comm, const std::string& name) {
    return tensor(detail::fetch<syncyte_tensor_t>(syncyte_tensor_open, comm.get(), name.c_str()));
  }

  /// A tensor of arrays that the ranks already have, which must live until a collective point frees the tensor and sets
  /// `*released` to 1. `released` may be null, and must live as long as the arrays. Collective.
  static tensor wrap(const communicator& comm, const buffer& local, const std::string& name = "",
                     std::int64_t* released = nullptr, bool row_locks = false, bool deterministic = false,
                     const std::string& label = "") {
    const tensor_options options{name,      std::nullopt,  memory_kind::host,
                                 row_locks, deterministic, label};  // holds the names until the call is over
    auto raw = options_of(options);
    raw.released = released;
    return tensor(detail::fetch<syncyte_tensor_t>(syncyte_tensor_wrap, comm.get(), local.get(), &raw));
  }

  /// Cuts the tensor anew, in place, by a layout of its shape. No rank has a view of it, another reference to it, or an
  /// operation in flight. Collective.
  void relocate(const class layout& by) const {
    const auto freed = reinterpret_cast<syncyte_layout_t>(1);  // no layout has this handle; null would mean rows
    check(syncyte_tensor_relocate(get(), by.get() != nullptr ? by.get() : freed, -1));
  }

  /// Cuts the tensor anew by rows, of which this rank gets local_rows, or all equal parts. Collective, as above.
  void relocate(std::optional<std::int64_t> local_rows = {}) const {
    check(syncyte_tensor_relocate(get(), nullptr, local_rows.value_or(-1)));
  }

  /// Another reference to the same tensor.
  tensor retain() const { return tensor(retained_handle()); }

  /// A reference to its communicator.
  communicator comm() const { return communicator(detail::fetch<syncyte_comm_t>(syncyte_tensor_comm, get())); }

  dtype type() const { return const_buffer(describe()).type(); }

  /// Global extents.
  extents shape() const {
    const auto raw = describe();
    return {raw.shape, raw.shape + raw.ndim};
  }

  /// Elements of one row.
  std::int64_t row_elements() const {
    const extents all = shape();
    return std::accumulate(all.begin() + 1, all.end(), std::int64_t{1}, std::multiplies<>());
  }

  /// A reference to its layout, among all ranks of the tensor. Without a handle if it is cut by rows.
  class layout layout() const { return syncyte::layout(detail::fetch<syncyte_layout_t>(syncyte_tensor_layout, get())); }

  /// The rows that a rank owns.
  row_range rows(std::int32_t rank) const {
    row_range range{};
    check(syncyte_tensor_rows(get(), rank, &range.first, &range.count));
    return range;
  }

  /// Owners of rows.
  std::vector<std::int32_t> owner(std::span<const std::int64_t> index) const {
    std::vector<std::int32_t> ranks(index.size());
    check(syncyte_tensor_owner(get(), std::ssize(index), index.data(), ranks.data()));
    return ranks;
  }

  /// The owners of the box [lower, lower + extent), in ascending order, each with its part. Local.
  std::vector<box_part> locate_box(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent) const {
    const auto locate = [&](std::size_t capacity, std::int32_t* ranks, std::int64_t* first, std::int64_t* rows) {
      return static_cast<std::size_t>(detail::fetch<std::int64_t>(
          syncyte_tensor_locate_box, get(), std::ssize(lower), lower.data(), std::ssize(extent), extent.data(),
          static_cast<std::int64_t>(capacity), ranks, first, rows));
    };
    const std::size_t count = locate(0, nullptr, nullptr, nullptr);
    std::vector<std::int32_t> ranks(count);
    std::vector<std::int64_t> first(count), rows(count);
    locate(count, ranks.data(), first.data(), rows.data());
    std::vector<box_part> parts(count);
    for (std::size_t i = 0; i < count; ++i) parts[i] = {ranks[i], first[i], rows[i]};
    return parts;
  }

  /// Combines each element of the box [lower, lower + extent of source) with source: tensor[box] += source with
  /// op::sum. Atomic for each element; syncyte/tensor.h has the ops. Local.
  void accumulate_box(std::span<const std::int64_t> lower, const const_buffer& source, op how = op::sum) const {
    check(
        syncyte_tensor_accumulate_box(get(), std::ssize(lower), lower.data(), source.get(), nullptr, detail::raw(how)));
  }

  /// Combines alpha * source as accumulate_box() above combines source. Throws status::type unless the elements are of
  /// alpha's type.
  template <element T>
  void accumulate_box(std::span<const std::int64_t> lower, const const_buffer& source, T alpha,
                      op how = op::sum) const {
    require_factor(dtype_of<T>);
    check(
        syncyte_tensor_accumulate_box(get(), std::ssize(lower), lower.data(), source.get(), &alpha, detail::raw(how)));
  }

  /// Starts accumulate_box(); source may be re-used on return. Local; does not wait for other ranks.
  request iaccumulate_box(std::span<const std::int64_t> lower, const const_buffer& source, op how = op::sum) const {
    return detail::started(syncyte_tensor_iaccumulate_box, get(), std::ssize(lower), lower.data(), source.get(),
                           nullptr, detail::raw(how));
  }

  /// Starts accumulate_box() with alpha, as iaccumulate_box() above.
  template <element T>
  request iaccumulate_box(std::span<const std::int64_t> lower, const const_buffer& source, T alpha,
                          op how = op::sum) const {
    require_factor(dtype_of<T>);
    return detail::started(syncyte_tensor_iaccumulate_box, get(), std::ssize(lower), lower.data(), source.get(), &alpha,
                           detail::raw(how));
  }

  /// A view of this rank's rows, or of its block, row-major. Throws status::type if T is another type.
  template <element T>
  std::span<T> local() const {
    return local_buffer().template as<T>();
  }

  /// A view of this rank's rows, or of its block, as an argument for other calls.
  buffer local_buffer() const { return buffer(detail::fetch<syncyte_buffer_t>(syncyte_tensor_local, get())); }

  /// A view of the rows of this node's ranks.
  template <element T>
  node_view<T> node() const {
    syncyte_buffer_t raw = SYNCYTE_BUFFER_INIT;
    std::int64_t first = -1;
    check(syncyte_tensor_node(get(), &raw, &first));
    return {buffer(raw).as<T>(), first < 0 ? std::nullopt : std::optional(first)};
  }

  using detail::tensor_methods::gather;

  /// The rows index[0], index[1], ... one after another.
  template <element T>
  std::vector<T> gather(const const_buffer& index) const
    requires(!std::same_as<T, bool>)  // a std::vector<bool> has no elements in memory
  {
    std::vector<T> output(static_cast<std::size_t>(index.size() * row_elements()));
    gather(index, buffer(output));
    return output;
  }

  /// Writes rows, as scatter(), and then adds value to an element of counters, or sets it with op::replace. A rank that
  /// sees the new value sees all the rows. Local.
  void put_signal(const const_buffer& index, const const_buffer& source, const tensor& counters, std::int64_t element,
                  std::int64_t value = 1, op how = op::sum) const {
    check(
        syncyte_tensor_put_signal(get(), index.get(), source.get(), counters.get(), element, value, detail::raw(how)));
  }

  /// Starts put_signal(); source must stay until the end. The counter changes when all owners have the rows, without
  /// further calls. Local; does not wait for other ranks.
  request iput_signal(const const_buffer& index, const const_buffer& source, const tensor& counters,
                      std::int64_t element, std::int64_t value = 1, op how = op::sum) const {
    return detail::started(syncyte_tensor_iput_signal, get(), index.get(), source.get(), counters.get(), element, value,
                           detail::raw(how));
  }

  /// Starts fetch_add(). `previous`, unless it is null, gets the old value, and must stay until the end. Local; does
  /// not wait for other ranks.
  request ifetch_add(std::int64_t element, std::int64_t operand, std::int64_t* previous = nullptr) const {
    return detail::started(syncyte_tensor_ifetch_add, get(), element, operand, previous);
  }

  /// Starts compare_swap(), as ifetch_add() does.
  request icompare_swap(std::int64_t element, std::int64_t expected, std::int64_t desired,
                        std::int64_t* previous = nullptr) const {
    return detail::started(syncyte_tensor_icompare_swap, get(), element, expected, desired, previous);
  }

  /// Waits, mostly asleep, until a comparison of one element is true, and returns the element. Throws status::timeout
  /// after it.
  std::int64_t wait(std::int64_t element, compare how, std::int64_t value,
                    std::optional<std::chrono::duration<double>> timeout = std::nullopt) const {
    return detail::fetch<std::int64_t>(syncyte_tensor_wait, get(), element, detail::raw(how), value,
                                       timeout ? timeout->count() : -1.0);
  }

  /// Publishes this rank's part of the next version, from the arrays of its blocks, ghosts included. `step` is more
  /// than that of the last one. Local.
  void publish(std::span<const const_buffer> arrays, std::int64_t step) const {
    const auto raw = detail::raw_buffers(arrays);
    check(syncyte_tensor_publish(get(), std::ssize(raw), raw.data(), step));
  }
  void publish(const const_buffer& array, std::int64_t step) const { publish(std::span(&array, 1), step); }

  /// Reads the box [lower, lower + extent of output) of the newest version, waiting, mostly asleep, for one whose step
  /// is at_least or more; returns its step. Throws status::timeout. Local.
  std::int64_t take(std::span<const std::int64_t> lower, const buffer& output,
                    std::int64_t at_least = std::numeric_limits<std::int64_t>::min(),
                    std::optional<std::chrono::duration<double>> timeout = std::nullopt) const {
    return detail::fetch<std::int64_t>(syncyte_tensor_take, get(), std::ssize(lower), lower.data(), at_least,
                                       timeout ? timeout->count() : -1.0, output.get());
  }

  /// Gives the tensor an optimizer with a new state, for apply_gradients(). Collective.
  void set_optimizer(optimizer how, double lr, const optimizer_options& options = {}) const {
    const syncyte_optimizer_options_t raw{sizeof(raw), options.momentum, options.beta1, options.beta2,
                                          options.eps.value_or(-1.0)};
    check(syncyte_tensor_set_optimizer(get(), detail::raw(how), lr, &raw));
  }

  /// The optimizer's state, and its number of steps; see syncyte/tensor.h. Without a handle if there is none.
  tensor optimizer_state() const {
    return tensor(detail::fetch<syncyte_tensor_t>(syncyte_tensor_optimizer_state, get()));
  }
  tensor optimizer_steps() const {
    return tensor(detail::fetch<syncyte_tensor_t>(syncyte_tensor_optimizer_steps, get()));
  }

 private:
  static syncyte_tensor_options_t options_of(const tensor_options& options) {
    return {sizeof(syncyte_tensor_options_t),
            detail::null_if_empty(options.name),
            options.local_rows.value_or(-1),
            detail::raw(options.memory),
            options.device,
            nullptr,
            options.row_locks ? 1 : 0,
            options.deterministic ? 1 : 0,
            detail::null_if_empty(options.label)};
  }

  /// Throws status::type unless the elements are of alpha's type.
  void require_factor(dtype of_alpha) const {
    if (type() == of_alpha) return;
    throw error(status::type, "alpha: its type is " + std::string(name_of(of_alpha)) + "; expected " +
                                  std::string(name_of(type())) + ", the tensor's");
  }

  syncyte_buffer_t describe() const { return detail::fetch<syncyte_buffer_t>(syncyte_tensor_describe, get()); }
};

}  // namespace syncyte
