// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "access/transfer.hpp"
#include "base/error.hpp"

namespace syncyte::access {

/// A started operation, for the caller's request. It keeps the objects that it was started with until it is destroyed,
/// and its transfer until the operation has ended; then the error stays, if there is one. Thread-safe.
class started {
 public:
  static constexpr bool needs_mpi = false;

  /// `in_flight` may be null: the operation has ended.
  started(std::shared_ptr<const void> of, std::unique_ptr<transfer> in_flight)
      : started(std::array{std::move(of), std::shared_ptr<const void>()}, std::move(in_flight)) {}
  started(std::array<std::shared_ptr<const void>, 2> kept, std::unique_ptr<transfer> in_flight)
      : kept_(std::move(kept)), in_flight_(std::move(in_flight)) {
    if (in_flight_) in_flight_->drive();
  }
  ~started();
  started(const started&) = delete;
  started& operator=(const started&) = delete;

  /// Whether the operation has ended; throws its error. Does not wait, and is false while another thread waits.
  bool test();
  /// Waits, and throws the error. Other exceptions, such as watchdog::interrupted, end the wait and not the operation.
  void wait();
  /// Test the operation and wait for it without throwing its error, which stays for test() and wait().
  bool has_ended();
  void await_end();

 private:
  bool poll();

  std::array<std::shared_ptr<const void>, 2> kept_;
  std::mutex mutex_;                     // guards the members below
  std::unique_ptr<transfer> in_flight_;  // null: it has ended; destroyed before kept_
  std::optional<base::error> error_;
};

/// The two forms of an operation that a class describes. Its constructor makes all checks; begin() does what this
/// process can do with memory that it has mapped, and returns the rest in flight, or null.
///
///     some_operation(object& of, <what the caller gives>);
///     std::unique_ptr<transfer> begin();
///     void run();                               // if the blocking form is more than begin() and wait()
///     std::shared_ptr<const void> keeps() const;  // if the started form must keep more than the object

/// The blocking form.
template <class Operation, class Object, class... Given>
void run(Object& of, Given&&... given) {
  Operation made(of, std::forward<Given>(given)...);
  if constexpr (requires { made.run(); })
    made.run();
  else if (const auto rest = made.begin())
    rest->wait();
}

/// The started form.
template <class Operation, class Object, class... Given>
std::unique_ptr<started> start(const std::shared_ptr<Object>& of, Given&&... given) {
  Operation made(*of, std::forward<Given>(given)...);
  std::array<std::shared_ptr<const void>, 2> kept{of};
  if constexpr (requires { made.keeps(); }) kept[1] = made.keeps();
  return std::make_unique<started>(std::move(kept), made.begin());
}

}  // namespace syncyte::access
