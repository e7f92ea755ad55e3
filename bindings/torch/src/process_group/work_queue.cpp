// SPDX-License-Identifier: BSD-3-Clause
#include "process_group/work_queue.hpp"

#include <c10/core/GradMode.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace syncyte::torch_binding::process_group {

struct work_queue::state : std::enable_shared_from_this<state> {
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

  /// Runs a step; the next operation may run from then on.
  std::exception_ptr error_of(const step& what) {
    std::exception_ptr error;
    try {
      const c10::NoGradGuard no_gradients;
      what();
    } catch (...) {
      error = std::current_exception();
    }
    end_operation();
    return error;
  }

  void need_thread() {
    if (!std::exchange(has_thread, true)) std::thread([shared = shared_from_this()] { shared->serve(); }).detach();
  }

  /// Completes an operation. Functions of its future may start operations and wait for them: another thread serves the
  /// queue meanwhile. Returns whether this one goes on to do so.
  bool complete(const work& operation, std::exception_ptr error) {
    const auto asked_for = operation->end(std::move(error));
    if (asked_for == nullptr) {
      operation->announce(asked_for);
      return true;
    }
    {
      const std::lock_guard lock(mutex);
      has_thread = false;
      if (!queued.empty()) need_thread();
    }
    operation->announce(asked_for);
    const std::lock_guard lock(mutex);
    return !std::exchange(has_thread, true);
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
      std::exception_ptr error = error_of(what);
      what = nullptr;
      if (!complete(operation, std::move(error))) return;
    }
  }
};

/// The queues whose threads may still run.
struct work_queue::registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<state>> states;

  static registry& of_process() {
    static auto* const one = new registry;  // leaked: groups may end after static objects
    return *one;
  }
};

work_queue::work_queue() : state_(std::make_shared<state>()) {
  registry& all = registry::of_process();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.states, [](const auto& each) { return each.expired(); });
  all.states.push_back(state_);
}

void work_queue::wait_for_all() {
  registry& all = registry::of_process();
  std::unique_lock lock(all.mutex);
  const auto states = all.states;
  lock.unlock();
  for (const auto& each : states) {
    const auto one = each.lock();
    if (one == nullptr) continue;
    std::unique_lock own(one->mutex);
    one->is_over.wait(own, [&] { return one->is_idle(); });
  }
}

work_queue::~work_queue() {
  const std::lock_guard lock(state_->mutex);
  state_->closes = true;
  state_->has_work.notify_one();
}

void work_queue::start(work operation, step what) {
  const std::lock_guard lock(state_->mutex);
  state_->need_thread();
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
  operation->complete(state_->error_of(what));
  operation->wait();
}

bool work_queue::wait_until_idle(std::chrono::milliseconds time) {
  std::unique_lock lock(state_->mutex);
  return state_->is_over.wait_for(lock, time, [&] { return state_->is_idle(); });
}

}  // namespace syncyte::torch_binding::process_group
