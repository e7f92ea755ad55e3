#pragma once

#include <memory>
#include <utility>

#include "window/remote.hpp"

namespace syncyte::window {

/// An access that was started. It keeps the window or tensor until it goes.
class started_access {
 public:
  static constexpr bool needs_mpi = false;

  /// `in_flight` may be null: the access has ended.
  started_access(std::shared_ptr<const void> of, std::unique_ptr<transfer> in_flight)
      : of_(std::move(of)), in_flight_(std::move(in_flight)) {
    if (in_flight_) in_flight_->drive();
  }

  /// Whether it has ended; throws its error.
  bool test() { return !in_flight_ || in_flight_->test(); }
  void wait() {
    if (in_flight_) in_flight_->wait();
  }

 private:
  std::shared_ptr<const void> of_;
  std::unique_ptr<transfer> in_flight_;
};

}  // namespace syncyte::window
