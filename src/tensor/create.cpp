#include <mpi.h>

#include <utility>
#include <vector>

#include "comm/collective.hpp"
#include "mpi/exchange.hpp"
#include "tensor/naming.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {
namespace {

void check_options(const tensor_options& options) {
  if (options.error) throw *options.error;
  base::require(options.memory == SYNCYTE_MEMORY_HOST, SYNCYTE_ERR_UNSUPPORTED,
                "options->memory is {}; only SYNCYTE_MEMORY_HOST (0) is supported for tensors", options.memory);
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
  const auto text = [&] { return options.name.empty() ? "" : fmt::format("tensor \"{}\"", options.name); };
  return naming(text, std::forward<Step>(step));
}

void add_extent_facts(comm::collective_call& call, std::span<const std::int64_t> shape, std::size_t from) {
  for (std::size_t i = from; i < shape.size(); ++i) {
    const auto axis = static_cast<int>(i);
    call.fact("shape[{}]", shape[i], {"shape", axis, static_cast<int>(shape.size())});
  }
}

}  // namespace

std::shared_ptr<whole_tensor> whole_tensor::create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                                   std::int32_t ndim, const std::int64_t* shape,
                                                   const tensor_options& options) {
  comm::collective_call call(*comm, "tensor_create", comm::collective_call::lifecycle);
  const bool is_equal = options.local_rows < 0;
  std::span<const std::int64_t> extents;
  call.attempt([&] {
    check_options(options);
    base::require(options.released == nullptr, SYNCYTE_ERR_ARGUMENT,
                  "options->released is not null; expected null: a created tensor's memory is its own");
    extents = check_shape(dtype, ndim, shape);
  });
  call.named_fact("dtype", dtype, base::dtype_name);
  call.fact("ndim", ndim);
  add_extent_facts(call, extents, 0);
  call.fact("equal parts (local_rows is -1)", is_equal);
  naming_new(options, [&] { call.agree(); });
  auto parts = naming_new(options, [&] {
    return is_equal
               ? base::partition::equal(extents[0], comm->size())
               : base::partition::explicit_lengths(mpi::allgather(options.local_rows, comm->control()), extents[0]);
  });
  layout described(options.name, dtype, {extents.begin(), extents.end()}, std::move(parts));
  auto held = storage::allocate(call, described);
  return std::shared_ptr<whole_tensor>(new whole_tensor(std::move(comm), std::move(described), std::move(held)));
}

std::shared_ptr<whole_tensor> whole_tensor::wrap(std::shared_ptr<comm::communicator> comm,
                                                 const syncyte_buffer_t* local, const tensor_options& options) {
  comm::collective_call call(*comm, "tensor_wrap", comm::collective_call::lifecycle);
  std::optional<base::buffer> mine;
  call.attempt([&] {
    check_options(options);
    base::expect(options.local_rows == -1, SYNCYTE_ERR_ARGUMENT, "options->local_rows", options.local_rows,
                 "-1: local's first extent says it");
    if (options.released != nullptr) *options.released = 0;
    mine.emplace(local, "local");
    mine->require_host().require_contiguous();
    base::require(mine->ndim() >= 1, SYNCYTE_ERR_SHAPE, "local has no dimension; expected 1 to {}", SYNCYTE_MAX_NDIM);
    base::checked_elements(mine->shape().subspan(1), mine->element_bytes(), "local (a row)");
  });
  if (call.is_well()) {
    call.named_fact("dtype", mine->dtype(), base::dtype_name);
    call.fact("ndim", mine->ndim());
    add_extent_facts(call, mine->shape(), 1);
  }
  naming_new(options, [&] { call.agree(); });
  auto parts = base::partition::explicit_lengths(mpi::allgather(mine->extent(0), comm->control()));
  std::vector<std::int64_t> shape(mine->shape().begin(), mine->shape().end());
  shape[0] = parts.total();
  base::checked_elements(shape, mine->element_bytes(), "the tensor");
  layout described(options.name, mine->dtype(), std::move(shape), std::move(parts));
  auto held = storage::wrap(call, described, mine->data(), options.released);
  return std::shared_ptr<whole_tensor>(new whole_tensor(std::move(comm), std::move(described), std::move(held)));
}

}  // namespace syncyte::tensor
