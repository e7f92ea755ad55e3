// SPDX-License-Identifier: BSD-3-Clause
#include "process_group/work_queue.hpp"

#include <c10/core/GradMode.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace syncyte::torch_binding::process_group {

struct work_queue::state {
  std::mutex mutex;
  std::condition_variable has_work;  // the thread waits: waking it for nothing would cost more than a small operation
  std::condition_variable is_over;
  std::deque<std::pair<work, step>> queued;
  bool is_busy = false;  // an operation runs, here or in a caller
  bool has_thread = false;
  bool closes = false;

  bool is_idle() const { return !is_busy && queued.empty(); }

  void end_operation() {
    const std::lock_guard lock(mutex);
    is_busy = false;
    if (closes || !queued.empty()) has_work.notify_one();
    is_over.notify_all();
  }

  /// The next operation may run before this one's future calls functions, which may start further ones and wait.
  void perform(const work& operation, const step& what) {
    std::exception_ptr error;
    try {
      const c10::NoGradGuard no_gradients;
      what();
    } catch (...) {
      error = std::current_exception();
    }
    end_operation();
    operation->complete(error);
  }

  void serve() {
    for (;;) {
      std::unique_lock lock(mutex);
      has_work.wait(lock, [&] { return !is_busy && (closes || !queued.empty()); });
      if (queued.empty()) return;
      auto [operation, what] = std::move(queued.front());
      queued.pop_front();
      is_busy = true;
      lock.unlock();
      perform(operation, what);
    }
  }
};

work_queue::work_queue() : state_(std::make_shared<state>()) {}

work_queue::~work_queue() {
  const std::lock_guard lock(state_->mutex);
  state_->closes = true;
  state_->has_work.notify_one();
}

void work_queue::start(work operation, step what) {
  const std::lock_guard lock(state_->mutex);
  if (!std::exchange(state_->has_thread, true)) std::thread([shared = state_] { shared->serve(); }).detach();
  state_->queued.emplace_back(std::move(operation), std::move(what));
  state_->has_work.notify_one();
}

void work_queue::run(const work& operation, step what) {
  {
    std::unique_lock lock(state_->mutex);
    if (!state_->is_idle()) {
      lock.unlock();
      start(operation, std::move(what));
      operation->wait();
      return;
    }
    state_->is_busy = true;
  }
  state_->perform(operation, what);
  operation->wait();
}

bool work_queue::wait_until_idle(std::chrono::milliseconds time) {
  std::unique_lock lock(state_->mutex);
  return state_->is_over.wait_for(lock, time, [&] { return state_->is_idle(); });
}

}  // namespace syncyte::torch_binding::process_group
