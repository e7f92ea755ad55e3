// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The operations of a group, one after another in the order of their starts.

#include <chrono>
#include <functional>
#include <memory>

#include "process_group/works.hpp"

namespace syncyte::torch_binding::process_group {

class work_queue {
 public:
  using step = std::function<void()>;
  using work = c10::intrusive_ptr<operation_work>;

  work_queue();
  /// The thread ends after the operations that are queued.
  ~work_queue();
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;

  /// Runs an operation's step on the queue's thread, which the first one starts.
  void start(work operation, step what);

  /// Runs it in this thread if nothing is queued, which saves two switches between threads; otherwise waits for it.
  /// Throws its error.
  void run(const work& operation, step what);

  /// Returns whether all operations have ended within the time.
  bool wait_until_idle(std::chrono::milliseconds time);

  /// Waits for the operations of all groups of the process, also of those that have been destroyed.
  static void wait_for_all();

 private:
  struct state;
  struct registry;
  std::shared_ptr<state> state_;  // the thread's too
};

}  // namespace syncyte::torch_binding::process_group
