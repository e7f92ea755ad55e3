// SPDX-License-Identifier: BSD-3-Clause
// The collectives that make a tensor.

#include <algorithm>
#include <utility>
#include <vector>

#include "comm/collective_call.hpp"
#include "memory/device.hpp"
#include "mpi/communicators.hpp"
#include "mpi/small_collectives.hpp"
#include "tensor/naming.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

void check_options(const tensor_options& options) {
  if (options.error) throw *options.error;
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

/// Throws unless the tensor is to be in host memory. `kind`: of the tensor.
void require_host_memory(const tensor_options& options, const char* kind) {
  constexpr syncyte_memory_t host = SYNCYTE_MEMORY_HOST;
  base::expect(options.memory == host, SYNCYTE_ERR_UNSUPPORTED, "options->memory", options.memory,
               "{} ({}), the only memory of tensors that {}", base::known::memory::name(host), host, kind);
}

void require_no_locks(const tensor_options& options) {
  base::expect(!options.row_locks && !options.deterministic, SYNCYTE_ERR_UNSUPPORTED, "options",
               options.row_locks ? "row_locks" : "deterministic", "neither: the tensor is in device memory");
}

/// Throws unless a tensor may wrap an array: one in device memory is within reach of its own rank alone.
void require_wrappable(const base::buffer& array, const comm::communicator& comm, const tensor_options& options) {
  array.require_contiguous().require_writable();
  if (array.memory() == SYNCYTE_MEMORY_HOST) return;
  memory::require_device(array.memory(), array.device());
  require_no_locks(options);
  base::require(
      comm.size() == 1, SYNCYTE_ERR_UNSUPPORTED,
      "local is in device memory, and {} has {} ranks; expected an array in host memory, or a communicator of "
      "one rank",
      comm.name(), comm.size());
}

/// The device of a tensor in device memory; -1 for one in host memory.
int chosen_device(const tensor_options& options) {
  if (options.memory == SYNCYTE_MEMORY_HOST) return -1;
  memory::backend_of(options.memory, "options->memory");
  require_no_locks(options);
  base::expect(options.device >= -1, SYNCYTE_ERR_ARGUMENT, "options->device", options.device, "0 or more, or -1");
  memory::require_device(options.memory, std::max(options.device, 0));
  return options.device >= 0 ? options.device : memory::cuda_system().current();
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

/// The layout, which another communicator of these ranks may have, as one of this communicator.
distribution::layout layout_among(const collectives::shared_layout& given, const comm::communicator& all) {
  if (given.comm().get() == &all) return given.cut();
  const std::vector<int> ranks = mpi::ranks_in(given.comm()->data(), all.data());
  for (int block = 0; block < given.cut().blocks(); ++block)
    for (const int rank : given.cut().ranks_of(block))
      base::expect(ranks[static_cast<std::size_t>(rank)] >= 0, SYNCYTE_ERR_ARGUMENT, "layout",
                   fmt::format("one with a block of rank {} of {}", rank, given.comm()->name()),
                   "blocks of ranks of {}", all.name());
  return given.cut().among(ranks, all.size());
}

syncyte_dtype_t dtype_of(const std::vector<std::int64_t>& description) {
  return static_cast<syncyte_dtype_t>(description.back());
}

/// The numbers of the first rank that has any; all ranks get them. Collective.
std::vector<std::int64_t> first_of_all(const std::vector<std::int64_t>& mine, const comm::communicator& comm) {
  if (comm.bypasses_mpi()) return mine;
  const std::vector<std::int64_t> counts = mpi::allgather(std::ssize(mine), comm.data());
  const auto source = std::ranges::find_if(counts, [](std::int64_t count) { return count > 0; });
  if (source == counts.end()) return {};
  std::vector<std::int64_t> result = mine;
  result.resize(static_cast<std::size_t>(*source));
  mpi::bcast(std::span(result), static_cast<int>(source - counts.begin()), comm.data());
  return result;
}

}  // namespace

std::shared_ptr<whole_tensor> whole_tensor::create_rows(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                                        std::int32_t ndim, const std::int64_t* shape,
                                                        const tensor_options& options) {
  comm::collective_call call(*comm, options.operation ? options.operation : "tensor_create",
                             comm::collective_call::always_agrees);
  const bool is_equal = options.local_rows < 0;
  std::span<const std::int64_t> extents;
  int device = -1;
  call.attempt([&] {
    check_options(options);
    device = chosen_device(options);
    base::expect(options.released == nullptr, SYNCYTE_ERR_ARGUMENT, "options->released", "not null",
                 "null: a created tensor's memory is its own");
    extents = check_shape(dtype, ndim, shape);
  });
  call.named_fact("memory", options.memory, base::known::memory::name);
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
  auto held = device < 0 ? storage::allocate(call, described) : storage::allocate_on_devices(call, described, device);
  return std::shared_ptr<whole_tensor>(new whole_tensor(std::move(comm), std::move(described), std::move(held)));
}

std::shared_ptr<whole_tensor> whole_tensor::wrap_rows(std::shared_ptr<comm::communicator> comm,
                                                      const syncyte_buffer_t* local, const tensor_options& options) {
  comm::collective_call call(*comm, "tensor_wrap", comm::collective_call::always_agrees);
  std::optional<base::buffer> mine;
  call.attempt([&] {
    check_options(options);
    require_host_memory(options, "wrap arrays");
    base::expect(options.local_rows == -1, SYNCYTE_ERR_ARGUMENT, "options->local_rows", options.local_rows,
                 "-1: local's first extent says it");
    if (options.released != nullptr) *options.released = 0;
    mine.emplace(local, "local");
    require_wrappable(*mine, *comm, options);
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
  auto held = mine->memory() == SYNCYTE_MEMORY_HOST
                  ? storage::wrap(call, described, mine->data(), options.released)
                  : storage::wrap_on_device(call, described, mine->data(), mine->device(), options.released);
  return std::shared_ptr<whole_tensor>(new whole_tensor(std::move(comm), std::move(described), std::move(held)));
}

std::shared_ptr<whole_tensor> whole_tensor::create_blocks(std::shared_ptr<comm::communicator> comm,
                                                          syncyte_dtype_t dtype,
                                                          const std::shared_ptr<collectives::shared_layout>& given,
                                                          std::int64_t& slots, const tensor_options& options) {
  const char* const name = options.operation ? options.operation : "tensor_create_by_layout";
  comm::collective_call call(*comm, name, comm::collective_call::always_agrees);
  std::vector<std::int64_t> mine;  // what the layout consists of, the number of slots, the element type
  call.attempt([&] {
    check_options(options);
    require_host_memory(options, "are cut by a layout");
    base::expect(!options.row_locks && !options.deterministic && options.local_rows == -1, SYNCYTE_ERR_UNSUPPORTED,
                 "options", "row_locks, deterministic or local_rows", "none of them: the tensor is not cut by rows");
    if (!given) return;
    base::dtype_size(dtype);
    base::expect(slots >= 0 && slots <= INT32_MAX, SYNCYTE_ERR_ARGUMENT, "slots", slots, "0 to 2^31 - 1");
    base::expect(slots == 0 || given->cut().ndim() < SYNCYTE_MAX_NDIM, SYNCYTE_ERR_ARGUMENT, "axes of the layout",
                 given->cut().ndim(), "at most {}, beside the slots", SYNCYTE_MAX_NDIM - 1);
    mine = layout_among(*given, *comm).facts();
    mine.insert(mine.end(), {slots, dtype});
  });
  call.name_fact("tensor", options.name);
  naming_new(options, [&] { call.agree(); });
  const std::vector<std::int64_t> first = first_of_all(mine, *comm);
  call.attempt([&] {
    base::expect(!first.empty(), SYNCYTE_ERR_ARGUMENT, "layout", "null on all ranks",
                 "a layout on the ranks that create the tensor, which others open");
  });
  const std::vector<std::int64_t>& chosen = mine.empty() ? first : mine;
  std::optional<distribution::layout> cut;
  if (!chosen.empty()) {
    slots = chosen[chosen.size() - 2];
    cut = distribution::layout::from_facts(std::span(chosen).first(chosen.size() - 2));
    call.named_fact("dtype", chosen.back(), base::dtype_name);
    const distribution::per_axis extents = cut->extents();
    add_extent_facts(call, std::span(extents).first(static_cast<std::size_t>(cut->ndim())), 0);
    call.fact("hash of the layout", collectives::hash_of(*cut));
    call.fact("slots", slots);
    call.attempt([&] {
      const std::int64_t most = base::checked_elements(extents, base::dtype_size(dtype_of(chosen)), "layout");
      const std::int64_t all[] = {most, std::max<std::int64_t>(slots, 1)};
      base::checked_elements(all, base::dtype_size(dtype_of(chosen)), "layout, with the slots");
      base::expect(slots == 0 || most > 0, SYNCYTE_ERR_ARGUMENT, "slots", slots, "0, because the layout has no points");
    });
  }
  naming_new(options, [&] { call.agree(); });
  const auto type = dtype_of(chosen);
  const auto by = std::make_shared<collectives::shared_layout>(comm, std::move(*cut));
  if (given && !given->axes().names.empty()) by->name_axes(given->axes().names, given->axes().units);
  tensor::layout described(options.text(), type,
                           std::make_shared<const block_memory>(by, base::dtype_size(type), slots));
  auto held = storage::allocate(call, described);
  return std::shared_ptr<whole_tensor>(new whole_tensor(std::move(comm), std::move(described), std::move(held)));
}

}  // namespace syncyte::tensor
