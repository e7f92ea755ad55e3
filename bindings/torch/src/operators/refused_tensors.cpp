// SPDX-License-Identifier: BSD-3-Clause
// Tensors that are refused, and the kernels of the layouts that are: sparse, MKL-DNN's, quantised and nested ones.

#include "operators/refused_tensors.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/library.h>

#include <utility>
#include <vector>

#include "operators/dispatched.hpp"
#include "operators/operators.hpp"

namespace syncyte::torch_binding {
namespace {

thread_local const refused_tensor* current = nullptr;

bool is_usable(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && !tensor.is_quantized() && !tensor.is_nested();
}

std::string layout_text(const at::Tensor& tensor) {
  if (tensor.is_nested()) return "nested";
  if (tensor.is_quantized()) return c10::str("quantised (", tensor.scalar_type(), ")");
  return c10::str("of layout ", tensor.layout());
}

std::string layout_refused(const char* operation, const std::string& argument, const at::Tensor& tensor) {
  return c10::str(operation, ": ", argument, " is ", layout_text(tensor),
                  "; expected a dense tensor (to_dense(), dequantize())");
}

/// Registers kernels for tensors of a layout that Syncyte does not have.
void refuse_all(torch::Library& library) {
  for (const operator_row& row : operator_table()) {
    if (row.device == device_use::no_kernel || row.takes_ticket) continue;
    const auto kernel = [fails_alone = row.fails_alone](const c10::OperatorHandle& op, c10::DispatchKeySet,
                                                        torch::jit::Stack& stack) {
      const auto& arguments = op.schema().arguments();
      const std::string name = op.schema().name().substr(sizeof("syncyte::") - 1);
      std::string why;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        c10::IValue& value = stack[stack.size() - arguments.size() + i];
        if (!value.isTensor() || is_usable(value.toTensor())) continue;
        why = layout_refused(name.c_str(), arguments[i].name(), value.toTensor());
        value = stand_in(value.toTensor());
      }
      const refused_tensor refusal(why);
      if (fails_alone) refused_tensor::check();
      const at::AutoDispatchBelowADInplaceOrView below;
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    };
    library.impl(name_of(row).c_str(), boxed(kernel));
  }
}

}  // namespace

refused_tensor::refused_tensor(std::exception_ptr why) : why_(std::move(why)), before_(std::exchange(current, this)) {}
refused_tensor::refused_tensor(const std::string& why)
    : refused_tensor(std::make_exception_ptr(c10::NotImplementedError({__func__, __FILE__, __LINE__}, why))) {}
refused_tensor::~refused_tensor() { current = before_; }

void refused_tensor::check() {
  if (current != nullptr) [[unlikely]]
    std::rethrow_exception(current->why_);
}

bool is_plain_meta(const at::Tensor& tensor) {
  return tensor.is_meta() && !tensor.unsafeGetTensorImpl()->is_python_dispatch() &&
         !tensor.key_set().has(c10::DispatchKey::Functionalize) && !c10::impl::TorchDispatchModeTLS::any_modes_set();
}

void require_usable(const at::Tensor& tensor, const char* operation) {
  TORCH_CHECK_NOT_IMPLEMENTED(is_usable(tensor), layout_refused(operation, "input", tensor));
  refused_tensor::check();
}

at::Tensor stand_in(const at::Tensor& tensor) {
  const auto dtype = tensor.is_quantized() ? at::kByte : tensor.scalar_type();
  const std::vector<std::int64_t> nothing(static_cast<std::size_t>(tensor.dim()), 0);
  return at::empty(nothing, at::TensorOptions(dtype));
}

std::string meta_text(const std::string& operation) {
  return operation + ": input is on the meta device and has no elements; expected a tensor with memory";
}

TORCH_LIBRARY_IMPL(syncyte, SparseCPU, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(syncyte, SparseCsrCPU, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(syncyte, MkldnnCPU, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(syncyte, QuantizedCPU, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(syncyte, NestedTensorCPU, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(syncyte, SparseCUDA, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(syncyte, SparseCsrCUDA, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(syncyte, QuantizedCUDA, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(syncyte, NestedTensorCUDA, library) { refuse_all(library); }

}  // namespace syncyte::torch_binding
