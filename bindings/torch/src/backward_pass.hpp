#pragma once
// Backward passes of autograd, and what operations leave behind in one that fails.

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace syncyte::torch_binding {

/// One run of autograd's engine. Its last reference goes with the run, whether that has succeeded or not.
class backward_pass : public std::enable_shared_from_this<backward_pass> {
 public:
  /// The one that this thread is in; null outside of any.
  static std::shared_ptr<backward_pass> current();

  ~backward_pass();
  backward_pass(const backward_pass&) = delete;
  backward_pass& operator=(const backward_pass&) = delete;

  /// The ticket of an operation that the pass has started: if nobody has waited for it at the end, it is given up.
  void add(const at::Tensor& ticket);

 private:
  backward_pass() = default;
  void queue_end(bool is_last);

  std::vector<at::Tensor> tickets_;
};

}  // namespace syncyte::torch_binding
