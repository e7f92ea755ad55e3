// SPDX-License-Identifier: BSD-3-Clause
// Tensors on devices. All operators have one kernel there: it copies the tensors that it is given to pinned host
// memory, runs the operator's CPU kernel, and copies what that returns to the device. Where MPI takes the device's
// memory, operators that only move elements stay in it instead: the CPU kernel is given copies on the device, and its
// result is there. Autograd and meta kernels are the same for all devices. A ticket lies on the device of its
// operation's input, and the result that is waited for comes to the ticket's device.
//
// Copies are enqueued on the device's current stream: those for MPI to read follow what was enqueued before, and are
// waited for; the host does not wait for those of results. Steps that can fail on this rank alone precede the CPU
// kernel, the allocation of a collective's result too, so that all ranks get the error.

#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operators/dispatched.hpp"
#include "operators/operators.hpp"
#include "operators/refused_tensors.hpp"
#include "requests/tickets.hpp"
#include "syncyte/comm.hpp"
#include "syncyte/tensor.hpp"
#include "tensors/buffers.hpp"
#include "tensors/operation_memory.hpp"

namespace syncyte::torch_binding {
namespace {

// ---- Whether MPI is given memory of devices: torch.ops.syncyte.use_device_memory ----

/// Values of the operator's argument.
enum class passing : std::int64_t {
  never = 0,
  always = 1,
  where_mpi_is_cuda_aware = 2,
  always_and_others = 3  ///< for tests: other devices too, whose memory is the host's
};

std::atomic<passing> chosen{passing::where_mpi_is_cuda_aware};

/// Whether the MPI library takes CUDA memory; asked once, because its answer does not change.
bool is_mpi_cuda_aware() {
  static const bool result = checked([] { return syncyte::mpi_takes(SYNCYTE_MEMORY_CUDA); });
  return result;
}

void choose(std::int64_t value) {
  TORCH_CHECK_VALUE(value >= 0 && value <= 3, "use is ", value, "; expected 0 to 3");
  chosen = static_cast<passing>(value);
}

/// Whether MPI may be given the memory of such a device: CUDA's where the library takes it, unless chosen otherwise.
bool mpi_takes(c10::DeviceType device) {
  const passing now = chosen;
  if (device != c10::kCUDA) return now == passing::always_and_others;
  return now == passing::where_mpi_is_cuda_aware ? is_mpi_cuda_aware() : now != passing::never;
}

// ---- Kernels ----

/// A tensor among an operator's arguments, and which it is.
struct given_tensor {
  c10::IValue& value;
  const c10::Argument& argument;
  at::Tensor tensor;  // a copy on the device's stream may read it until the kernel ends
};

std::vector<given_tensor> tensors_of(const c10::FunctionSchema& schema, torch::jit::Stack& stack) {
  std::vector<given_tensor> result;
  const std::size_t count = schema.arguments().size();
  for (std::size_t i = 0; i < count; ++i)
    if (c10::IValue& value = stack[stack.size() - count + i]; value.isTensor())
      result.push_back({value, schema.arguments()[i], value.toTensor()});
  return result;
}

const given_tensor& first_on_device(const std::vector<given_tensor>& given) {
  for (const given_tensor& each : given)
    if (!each.tensor.is_cpu()) return each;
  return given.front();  // not reached: the dispatcher found a device
}

void require_one_device(const std::vector<given_tensor>& given, const std::string& operation,
                        const given_tensor& first) {
  for (const given_tensor& each : given)
    TORCH_CHECK_VALUE(each.tensor.device() == first.tensor.device(), operation, ": ", first.argument.name(), " is on ",
                      first.tensor.device(), ", but ", each.argument.name(), " on ", each.tensor.device(),
                      "; expected both on one device");
}

/// A tensor of the same shape and dtype that needs no memory.
at::Tensor placeholder(const at::Tensor& tensor) {
  return at::empty({}, at::TensorOptions(tensor.dtype())).expand(tensor.sizes());
}

/// A collective's result on the device, uninitialized; undefined where its arguments are wrong, as its CPU kernel says.
at::Tensor empty_result(const c10::OperatorHandle& op, const torch::jit::Stack& stack, c10::Device device) {
  torch::jit::Stack shapes(stack.end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size()), stack.end());
  try {
    for (c10::IValue& value : shapes)
      if (value.isTensor()) value = at::empty(value.toTensor().sizes(), value.toTensor().options().device(c10::kMeta));
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &shapes);
  } catch (const std::exception&) {
    return {};
  }
  const at::Tensor like = shapes.back().toTensor();
  return at::empty(like.sizes(), like.options().device(device));
}

/// Keeps the memory of a tensor, which may have been made on another stream, until the current stream has used it.
at::Tensor seen_by_current_stream(const at::Tensor& tensor) {
  const c10::impl::VirtualGuardImpl guard(tensor.device().type());
  guard.recordDataPtrOnStream(tensor.storage().data_ptr(), guard.getStream(tensor.device()));
  return tensor;
}

/// Whether the operator's whole tensor is in device memory.
bool is_for_device_memory(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  const std::optional<int> place = schema.argumentIndexWithName("tensor");
  if (!place) return false;
  const c10::IValue& tensor = stack[stack.size() - schema.arguments().size() + static_cast<std::size_t>(*place)];
  if (!tensor.isInt() || tensor.toInt() == 0) return false;
  syncyte_buffer_t global SYNCYTE_BUFFER_INIT;
  check(syncyte_tensor_describe(reinterpret_cast<syncyte_tensor_t>(tensor.toInt()), &global));
  return global.memory == SYNCYTE_MEMORY_CUDA;
}

/// The operator's kernel for tensors on a device.
struct device_kernel {
  operator_row what;

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack& stack) const {
    const at::AutoDispatchBelowADInplaceOrView below;
    // The CPU kernel passes such tensors to the library, which queues the operation on the device.
    if (is_for_device_memory(op.schema(), stack)) {
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
      return;
    }
    const std::vector<given_tensor> given = tensors_of(op.schema(), stack);
    const given_tensor& first = first_on_device(given);
    const c10::Device device = first.tensor.device();
    const c10::DeviceGuard guard(device);
    at::Tensor result;
    {
      const memory_kind kind = kind_of(stack.data() + stack.size() - op.schema().arguments().size(), device);
      const operation_memory memory(device, kind, /*has_room=*/what.gives_ticket);
      std::optional<refused_tensor> failure;
      try {
        require_one_device(given, op.schema().name().substr(sizeof("syncyte::") - 1), first);
        for (const given_tensor& each : given) each.value = copy_for_mpi(each.tensor, &each == &given.front(), memory);
        if (kind == memory_kind::pinned_host && !what.fails_alone && !what.gives_ticket)
          result = empty_result(op, stack, device);
        const bool is_read = !what.ignores_elements || given.size() > 1;
        if (is_read) wait_for_stream(device);
      } catch (...) {
        if (what.fails_alone) throw;
        failure.emplace(std::current_exception());
        for (const given_tensor& each : given) each.value = stand_in(each.tensor);
      }
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    }
    for (std::size_t i = stack.size() - op.schema().returns().size(); i < stack.size(); ++i)
      if (c10::IValue& value = stack[i]; value.isTensor()) value = brought(value.toTensor(), device, result);
  }

  memory_kind kind_of(const c10::IValue* arguments, c10::Device device) const {
    const bool is_along_first_axis = std::ranges::all_of(
        std::string_view(what.axes), [&](char place) { return arguments[place - '0'].toInt() == 0; });
    const bool only_moves = what.device == device_use::direct ||
                            (what.device == device_use::direct_along_first_axis && is_along_first_axis);
    return only_moves && mpi_takes(device.type()) ? memory_kind::device : memory_kind::pinned_host;
  }

  /// Elements of the first tensor travel; the operator reads the numbers of others.
  at::Tensor copy_for_mpi(const at::Tensor& tensor, bool is_first, const operation_memory& memory) const {
    if (is_first && what.ignores_elements) return placeholder(tensor);
    const at::Tensor copy = is_first ? memory.empty(tensor.sizes(), tensor.scalar_type())
                                     : memory.empty_pinned(tensor.sizes(), tensor.scalar_type());
    return copy.copy_(tensor, /*non_blocking=*/true);
  }

  /// A result on the device, in the memory that was made for it, if any.
  at::Tensor brought(const at::Tensor& host, c10::Device device, const at::Tensor& made) const {
    if (what.gives_ticket) return ticket_on(device, host);
    if (host.device() == device) return seen_by_current_stream(host);
    const at::Tensor target =
        made.defined() && made.sizes() == host.sizes() ? made : at::empty(host.sizes(), host.options().device(device));
    return target.copy_(host, /*non_blocking=*/host.is_pinned());
  }
};

void implement_all(torch::Library& library) {
  for (const operator_row& row : operator_table())
    if (row.device != device_use::no_kernel) library.impl(name_of(row).c_str(), boxed(device_kernel{row}));
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) { library.impl("use_device_memory", choose); }
TORCH_LIBRARY_IMPL(syncyte, CUDA, library) { implement_all(library); }
// Devices that other libraries bring to torch; the tests have one whose memory is the host's.
TORCH_LIBRARY_IMPL(syncyte, PrivateUse1, library) { implement_all(library); }

}  // namespace syncyte::torch_binding
