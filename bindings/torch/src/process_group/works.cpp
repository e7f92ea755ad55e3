// SPDX-License-Identifier: BSD-3-Clause
#include "process_group/works.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <thread>
#include <utility>

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding::process_group {
namespace {

using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

/// Waits for `ended` with short pauses at first.
bool poll_until(clock::time_point deadline, const std::function<bool()>& ended) {
  constexpr int eager_looks = 2000;
  constexpr std::chrono::microseconds pause(50);
  for (int looks = 0; !ended(); ++looks) {
    if (clock::now() > deadline) return false;
    if (looks < eager_looks)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(pause);
  }
  return true;
}

/// A thread of the process that makes progress with messages for which nobody else does.
class progress_thread {
 public:
  static progress_thread& of_process() {
    static auto* const one = new progress_thread;  // leaked: the thread goes on until the process ends
    return *one;
  }

  void add(std::shared_ptr<transfer> message, std::function<void()> then) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(runs_, true)) std::thread([this] { run(); }).detach();
    added_.emplace_back(std::move(message), std::move(then));
    changed_.notify_one();
  }

 private:
  using entry = std::pair<std::shared_ptr<transfer>, std::function<void()>>;

  void run() {
    std::vector<entry> entries;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        const auto has_work = [&] { return !added_.empty(); };
        if (entries.empty())
          changed_.wait(lock, has_work);
        else
          changed_.wait_for(lock, std::chrono::microseconds(100), has_work);
        std::ranges::move(std::exchange(added_, {}), std::back_inserter(entries));
      }
      std::erase_if(entries, [](const entry& each) {
        if (!each.first->has_ended()) return false;
        each.second();
        return true;
      });
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<entry> added_;
  bool runs_ = false;
};

}  // namespace

operation_work::operation_work(operation_facts facts, std::vector<at::Tensor> inputs, std::vector<at::Tensor> outputs)
    : Work(facts.rank, facts.type, facts.name, std::move(inputs)),
      facts_(std::move(facts)),
      outputs_(std::move(outputs)) {}

c10::intrusive_ptr<c10::ivalue::Future> operation_work::getFuture() {
  const std::lock_guard lock(future_mutex_);
  if (future_ != nullptr) return future_;
  future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  if (!has_ended_) return future_;
  if (error_)
    future_->setError(error_);
  else
    future_->markCompleted(c10::IValue(outputs_));
  return future_;
}

operation_work::future operation_work::end(std::exception_ptr error) {
  const std::lock_guard lock(future_mutex_);
  has_ended_ = true;
  error_ = std::move(error);
  return future_;
}

void operation_work::announce(const future& asked_for) {
  if (asked_for != nullptr && error_) asked_for->setError(error_);
  if (asked_for != nullptr && !error_) asked_for->markCompleted(c10::IValue(outputs_));
  finish(error_);
}

void operation_work::complete(std::exception_ptr error) {
  {
    const std::lock_guard lock(future_mutex_);
    if (has_ended_) return;
  }
  announce(end(std::move(error)));
}

milliseconds operation_work::limit(milliseconds asked) const {
  constexpr milliseconds longest = std::chrono::hours(24 * 365);
  const milliseconds wanted = asked > milliseconds(0) ? asked : facts_.timeout;
  return wanted > milliseconds(0) ? std::min(wanted, longest) : longest;
}

void operation_work::fail_after(milliseconds time) const {
  TORCH_CHECK_WITH(DistBackendError, false, facts_.name, ", operation ", facts_.number, " of group ", facts_.group,
                   ", has not ended within ", time.count(), " ms on rank ", facts_.rank,
                   "; expected all ranks of the group to call it in that time");
}

bool operation_work::wait(milliseconds timeout) {
  const milliseconds time = limit(timeout);
  std::unique_lock lock(mutex_);
  if (!cv_.wait_for(lock, time, [&] { return completed_; })) fail_after(time);
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

transfer::transfer(group_communicator comm, request in_flight, at::Tensor array, std::shared_ptr<message_status> status)
    : comm_(std::move(comm)), request_(std::move(in_flight)), array_(std::move(array)), status_(std::move(status)) {}

bool transfer::has_ended() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;  // another thread looks
  if (has_ended_) return true;
  try {
    checked([&] { has_ended_ = request_.test(); });
  } catch (...) {
    error_ = std::current_exception();
    has_ended_ = true;
    give_up();
  }
  if (has_ended_) array_.reset();
  return has_ended_;
}

message_work::message_work(operation_facts facts, const at::Tensor& array, std::shared_ptr<transfer> in_flight)
    : operation_work(std::move(facts), {array}, {array}), transfer_(std::move(in_flight)) {}

message_work::~message_work() {
  if (!transfer_->has_ended()) progress_thread::of_process().add(std::move(transfer_), [] {});
}

bool message_work::isCompleted() {
  if (!transfer_->has_ended()) return false;
  complete(transfer_->error());
  return true;
}

c10::intrusive_ptr<c10::ivalue::Future> message_work::getFuture() {
  if (!isCompleted()) {
    auto self = c10::intrusive_ptr<message_work>::reclaim_copy(this);
    progress_thread::of_process().add(transfer_, [self] { self->complete(self->transfer_->error()); });
  }
  return operation_work::getFuture();
}

bool message_work::wait(milliseconds timeout) {
  const milliseconds time = limit(timeout);
  if (!poll_until(clock::now() + time, [&] { return isCompleted(); })) {
    transfer_->give_up();
    fail_after(time);
  }
  return operation_work::wait(timeout);
}

joint_work::joint_work(operation_facts facts, std::vector<c10::intrusive_ptr<c10d::Work>> parts)
    : operation_work(std::move(facts), {}, {}), parts_(std::move(parts)) {}

bool joint_work::isCompleted() {
  return std::ranges::all_of(parts_, [](const auto& each) { return each->isCompleted(); });
}

bool joint_work::wait(milliseconds timeout) {
  for (const auto& each : parts_) each->wait(timeout);
  complete(nullptr);
  return true;
}

c10::intrusive_ptr<c10::ivalue::Future> joint_work::getFuture() {
  c10::List<c10::intrusive_ptr<c10::ivalue::Future>> futures(
      c10::FutureType::create(c10::ListType::create(c10::TensorType::get())));
  for (const auto& each : parts_) futures.push_back(each->getFuture());
  return c10::collectAll(futures);
}

}  // namespace syncyte::torch_binding::process_group
