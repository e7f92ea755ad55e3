#pragma once

#include <memory>
#include <utility>

#include "window/remote.hpp"

namespace syncyte::window {

/// An access that was started. It keeps the window or tensor until it goes.
class started_access {
 public:
  static constexpr bool needs_mpi = false;

  /// `under_way` may be null: the access has ended.
  started_access(std::shared_ptr<const void> of, std::unique_ptr<transfer> under_way)
      : of_(std::move(of)), under_way_(std::move(under_way)) {
    if (under_way_) under_way_->drive();
  }

  /// Whether it has ended; throws its error.
  bool test() { return !under_way_ || under_way_->test(); }
  void wait() {
    if (under_way_) under_way_->wait();
  }

 private:
  std::shared_ptr<const void> of_;
  std::unique_ptr<transfer> under_way_;
};

}  // namespace syncyte::window
