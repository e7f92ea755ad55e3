// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.gather, scatter_add, gather_collective, gather_adjoint: rows of a whole tensor, differentiable.
//
// y = G W, where W is the whole tensor and G selects rows: y_i = W[index_i]. The adjoint adds rows: Wbar = G^T ybar.
//
// gather is one-sided: any rank gathers any number of times. Backward, scatter_add, adds ybar one-sided into a
// companion tensor; nothing flows to `local` (autograd.grad with respect to it therefore raises); sync_grad() moves
// the companion's rows to their owners' gradients.
//
// gather_collective is a pure function of the ranks' `local` parts, called equally often by all ranks. Its adjoint
// G^T ybar, gather_adjoint, adds into a scratch tensor, waits for all ranks, and returns the true gradient;
// differentiable any number of times, because each is the other's adjoint.

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "collectives/communicators.hpp"
#include "operators/dispatched.hpp"
#include "operators/refused_tensors.hpp"
#include "tensors/buffers.hpp"
#include "whole_tensors/rows.hpp"

namespace syncyte::torch_binding {
namespace {

// ---- One-sided ----

at::Tensor gather_cpu(const at::Tensor& local, std::int64_t tensor, std::int64_t, const at::Tensor& index) {
  return gather_rows(tensor, index, local);
}

at::Tensor gather_meta(const at::Tensor& local, std::int64_t, std::int64_t, const at::Tensor& index) {
  return gathered_meta(local, index);
}

void scatter_add_cpu(const at::Tensor& source, std::int64_t tensor, const at::Tensor& index) {
  add_rows(tensor, index, source);
}

void scatter_add_meta(const at::Tensor&, std::int64_t, const at::Tensor&) {}

void scatter_add_autograd(const at::Tensor& source, std::int64_t tensor, const at::Tensor& index) {
  TORCH_CHECK(!is_recorded(source),
              "scatter_add: source requires grad, and a one-sided add has no gradient; use scatter_add(..., "
              "collective=True), or pass source.detach()");
  const at::AutoDispatchBelowAutograd below;
  dispatched<decltype(scatter_add_cpu), "syncyte::scatter_add">().call(source, tensor, index);
}

struct one_sided_gather {
  std::int64_t tensor;
  std::int64_t companion;
  at::Tensor index;

  const char* profiled_as() const { return "syncyte::gather"; }
  at::Tensor call(const at::Tensor& local, derivatives) const {
    return dispatched<decltype(gather_cpu), "syncyte::gather">().call(local, tensor, companion, index);
  }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives) const {
    TORCH_CHECK(!is_recorded(gradient),
                "gather: its backward adds into a companion tensor and cannot be differentiated again; use "
                "gather(..., collective=True) for double backward");
    TORCH_CHECK(companion != 0,
                "gather: the whole tensor has no companion for gradients; call its requires_grad_() first");
    dispatched<decltype(scatter_add_cpu), "syncyte::scatter_add">().call(gradient, companion, index);
    return {};
  }
  syncyte::tensor references() const { return reference_to<syncyte::tensor>(companion); }
  std::int64_t number_of_forward() const { return 0; }
};

at::Tensor gather_autograd(const at::Tensor& local, std::int64_t tensor, std::int64_t companion,
                           const at::Tensor& index) {
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(local),
                              "gather: the tangents of other ranks' rows are not on this rank, and a one-sided gather "
                              "cannot ask for them; use gather(..., collective=True) in forward mode");
  return run_with_node_if_recorded(local, one_sided_gather{tensor, companion, index}, {});
}

// ---- Collective ----

constexpr const char* forward_name = "gather_collective";
constexpr const char* backward_name = "gather_collective's backward";

/// A reference to the communicator of a whole tensor.
struct tensor_comm {
  explicit tensor_comm(std::int64_t tensor)
      : comm(checked([&] { return object_of<syncyte::tensor>(tensor)->comm(); })) {}
  operator std::int64_t() const { return reinterpret_cast<std::int64_t>(comm.get()); }
  communicator comm;
};

/// Whether the flag is set on all ranks.
bool all(std::int64_t comm, bool flag) {
  return checked([&] { return group_of(comm)->allreduce_value(std::int32_t{flag}, op::min); }) != 0;
}

/// This rank's part of a whole tensor, in place.
syncyte_buffer_t local_part(std::int64_t tensor) {
  const syncyte_buffer_t part = *checked([&] { return object_of<syncyte::tensor>(tensor)->local_buffer(); }).get();
  TORCH_CHECK_NOT_IMPLEMENTED(part.memory == SYNCYTE_MEMORY_HOST,
                              "a collective gather does not work on a tensor in device memory");
  return part;
}

/// Throws unless values can stand for this rank's part of a whole tensor.
void require_fit(const at::Tensor& values, const syncyte_buffer_t& part, const char* name) {
  const dtype type = const_buffer_of(values).type(), expected_type{part.dtype};
  const at::IntArrayRef expected(part.shape, static_cast<std::size_t>(part.ndim));
  if (type == expected_type && values.sizes() == expected) return;
  const std::string message =
      c10::str(name, " is ", name_of(type), " of shape ", values.sizes(), "; expected ", name_of(expected_type),
               " of shape ", expected, ", as this rank's part of the whole tensor");
  TORCH_CHECK_TYPE(type == expected_type, message);
  TORCH_CHECK_VALUE(false, message);
}

/// Ends an operation in a scratch tensor, whose status is given. Scratch is zero between operations, also after one
/// that failed.
void end_in_scratch(std::int64_t scratch, const syncyte_buffer_t& part, std::size_t bytes, syncyte_status_t status) {
  if (bytes > 0) std::memset(part.data, 0, bytes);
  check(status);
  checked([&] { object_of<syncyte::tensor>(scratch)->sync(); });
}

/// Gathers from a tensor that all ranks have brought up to date; ends with an agreement, so that no rank changes a row
/// that another rank still reads, and all ranks get an error of one rank.
at::Tensor gather_together(std::int64_t comm, std::int64_t tensor, const at::Tensor& index, const at::Tensor& local) {
  checked([&] { object_of<syncyte::tensor>(tensor)->sync(); });
  at::Tensor result;
  agree(comm, forward_name, status_of([&] { result = gather_rows(tensor, index, local); }));
  return result;
}

at::Tensor collective_cpu(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch, const at::Tensor& index,
                          std::int64_t packed) {
  const tensor_comm comm(tensor);
  // The rows go through scratch where they are not the whole tensor's own (double backward, gradcheck).
  at::Tensor rows, result;
  syncyte_buffer_t room{};
  bool is_in_place = false;
  syncyte_status_t status = status_of([&] {
    refused_tensor::check();
    const syncyte_buffer_t own = local_part(tensor);
    room = local_part(scratch);
    require_fit(local, own, "local");
    require_fit(local, room, "local");
    rows = local.resolve_conj().contiguous();
    is_in_place = own.data == rows.const_data_ptr() || local.numel() == 0;
  });
  agree(comm, forward_name, status, facts_of(derivatives::unpacked(packed)));
  if (all(comm, is_in_place)) return gather_together(comm, tensor, index, local);
  if (rows.nbytes() > 0) std::memcpy(room.data, rows.const_data_ptr(), rows.nbytes());
  status = status_of([&] { result = gather_together(comm, scratch, index, local); });
  end_in_scratch(scratch, room, rows.nbytes(), status);
  return result;
}

at::Tensor collective_meta(const at::Tensor& local, std::int64_t, std::int64_t, const at::Tensor& index, std::int64_t) {
  return gathered_meta(local, index);
}

at::Tensor adjoint_cpu(const at::Tensor& gradient, std::int64_t, std::int64_t scratch, const at::Tensor& index,
                       std::int64_t rows, std::int64_t packed) {
  const tensor_comm comm(scratch);
  const syncyte_buffer_t part = local_part(scratch);
  at::Tensor result;
  syncyte_status_t status = status_of([&] {
    refused_tensor::check();
    const at::IntArrayRef shape(part.shape, static_cast<std::size_t>(part.ndim));
    result = empty_from_pool(shape, gradient.scalar_type());
    TORCH_CHECK_VALUE(rows == part.shape[0], "rows is not this rank's number of rows");
    require_fit(result, part, "gradient");
  });
  agree(comm, backward_name, status, facts_of(derivatives::unpacked(packed)));
  status = status_of([&] {
    add_rows(scratch, index, gradient);
    checked([&] { object_of<syncyte::tensor>(scratch)->flush(); });
  });
  status = status_of([&] { agree(comm, backward_name, status); });
  if (result.nbytes() > 0) std::memcpy(result.mutable_data_ptr(), part.data, result.nbytes());
  end_in_scratch(scratch, part, result.nbytes(), status);
  return result;
}

at::Tensor adjoint_meta(const at::Tensor& gradient, std::int64_t, std::int64_t, const at::Tensor& index,
                        c10::SymInt rows, std::int64_t) {
  auto sizes = gradient.sym_sizes().slice(index.dim()).vec();
  sizes.insert(sizes.begin(), std::move(rows));
  return at::empty_symint(sizes, gradient.options());
}

/// A collective gather, or its adjoint.
struct row_gather {
  std::int64_t tensor;
  std::int64_t scratch;
  at::Tensor index;
  bool is_adjoint = false;
  c10::SymInt rows = 0;  ///< of the adjoint's result

  const char* profiled_as() const { return is_adjoint ? "syncyte::gather_adjoint" : "syncyte::gather_collective"; }
  at::Tensor call(const at::Tensor& input, derivatives wanted) const {
    const auto& forward = dispatched<decltype(collective_cpu), "syncyte::gather_collective">();
    const auto& backward = dispatched<decltype(adjoint_meta), "syncyte::gather_adjoint">();
    return is_adjoint ? backward.call(input, tensor, scratch, index, rows, wanted.packed())
                      : forward.call(input, tensor, scratch, index, wanted.packed());
  }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef input_sizes, derivatives wanted) const {
    return row_gather{tensor, scratch, index, !is_adjoint, input_sizes[0]}.call(gradient, wanted);
  }
  auto references() const {
    return std::array{reference_to<syncyte::tensor>(tensor), reference_to<syncyte::tensor>(scratch)};
  }
  std::int64_t number_of_forward() const { return torch_binding::number_of_forward(tensor_comm(scratch)); }

  at::Tensor apply(const at::Tensor& input, std::int64_t packed) const {
    TORCH_CHECK_TYPE(index.defined(), "index is None; expected a torch.Tensor");
    return apply_in_autograd(input, *this, derivatives::unpacked(packed));
  }
};

at::Tensor collective_autograd(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch,
                               const at::Tensor& index, std::int64_t packed) {
  return row_gather{tensor, scratch, index}.apply(local, packed);
}

at::Tensor adjoint_autograd(const at::Tensor& gradient, std::int64_t tensor, std::int64_t scratch,
                            const at::Tensor& index, c10::SymInt rows, std::int64_t packed) {
  return row_gather{tensor, scratch, index, true, std::move(rows)}.apply(gradient, packed);
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("gather", gather_cpu);
  library.impl("scatter_add", scatter_add_cpu);
  library.impl("gather_collective", collective_cpu);
  library.impl("gather_adjoint", adjoint_cpu);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  library.impl("gather", gather_meta);
  library.impl("scatter_add", scatter_add_meta);
  library.impl("gather_collective", collective_meta);
  library.impl("gather_adjoint", adjoint_meta);
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("gather", gather_autograd);
  library.impl("scatter_add", scatter_add_autograd);
  library.impl("gather_collective", collective_autograd);
  library.impl("gather_adjoint", adjoint_autograd);
}

}  // namespace syncyte::torch_binding
