#pragma once

#include <memory>
#include <utility>

#include "window/remote.hpp"

namespace syncyte::tensor {

class whole_tensor;

/// An access that was started. It keeps the tensor until it goes.
class started_access {
 public:
  static constexpr bool needs_mpi = false;

  /// `under_way` may be null: the access has ended.
  started_access(std::shared_ptr<whole_tensor> of, std::unique_ptr<window::transfer> under_way)
      : tensor_(std::move(of)), under_way_(std::move(under_way)) {
    if (under_way_) under_way_->drive();
  }

  /// Whether it has ended; throws its error.
  bool test() { return !under_way_ || under_way_->test(); }
  void wait() {
    if (under_way_) under_way_->wait();
  }

 private:
  std::shared_ptr<whole_tensor> tensor_;
  std::unique_ptr<window::transfer> under_way_;
};

}  // namespace syncyte::tensor
