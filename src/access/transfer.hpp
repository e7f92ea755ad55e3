// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "fabric/caller.hpp"

namespace syncyte::access {

/// The last step of an operation: a request to one owner. Without an owner the source does the step itself, when asked
/// for a request.
struct last_step {
  const char* operation;  ///< name of the operation with this step, a string literal
  fabric::peer* owner;
  std::unique_ptr<fabric::request_source> source;
};

/// An operation in flight. Destroying it before its end gives it up: accesses that have begun may still happen at their
/// owners, but memory here is not touched any more.
class transfer {
 public:
  virtual ~transfer() = default;

  /// Whether the operation has ended. Throws its error once it has ended.
  virtual bool test() = 0;
  /// Waits for the end. Throws its error, or interrupted.
  virtual void wait() = 0;
  /// Lets the operation make progress without calls of test() or wait().
  virtual void drive() = 0;
  /// Adds a step that is done once all else of the operation has succeeded; after drive() it needs no call of test() or
  /// wait(). It is not done after an error, nor if the transfer is destroyed before. Returns false if this transfer has
  /// no last steps: the caller does the step after wait().
  virtual bool add_last_step(last_step&) { return false; }
};

}  // namespace syncyte::access
