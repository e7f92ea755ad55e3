// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/whole_tensor.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "comm/collective_call.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::tensor {
namespace {

std::string with_name(const base::error& error, const std::string& tensor) {
  return tensor.empty() ? error.what() : fmt::format("{} (on this rank: {})", error.what(), tensor);
}

/// Runs a collective step and adds the tensor of this rank's call to its error, because ranks that disagree may have
/// passed different tensors. `text` is called only for an error, and may return an empty string.
template <class Text, class Step>
auto naming(const Text& text, Step&& step) -> decltype(step()) {
  try {
    return std::forward<Step>(step)();
  } catch (const comm::agreed_error& error) {
    comm::agreed_error named(error.status(), with_name(error, text()), error.fields());
    named.own_rank = error.own_rank;
    throw named;
  } catch (const base::error& error) {
    throw base::error(error.status(), with_name(error, text()), error.fields());
  }
}

void check_options(const tensor_options& options) {
  if (options.error) throw *options.error;
  constexpr syncyte_memory_t host = SYNCYTE_MEMORY_HOST;
  base::expect(options.memory == host, SYNCYTE_ERR_UNSUPPORTED, "options->memory", options.memory,
               "{} ({}), the only memory of tensors", base::known::memory::name(host), host);
  base::expect(options.local_rows >= -1, SYNCYTE_ERR_ARGUMENT, "options->local_rows", options.local_rows,
               "0 or more, or -1 for equal parts");
}

std::span<const std::int64_t> check_shape(syncyte_dtype_t dtype, std::int32_t ndim, const std::int64_t* shape) {
  const std::size_t element_bytes = base::dtype_size(dtype);
  base::expect(ndim >= 1 && ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_SHAPE, "ndim", ndim, "1 to {}", SYNCYTE_MAX_NDIM);
  base::expect(shape != nullptr, SYNCYTE_ERR_ARGUMENT, "shape", "null", "{} extents", ndim);
  const std::span<const std::int64_t> extents(shape, static_cast<std::size_t>(ndim));
  base::checked_elements(extents, element_bytes, "shape");
  // A row's bytes must fit 64 bits, even if the tensor is empty.
  base::checked_elements(extents.subspan(1), element_bytes, "shape (of a row)");
  return extents;
}

/// Calls naming() for a tensor that is being created.
template <class Step>
auto naming_new(const tensor_options& options, Step&& step) {
  const auto text = [&] { return options.text().empty() ? "" : fmt::format("tensor \"{}\"", options.text()); };
  return naming(text, std::forward<Step>(step));
}

/// A step that fails on all ranks or on none: they then agree, so that it is one error of all.
template <class Step>
auto fail_together(comm::collective_call& call, Step&& step) {
  std::optional<decltype(step())> result;
  call.attempt([&] { result.emplace(step()); });
  if (!result) call.agree();
  return *std::move(result);
}

void add_extent_facts(comm::collective_call& call, std::span<const std::int64_t> shape, std::size_t from) {
  for (std::size_t i = from; i < shape.size(); ++i)
    call.fact("shape[{}]", shape[i], {"shape", static_cast<int>(i), static_cast<int>(shape.size())});
}

}  // namespace

std::shared_ptr<whole_tensor> whole_tensor::create_rows(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                                        std::int32_t ndim, const std::int64_t* shape,
                                                        const tensor_options& options) {
  comm::collective_call call(*comm, "tensor_create", comm::collective_call::always_agrees);
  const bool is_equal = options.local_rows < 0;
  std::span<const std::int64_t> extents;
  call.attempt([&] {
    check_options(options);
    base::expect(options.released == nullptr, SYNCYTE_ERR_ARGUMENT, "options->released", "not null",
                 "null: a created tensor's memory is its own");
    extents = check_shape(dtype, ndim, shape);
  });
  call.named_fact("dtype", dtype, base::dtype_name);
  call.fact("ndim", ndim);
  add_extent_facts(call, extents, 0);
  call.fact("equal parts (local_rows is -1)", is_equal);
  call.fact("row_locks", options.row_locks);
  call.fact("deterministic", options.deterministic);
  call.name_fact("tensor", options.name);
  naming_new(options, [&] { call.agree(); });
  const auto cut = [&] {
    return is_equal ? distribution::partition::equal(extents[0], comm->size())
                    : distribution::partition::explicit_lengths(mpi::allgather(options.local_rows, comm->data()),
                                                                extents[0]);
  };
  auto parts = naming_new(options, [&] { return fail_together(call, cut); });
  tensor::layout described(options.text(), dtype, {extents.begin(), extents.end()}, std::move(parts));
  auto held = storage::allocate(call, described);
  return std::shared_ptr<whole_tensor>(new whole_tensor(std::move(comm), std::move(described), std::move(held)));
}

std::shared_ptr<whole_tensor> whole_tensor::wrap_rows(std::shared_ptr<comm::communicator> comm,
                                                      const syncyte_buffer_t* local, const tensor_options& options) {
  comm::collective_call call(*comm, "tensor_wrap", comm::collective_call::always_agrees);
  std::optional<base::buffer> mine;
  call.attempt([&] {
    check_options(options);
    base::expect(options.local_rows == -1, SYNCYTE_ERR_ARGUMENT, "options->local_rows", options.local_rows,
                 "-1: local's first extent says it");
    if (options.released != nullptr) *options.released = 0;
    mine.emplace(local, "local");
    mine->require_host().require_contiguous().require_writable();
    base::expect(mine->ndim() >= 1, SYNCYTE_ERR_SHAPE, "local", "of no dimension", "1 to {}", SYNCYTE_MAX_NDIM);
    base::checked_elements(mine->shape().subspan(1), mine->element_bytes(), "local (a row)");
  });
  if (call.is_well()) {
    call.named_fact("dtype", mine->dtype(), base::dtype_name);
    call.fact("ndim", mine->ndim());
    add_extent_facts(call, mine->shape(), 1);
    call.fact("row_locks", options.row_locks);
    call.fact("deterministic", options.deterministic);
  }
  call.name_fact("tensor", options.name);
  naming_new(options, [&] { call.agree(); });
  std::vector<std::int64_t> shape(mine->shape().begin(), mine->shape().end());
  auto parts = naming_new(options, [&] {
    return fail_together(call, [&] {
      auto cut = distribution::partition::explicit_lengths(mpi::allgather(mine->extent(0), comm->data()));
      shape[0] = cut.extent();
      base::checked_elements(shape, mine->element_bytes(), "the tensor");
      return cut;
    });
  });
  tensor::layout described(options.text(), mine->dtype(), std::move(shape), std::move(parts));
  auto held = storage::wrap(call, described, mine->data(), options.released);
  return std::shared_ptr<whole_tensor>(new whole_tensor(std::move(comm), std::move(described), std::move(held)));
}

syncyte_buffer_t whole_tensor::describe() const { return base::make_buffer(nullptr, layout_.dtype(), layout_.shape()); }

void whole_tensor::rows(int rank, std::int64_t& first, std::int64_t& count) const {
  base::expect(rank >= 0 && rank < comm_->size(), SYNCYTE_ERR_ARGUMENT, "rank", rank, "0 to {}", comm_->size() - 1);
  first = layout_.partition().first(rank);
  count = layout_.partition().count(rank);
}

void whole_tensor::owner(base::array_argument<std::int64_t> index, std::int32_t* ranks) const {
  const auto wanted = index.with_results("index", ranks, "ranks");
  rows::row_index(wanted).require_inside(layout_.rows());
  for (std::size_t i = 0; i < wanted.size(); ++i) ranks[i] = layout_.partition().owner(wanted[i]);
}

std::int64_t whole_tensor::locate_box(base::array_argument<std::int64_t> given_lower,
                                      base::array_argument<std::int64_t> given_extent, std::int64_t capacity,
                                      std::int32_t* ranks, std::int64_t* first, std::int64_t* rows) const {
  const auto dimensions = static_cast<std::int64_t>(layout_.shape().size());
  const auto lower = given_lower.checked("lower", dimensions, "dimension");
  const auto extent = given_extent.checked("extent", dimensions, "dimension");
  for (std::size_t d = 0; d < extent.size(); ++d)
    base::expect(extent[d] >= 0, SYNCYTE_ERR_SHAPE, {"extent", d}, extent[d], "0 or more");
  layout_.require_inside(lower, extent);
  base::expect(capacity >= 0, SYNCYTE_ERR_ARGUMENT, "capacity", capacity, "0 or more");
  if (std::ranges::find(extent, 0) != extent.end()) return 0;
  const std::int64_t end = lower[0] + extent[0];
  std::int64_t count = 0;
  for (std::int64_t row = lower[0], stop = 0; row < end; row = stop, ++count) {
    const int owner = layout_.partition().owner(row);
    stop = std::min(end, layout_.partition().first(owner + 1));
    if (count >= capacity) continue;
    if (ranks != nullptr) ranks[count] = owner;
    if (first != nullptr) first[count] = row;
    if (rows != nullptr) rows[count] = stop - row;
  }
  return count;
}

syncyte_buffer_t whole_tensor::local() const {
  std::vector<std::int64_t> shape(layout_.shape().begin(), layout_.shape().end());
  shape[0] = layout_.partition().count(comm_->rank());
  return base::make_buffer(storage_->local(), layout_.dtype(), shape);
}

void whole_tensor::node(syncyte_buffer_t& view, std::int64_t& first_row) const {
  const topology::node_group& node = comm_->node();
  base::require(storage_->node() != nullptr || comm_->size() == 1, SYNCYTE_ERR_UNSUPPORTED,
                "{} wraps memory that the ranks do not share; there is no view of the node's rows", layout_.text());
  std::vector<std::int64_t> shape(layout_.shape().begin(), layout_.shape().end());
  shape[0] = 0;
  for (const int member : node.members) shape[0] += layout_.partition().count(member);
  first_row = node.is_consecutive() ? layout_.partition().first(node.members.front()) : -1;
  view = base::make_buffer(storage_->node(), layout_.dtype(), shape);
}

bool whole_tensor::is_mapped(int owner) const {
  return storage_->mapped_rows().find(layout_.partition().first(owner)) != nullptr;
}

void whole_tensor::flush() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (window::remote* const remote = storage_->remote()) remote->flush(-1);
}

void whole_tensor::sync_rows() {
  comm::collective_call call(*comm_, "tensor_sync", comm::collective_call::always_agrees);
  call.attempt([&] {
    flush();
    if (window::remote* const remote = storage_->remote()) remote->synchronize_memory();
  });
  call.fact("creation number of the tensor", creation_number());
  naming([&] { return layout_.text(); }, [&] { call.agree(); });  // no rank leaves before all have entered
  if (window::remote* const remote = storage_->remote()) remote->synchronize_memory();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace syncyte::tensor
