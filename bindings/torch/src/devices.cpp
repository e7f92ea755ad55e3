// Tensors on devices. All operators have one kernel there: it copies the tensors that it is given to pinned host
// memory, runs the operator's CPU kernel, and copies what that returns to the device. Autograd and meta kernels know no
// devices; a ticket is where its operation's input was, and what is waited for comes to where the ticket is.
//
// Copies are enqueued on the device's current stream: those to the host follow what was enqueued before, and are waited
// for; the host does not wait for those to the device.

#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/library.h>

#include <memory>
#include <optional>
#include <vector>

#include "pinned_memory.hpp"
#include "requests.hpp"

namespace syncyte::torch_binding {
namespace {

/// An operator, and what is particular about it.
struct staged_operator {
  const char* name;
  bool reads_first = true;    ///< or needs only the shape and dtype of its first tensor
  bool gives_ticket = false;  ///< of an operation that is under way
  bool fails_alone = false;   ///< no other rank waits for it, or it can no longer tell them
};

constexpr staged_operator staged_operators[] = {
    {"allreduce"},
    {"bcast"},
    {"reduce"},
    {"scan"},
    {"exscan"},
    {"allgather_along.lengths"},
    {"gather_along.lengths"},
    {"scatter_along.lengths"},
    {"reduce_scatter_along.lengths"},
    {"alltoall_along.lengths"},
    {"halo_exchange"},
    {"gather_collective"},
    {"gather_adjoint"},
    {.name = "gather", .fails_alone = true},
    {.name = "gather_backward", .fails_alone = true},
    {.name = "isend", .gives_ticket = true, .fails_alone = true},
    {.name = "irecv", .reads_first = false, .gives_ticket = true, .fails_alone = true},
    {.name = "isend_answer", .gives_ticket = true, .fails_alone = true},
    {.name = "irecv_answer", .reads_first = false, .gives_ticket = true, .fails_alone = true},
    {.name = "start_collective", .gives_ticket = true},
    {.name = "wait_message", .fails_alone = true},
    {.name = "wait_collective", .fails_alone = true},
    {.name = "test_message", .fails_alone = true},
};

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

/// Of a shape and dtype, without their memory.
at::Tensor placeholder(const at::Tensor& tensor) {
  return at::empty({}, at::TensorOptions(tensor.dtype())).expand(tensor.sizes());
}

class through_host final : public c10::OperatorKernel {
 public:
  explicit through_host(const staged_operator& what) : what_(what) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) const {
    const at::AutoDispatchBelowADInplaceOrView below;
    const std::vector<given_tensor> given = tensors_of(op.schema(), *stack);
    const c10::Device device = device_of(given);
    const c10::DeviceGuard guard(device);
    {
      pinned_memory memory(device.type());
      bring_to_host(given, device, op.schema(), memory);
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    }
    const std::size_t count = op.schema().returns().size();
    for (std::size_t i = stack->size() - count; i < stack->size(); ++i)
      if (c10::IValue& value = (*stack)[i]; value.isTensor()) value = on_device(value.toTensor(), device);
  }

 private:
  void bring_to_host(const std::vector<given_tensor>& given, c10::Device device, const c10::FunctionSchema& schema,
                     pinned_memory& memory) const {
    std::vector<at::Tensor> copies;
    try {
      for (const given_tensor& each : given) copies.push_back(host_copy(each, device, schema, memory));
      c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
    } catch (...) {
      if (what_.fails_alone) throw;
      memory.fail(std::current_exception());
      copies.clear();
      for (const given_tensor& each : given) copies.push_back(placeholder(each.tensor()));
    }
    for (std::size_t i = 0; i < given.size(); ++i) given[i].value = std::move(copies[i]);
  }

  at::Tensor host_copy(const given_tensor& given, c10::Device device, const c10::FunctionSchema& schema,
                       const pinned_memory& memory) const {
    const at::Tensor& tensor = given.tensor();
    TORCH_CHECK_VALUE(tensor.device() == device, schema.name(), ": ", given.argument.name(), " is on ", tensor.device(),
                      ", but another tensor on ", device, "; expected both on one device");
    const bool is_first = &given.argument == &schema.arguments().front();
    if (is_first && !what_.reads_first) return placeholder(tensor);
    return memory.empty(tensor.sizes(), tensor.scalar_type()).copy_(tensor, /*non_blocking=*/true);
  }

  at::Tensor on_device(const at::Tensor& host, c10::Device device) const {
    if (what_.gives_ticket) return ticket_on(device, host);
    return at::empty(host.sizes(), host.options().device(device)).copy_(host, /*non_blocking=*/host.is_pinned());
  }

  staged_operator what_;
};

void implement_all(torch::Library& library) {
  for (const staged_operator& each : staged_operators)
    library.impl(each.name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<through_host>(each)));
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CUDA, library) { syncyte::torch_binding::implement_all(library); }
// Devices that other libraries bring to torch; the tests have one whose memory is the host's.
TORCH_LIBRARY_IMPL(syncyte, PrivateUse1, library) { syncyte::torch_binding::implement_all(library); }
