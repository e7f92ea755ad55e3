// SPDX-License-Identifier: BSD-3-Clause
// PyTorch's operators on CUDA tensors, run on the CPU, for tests on the stand-in driver, which runs no kernel of
// PyTorch. Load it with torch.ops.load_library(). An operator copies its arguments to the host, runs there and enqueues
// copies of its results, as if it ran late: a missing wait for the stream shows. Allocation, views and copies of
// contiguous tensors remain PyTorch's own.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/empty.h>
#include <c10/util/ScopeExit.h>
#include <torch/library.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace {

using at::Tensor;

/// The memory that a tensor reaches, from its first element to its last, as a tensor of one dimension.
Tensor range_of(const Tensor& tensor) {
  std::int64_t elements = 1;
  for (int axis = 0; axis < tensor.dim(); ++axis) elements += (tensor.size(axis) - 1) * tensor.stride(axis);
  return at::as_strided(tensor, {elements}, {1}, tensor.storage_offset());
}

/// PyTorch's own copy, for tensors that a plain copy of their bytes serves.
void copy_bytes(Tensor target, const Tensor& source, bool non_blocking = false) {
  at::native::copy_(target, source, non_blocking);
}

/// A copy on the host, with equal strides.
Tensor host_copy(const Tensor& tensor) {
  if (tensor.is_conj()) return host_copy(tensor.conj()).conj();
  if (tensor.is_neg()) return host_copy(tensor._neg_view())._neg_view();
  if (tensor.numel() == 0) return at::empty(tensor.sizes(), tensor.options().device(at::kCPU));
  const Tensor range = range_of(tensor);
  const Tensor result = at::empty(range.sizes(), range.options().device(at::kCPU));
  copy_bytes(result, range);
  return at::as_strided(result, tensor.sizes(), tensor.strides(), 0);
}

/// Whether a copy is one of bytes.
bool is_plain(const Tensor& target, const Tensor& source) {
  const auto is_simple = [](const Tensor& each) { return each.is_contiguous() && !each.is_conj() && !each.is_neg(); };
  return target.sizes() == source.sizes() && target.scalar_type() == source.scalar_type() && is_simple(target) &&
         is_simple(source);
}

/// Whether this thread runs an operator, whose results are written later.
thread_local bool runs_operator = false;

Tensor& copy(Tensor& target, const Tensor& source, bool non_blocking) {
  const bool is_late = non_blocking || (runs_operator && target.is_cuda());
  if (is_plain(target, source)) return at::native::copy_(target, source, is_late);
  const Tensor values = source.is_cuda() ? host_copy(source) : source;
  if (!target.is_cuda()) return target.copy_(values);
  if (target.numel() == 0) return target;
  const Tensor changed = host_copy(target);
  changed.copy_(values);
  copy_bytes(range_of(target), range_of(changed), is_late);
  return target;
}

/// How the fallback returns an operator's results.
Tensor copy_from_and_resize(const Tensor& source, const Tensor& target) {
  Tensor result = target;
  if (result.sizes() != source.sizes()) result.resize_(source.sizes());
  return copy(result, source, false);
}

void run_on_host(const c10::OperatorHandle& operation, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const bool before = std::exchange(runs_operator, true);
  const auto restore = c10::make_scope_exit([before] { runs_operator = before; });
  at::native::cpu_fallback(operation, stack);
}

bool is_view(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.returns(), [](const c10::Argument& each) {
    return each.alias_info() != nullptr && !each.alias_info()->isWrite();
  });
}

/// Operators that do nothing with elements, and those of copies.
bool stays_on_device(const std::string& name) {
  static const std::set<std::string> names = {
      "aten::empty.memory_format",
      "aten::empty_strided",
      "aten::resize_",
      "aten::set_",
      "aten::set_.source_Storage",
      "aten::set_.source_Storage_storage_offset",
      "aten::set_.source_Tensor",
      "aten::is_set_to",
      "aten::record_stream",
      "aten::is_pinned",
      "aten::_pin_memory",
      "aten::_efficientzerotensor",
      "aten::_local_scalar_dense",  // item(), which copies one element to the host
      "aten::copy_",
  };
  return names.contains(name);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.getNamespace() != "aten" || stays_on_device(toString(name))) continue;
    const auto found = c10::Dispatcher::singleton().findOp(name);
    if (!found || !found->hasKernelForDispatchKey(c10::DispatchKey::CUDA) || is_view(found->schema())) continue;
    library.impl(toString(name).substr(std::string("aten::").size()).c_str(),
                 torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
  }
  library.impl("copy_", &copy);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
}
