// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Ranges in the traces of torch's profilers. Forward operations have theirs from the dispatcher: syncyte::allreduce.

#include <ATen/core/ivalue_inl.h>
#include <ATen/record_function.h>

#include <string>
#include <utility>
#include <vector>

namespace syncyte::torch_binding {

/// A range from here to the end of the block; name() makes its text, only where somebody records. With record_shapes
/// the tensors' shapes are those of the event.
class range {
 public:
  template <class Name>
  range(Name&& name, at::TensorList tensors) : guard_(at::RecordScope::FUNCTION) {
    if (!guard_.isActive()) [[likely]]
      return;
    const std::vector<c10::IValue> inputs(tensors.begin(), tensors.end());
    if (guard_.needsInputs())
      guard_.before(std::string(name()), c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()));
    else
      guard_.before(std::string(name()));
  }

 private:
  at::RecordFunction guard_;
};

/// The range of a node in a backward pass, of the forward operation's name.
class backward_range : public range {
 public:
  backward_range(const std::string& name, at::TensorList gradients)
      : range([&] { return name + "_backward"; }, gradients) {}
};

}  // namespace syncyte::torch_binding
