// Tensors on devices. All operators have one kernel there: it copies the tensors that it is given to pinned host
// memory, runs the operator's CPU kernel, and copies what that returns to the device. Where MPI takes the device's
// memory, operators that only move elements keep to that instead: the CPU kernel is given copies on the device, and its
// result is there. Autograd and meta kernels know no devices; a ticket is where its operation's input was, and what is
// waited for comes to where the ticket is.
//
// Copies are enqueued on the device's current stream: those for MPI to read follow what was enqueued before, and are
// waited for; the host does not wait for those of results. What can fail on this rank alone comes before the CPU
// kernel, the memory of a collective's result too, so that all ranks are told.

#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/library.h>

#include <memory>
#include <string>
#include <vector>

#include "messages/tickets.hpp"
#include "operators/operators.hpp"
#include "tensors/device_memory.hpp"
#include "tensors/operation_memory.hpp"

namespace syncyte::torch_binding {
namespace {

/// A tensor among an operator's arguments, and which it is.
struct given_tensor {
  c10::IValue& value;
  const c10::Argument& argument;

  const at::Tensor& tensor() const { return value.toTensor(); }
};

std::vector<given_tensor> tensors_of(const c10::FunctionSchema& schema, torch::jit::Stack& stack) {
  std::vector<given_tensor> result;
  const std::size_t count = schema.arguments().size();
  for (std::size_t i = 0; i < count; ++i)
    if (c10::IValue& value = stack[stack.size() - count + i]; value.isTensor())
      result.push_back({value, schema.arguments()[i]});
  return result;
}

c10::Device device_of(const std::vector<given_tensor>& given) {
  for (const given_tensor& each : given)
    if (!each.tensor().is_cpu()) return each.tensor().device();
  return c10::kCPU;  // not reached: the dispatcher found a device
}

void require_one_device(const std::vector<given_tensor>& given, const std::string& operation, c10::Device device) {
  for (const given_tensor& each : given)
    TORCH_CHECK_VALUE(each.tensor().device() == device, operation, ": ", each.argument.name(), " is on ",
                      each.tensor().device(), ", but another tensor on ", device, "; expected both on one device");
}

bool is_axis(const c10::Argument& argument) {
  return argument.name() == "axis" || argument.name() == "gather_axis" || argument.name() == "scatter_axis";
}

bool is_along_first_axis(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  const std::size_t count = schema.arguments().size();
  for (std::size_t i = 0; i < count; ++i)
    if (is_axis(schema.arguments()[i]) && stack[stack.size() - count + i].toInt() != 0) return false;
  return true;
}

/// A tensor of the same shape and dtype that needs no memory.
at::Tensor placeholder(const at::Tensor& tensor) {
  return at::empty({}, at::TensorOptions(tensor.dtype())).expand(tensor.sizes());
}

std::vector<at::Tensor> placeholders(const std::vector<given_tensor>& given) {
  std::vector<at::Tensor> result;
  for (const given_tensor& each : given) result.push_back(placeholder(each.tensor()));
  return result;
}

/// A collective's result on the device, uninitialised; undefined where its arguments are wrong, as its CPU kernel says.
at::Tensor result_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack, c10::Device device) {
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

/// Made on another stream perhaps, where an operation was started: its memory is not given away before this one, too,
/// is done with it.
at::Tensor seen_by_current_stream(const at::Tensor& tensor) {
  const c10::impl::VirtualGuardImpl guard(tensor.device().type());
  guard.recordDataPtrOnStream(tensor.storage().data_ptr(), guard.getStream(tensor.device()));
  return tensor;
}

class on_device final : public c10::OperatorKernel {
 public:
  explicit on_device(const operator_row& what) : what_(what) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) const {
    const at::AutoDispatchBelowADInplaceOrView below;
    const std::vector<given_tensor> given = tensors_of(op.schema(), *stack);
    const c10::Device device = device_of(given);
    const c10::DeviceGuard guard(device);
    at::Tensor result;
    {
      const travels way = way_of(op.schema(), *stack, device);
      operation_memory memory(device, way, /*has_room=*/what_.gives_ticket);
      std::vector<at::Tensor> copies;
      try {
        require_one_device(given, op.schema().name().substr(sizeof("syncyte::") - 1), device);
        for (std::size_t i = 0; i < given.size(); ++i)
          copies.push_back(copy_for_mpi(given[i].tensor(), i == 0, memory));
        if (way == travels::through_host && !what_.fails_alone && !what_.gives_ticket)
          result = result_of(op, *stack, device);
        const bool is_read = what_.reads_first || given.size() > 1;
        if (is_read) wait_for_stream(device);
      } catch (...) {
        if (what_.fails_alone) throw;
        memory.fail(std::current_exception());
        copies = placeholders(given);
      }
      for (std::size_t i = 0; i < given.size(); ++i) given[i].value = std::move(copies[i]);
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    }
    for (std::size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i)
      if (c10::IValue& value = (*stack)[i]; value.isTensor()) value = brought(value.toTensor(), device, result);
  }

 private:
  travels way_of(const c10::FunctionSchema& schema, const torch::jit::Stack& stack, c10::Device device) const {
    const bool only_moves = what_.device == device_use::as_it_is ||
                            (what_.device == device_use::along_the_first_axis && is_along_first_axis(schema, stack));
    return only_moves && mpi_takes(device.type()) ? travels::as_it_is : travels::through_host;
  }

  /// Elements of the first tensor travel; the operator reads the numbers of others.
  at::Tensor copy_for_mpi(const at::Tensor& tensor, bool is_first, const operation_memory& memory) const {
    if (is_first && !what_.reads_first) return placeholder(tensor);
    const at::Tensor copy = is_first ? memory.empty(tensor.sizes(), tensor.scalar_type())
                                     : memory.empty_pinned(tensor.sizes(), tensor.scalar_type());
    return copy.copy_(tensor, /*non_blocking=*/true);
  }

  /// A result on the device, in the memory that was made for it, if any.
  at::Tensor brought(const at::Tensor& host, c10::Device device, const at::Tensor& made) const {
    if (what_.gives_ticket) return ticket_on(device, host);
    if (host.device() == device) return seen_by_current_stream(host);
    const at::Tensor target =
        made.defined() && made.sizes() == host.sizes() ? made : at::empty(host.sizes(), host.options().device(device));
    return target.copy_(host, /*non_blocking=*/host.is_pinned());
  }

  operator_row what_;
};

void implement_all(torch::Library& library) {
  for (const operator_row& row : operator_table())
    if (row.device != device_use::no_kernel)
      library.impl(name_of(row).c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<on_device>(row)));
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CUDA, library) { syncyte::torch_binding::implement_all(library); }
// Devices that other libraries bring to torch; the tests have one whose memory is the host's.
TORCH_LIBRARY_IMPL(syncyte, PrivateUse1, library) { syncyte::torch_binding::implement_all(library); }
