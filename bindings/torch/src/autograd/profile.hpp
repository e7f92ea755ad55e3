#pragma once
// Ranges in the traces of torch's profilers. Forward operations have theirs from the dispatcher: syncyte::allreduce.

#include <ATen/core/ivalue_inl.h>
#include <ATen/record_function.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace syncyte::torch_binding {

/// A range from here to the end of the block. The name is text, or a function that makes it: only where somebody
/// records. With record_shapes the tensors' shapes are those of the event.
class range {
 public:
  template <class Name>
  range(Name&& name, at::TensorList tensors) : guard_(at::RecordScope::FUNCTION) {
    if (!guard_.isActive()) [[likely]]
      return;
    std::string text;
    if constexpr (std::is_invocable_v<Name>)
      text = name();
    else
      text = name;
    if (guard_.needsInputs()) {
      const std::vector<c10::IValue> inputs(tensors.begin(), tensors.end());
      guard_.before(std::move(text), c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()));
    } else {
      guard_.before(std::move(text));
    }
  }

 private:
  at::RecordFunction guard_;
};

/// The range of a node in a backward pass: the forward operation's name and "_backward".
class backward_range : public range {
 public:
  template <class Name>
  backward_range(const Name& name, at::TensorList gradients)
      : range([&] { return text_of(name) + "_backward"; }, gradients) {}

 private:
  template <class Name>
  static std::string text_of(const Name& name) {
    if constexpr (std::is_invocable_v<Name>)
      return name();
    else
      return name;
  }
};

}  // namespace syncyte::torch_binding
