// torch.ops.syncyte.gather_collective and gather_adjoint: rows of a whole tensor as a pure function of the ranks'
// `local` parts, called equally often by all ranks.
//
// y = G W as in gather.cpp. The adjoint G^T ybar adds into a scratch tensor, waits for all ranks, and returns the true
// gradient; differentiable any number of times, because each is the other's adjoint.

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "collectives/communicators.hpp"
#include "operators/refused_tensors.hpp"
#include "tensors/buffers.hpp"
#include "tensors/handle_reference.hpp"
#include "whole_tensors/rows.hpp"

namespace syncyte::torch_binding {
namespace {

using collective_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, const at::Tensor&, std::int64_t);
using adjoint_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, const at::Tensor&, c10::SymInt,
                                     std::int64_t);

constexpr const char* forward_name = "gather_collective";
constexpr const char* backward_name = "gather_collective's backward";

/// The communicator of a whole tensor, for the agreements of a collective operation.
class tensor_comm {
 public:
  explicit tensor_comm(syncyte_tensor_t tensor) { check(syncyte_tensor_comm(tensor, &comm_)); }
  ~tensor_comm() { syncyte_comm_release(comm_); }
  tensor_comm(const tensor_comm&) = delete;
  tensor_comm& operator=(const tensor_comm&) = delete;

  /// Success on all ranks, or the error of one of them on all. What was read or added before is complete after.
  syncyte_status_t agree(syncyte_status_t status, const char* operation, const fact_list& facts = {}) const {
    return syncyte_comm_agree(comm_, status, operation, static_cast<std::int32_t>(facts.size()), facts.data());
  }

  /// Calls torch_binding::number_of_forward() for this communicator.
  std::int64_t number_of_forward(const at::Tensor& input) const {
    return torch_binding::number_of_forward(reinterpret_cast<std::int64_t>(comm_), input);
  }

  /// Whether the flag is set on all ranks.
  bool all(bool flag) const {
    std::int32_t value = flag;
    syncyte_buffer_t buffer;
    check(syncyte_buffer_init(&value, SYNCYTE_INT32, 0, nullptr, &buffer));
    check(syncyte_comm_allreduce(comm_, nullptr, SYNCYTE_OP_MIN, nullptr, &buffer));
    return value != 0;
  }

 private:
  syncyte_comm_t comm_ = nullptr;
};

/// This rank's part of a whole tensor, in place.
syncyte_buffer_t local_part(syncyte_tensor_t tensor) {
  syncyte_buffer_t part{};
  check(syncyte_tensor_local(tensor, &part));
  return part;
}

std::size_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
}

void clear(const syncyte_buffer_t& part, std::size_t bytes) {
  if (bytes > 0) std::memset(part.data, 0, bytes);
}

/// Throws unless values can stand for this rank's part of a whole tensor.
void require_fit(const at::Tensor& values, const syncyte_buffer_t& part, const char* name) {
  const syncyte_buffer_t given = buffer_of(values);
  const bool has_shape = values.dim() == part.ndim && std::equal(part.shape, part.shape + part.ndim, given.shape);
  if (given.dtype == part.dtype && has_shape) return;
  const at::IntArrayRef expected(part.shape, static_cast<std::size_t>(part.ndim));
  const std::string message =
      c10::str(name, " is ", syncyte_dtype_name(given.dtype), " of shape ", values.sizes(), "; expected ",
               syncyte_dtype_name(part.dtype), " of shape ", expected, ", as this rank's part of the whole tensor");
  TORCH_CHECK_TYPE(given.dtype == part.dtype, message);
  TORCH_CHECK_VALUE(has_shape, message);
}

/// Gathers from a tensor that all ranks have brought up to date; ends with an agreement, so that nobody changes a row
/// that another rank still reads, and an error of one rank is everybody's.
at::Tensor gather_together(const tensor_comm& comm, syncyte_tensor_t tensor, const at::Tensor& index,
                           const at::Tensor& local) {
  check(syncyte_tensor_sync(tensor));
  at::Tensor result;
  check(comm.agree(status_of([&] { return gather_rows(tensor, index, local, result); }), forward_name));
  return result;
}

/// The operands of a collective gather, once all ranks know that they can: `local` and the memory that it goes through
/// where it is not the whole tensor's own (double backward, gradcheck).
struct operands {
  at::Tensor values;
  syncyte_buffer_t scratch{};
  bool in_place = false;
};

void prepare(operands& made, const at::Tensor& local, syncyte_tensor_t tensor, syncyte_tensor_t scratch) {
  refused_tensor::check();
  const syncyte_buffer_t own = local_part(tensor);
  made.scratch = local_part(scratch);
  require_fit(local, own, "local");
  require_fit(local, made.scratch, "local");
  made.values = local.resolve_conj().contiguous();
  made.in_place = own.data == made.values.const_data_ptr() || local.numel() == 0;
}

at::Tensor collective_cpu(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch, const at::Tensor& index,
                          std::int64_t packed) {
  const tensor_comm comm(handle(tensor));
  operands given;
  const syncyte_status_t status = status_of([&] { return prepare(given, local, handle(tensor), handle(scratch)); });
  check(comm.agree(status, forward_name, facts_of(derivatives::unpacked(packed))));
  if (comm.all(given.in_place)) return gather_together(comm, handle(tensor), index, local);
  // Scratch is zero between operations, also after one that failed.
  const std::size_t bytes = bytes_of(given.values);
  if (bytes > 0) std::memcpy(given.scratch.data, given.values.const_data_ptr(), bytes);
  at::Tensor result;
  try {
    result = gather_together(comm, handle(scratch), index, local);
  } catch (...) {
    clear(given.scratch, bytes);
    throw;
  }
  clear(given.scratch, bytes);
  check(syncyte_tensor_sync(handle(scratch)));
  return result;
}

at::Tensor collective_meta(const at::Tensor& local, std::int64_t, std::int64_t, const at::Tensor& index, std::int64_t) {
  return gathered_meta(local, index);
}

/// The adjoint's result, before it has values.
void prepare_adjoint(at::Tensor& result, const at::Tensor& gradient, const syncyte_buffer_t& part, std::int64_t rows) {
  refused_tensor::check();
  result = empty_from_pool(at::IntArrayRef(part.shape, static_cast<std::size_t>(part.ndim)), gradient.scalar_type());
  TORCH_CHECK_VALUE(rows == part.shape[0], "rows is not this rank's number of rows");
  require_fit(result, part, "gradient");
}

at::Tensor adjoint_cpu(const at::Tensor& gradient, std::int64_t, std::int64_t scratch, const at::Tensor& index,
                       std::int64_t rows, std::int64_t packed) {
  const tensor_comm comm(handle(scratch));
  const syncyte_buffer_t part = local_part(handle(scratch));
  at::Tensor result;
  syncyte_status_t status = status_of([&] { return prepare_adjoint(result, gradient, part, rows); });
  check(comm.agree(status, backward_name, facts_of(derivatives::unpacked(packed))));
  status = status_of([&] { return add_rows(handle(scratch), index, gradient); });
  if (status == SYNCYTE_SUCCESS) status = syncyte_tensor_flush(handle(scratch));
  status = comm.agree(status, backward_name);
  if (result.numel() > 0) std::memcpy(result.mutable_data_ptr(), part.data, bytes_of(result));
  clear(part, bytes_of(result));
  check(status);
  check(syncyte_tensor_sync(handle(scratch)));
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

  struct references {
    explicit references(const row_gather& of) : tensor(of.tensor), scratch(of.scratch) {}
    tensor_reference tensor, scratch;
  };

  const char* profiled_as() const { return is_adjoint ? "syncyte::gather_adjoint" : "syncyte::gather_collective"; }

  at::Tensor call(const at::Tensor& input, derivatives asked) const {
    const auto& forward = dispatched<collective_signature, "syncyte::gather_collective">();
    const auto& backward = dispatched<adjoint_signature, "syncyte::gather_adjoint">();
    return is_adjoint ? backward.call(input, tensor, scratch, index, rows, asked.packed())
                      : forward.call(input, tensor, scratch, index, asked.packed());
  }
  at::Tensor run(const at::Tensor& input, derivatives asked) const {
    const at::AutoDispatchBelowADInplaceOrView below;
    return call(input, asked);
  }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef input_sizes, derivatives asked) const {
    return row_gather{tensor, scratch, index, !is_adjoint, input_sizes[0]}.call(gradient, asked);
  }
  std::int64_t number_of_forward(const at::Tensor& input) const {
    return tensor_comm(handle(scratch)).number_of_forward(input);
  }
  at::Tensor differentiate(const at::Tensor& input, std::int64_t packed) const {
    TORCH_CHECK_TYPE(index.defined(), "index is None; expected a torch.Tensor");
    const auto asked = derivatives::unpacked(packed);
    return differentiated(input, *this, asked, [&](const at::Tensor& ordered) { return run(ordered, asked); });
  }
};

at::Tensor collective_autograd(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch,
                               const at::Tensor& index, std::int64_t packed) {
  return row_gather{tensor, scratch, index}.differentiate(local, packed);
}

at::Tensor adjoint_autograd(const at::Tensor& gradient, std::int64_t tensor, std::int64_t scratch,
                            const at::Tensor& index, c10::SymInt rows, std::int64_t packed) {
  return row_gather{tensor, scratch, index, true, std::move(rows)}.differentiate(gradient, packed);
}

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("gather_collective", collective_cpu);
  library.impl("gather_adjoint", adjoint_cpu);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  library.impl("gather_collective", collective_meta);
  library.impl("gather_adjoint", adjoint_meta);
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("gather_collective", collective_autograd);
  library.impl("gather_adjoint", adjoint_autograd);
}
