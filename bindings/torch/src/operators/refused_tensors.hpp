// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Tensors that this rank cannot use, in operations for which other ranks wait: the operation's kernel runs without them
// and fails where it tells the others what is wrong.

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>

namespace syncyte::torch_binding {

/// While it lives, kernels on this thread fail.
class refused_tensor {
 public:
  explicit refused_tensor(std::exception_ptr why);
  /// With NotImplementedError of this text.
  explicit refused_tensor(const std::string& why);
  ~refused_tensor();
  refused_tensor(const refused_tensor&) = delete;
  refused_tensor& operator=(const refused_tensor&) = delete;

  /// Throws what the kernel is to fail with, if it is; for kernels, where they can still tell the other ranks.
  static void check();

 private:
  std::exception_ptr why_;
  const refused_tensor* before_;
};

/// A tensor on the meta device that stands for nothing else: in a graph that is traced such tensors stand for real
/// ones.
bool is_plain_meta(const at::Tensor& tensor);

/// Throws NotImplementedError for a tensor that Syncyte cannot use, or that stands for a refused one; for operations
/// that have no kernel of their own.
void require_usable(const at::Tensor& tensor, const char* operation);

/// The tensor that kernels are given in place of one that is refused: of as many dimensions, without elements.
at::Tensor stand_in(const at::Tensor& tensor);

/// Why a plain meta tensor is refused.
std::string meta_text(const std::string& operation);

}  // namespace syncyte::torch_binding
