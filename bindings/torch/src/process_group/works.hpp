// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// c10d's Work: the object by which a caller waits for an operation, asks whether it has ended, or attaches functions to
// its future.

#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "process_group/communicators.hpp"
#include "syncyte/comm.hpp"

namespace syncyte::torch_binding::process_group {

/// An operation's names for messages and profiles, and the timeout of waits that give none.
struct operation_facts {
  c10d::OpType type;
  const char* name;      // as in torch's profiles: "syncyte:all_reduce"
  std::string group;     // the group's name
  int rank;              // in the group
  std::uint64_t number;  // in the group
  std::chrono::milliseconds timeout;
};

/// An operation of a group. It ends once, by complete().
class operation_work : public c10d::Work {
 public:
  operation_work(operation_facts facts, std::vector<at::Tensor> inputs, std::vector<at::Tensor> outputs);

  std::vector<at::Tensor> result() override { return outputs_; }
  std::uint64_t getSequencenumber() const override { return facts_.number; }
  std::chrono::milliseconds getTimeout() const { return facts_.timeout; }  // NOLINT(modernize-use-override): not in 2.6
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

  /// Throws the operation's error, or one that names the operation if it has not ended in time. It goes on then.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;

  using future = c10::intrusive_ptr<c10::ivalue::Future>;

  /// Ends the operation, with its error or null.
  void complete(std::exception_ptr error);

  /// The two parts of complete(): end() returns the future if somebody has asked for it; announce() completes it, which
  /// calls functions that the application has attached, and then lets waits return.
  future end(std::exception_ptr error);
  void announce(const future& asked_for);

 protected:
  /// The time of a wait: this one, the operation's without one, and no more than a clock can count.
  std::chrono::milliseconds limit(std::chrono::milliseconds asked) const;
  [[noreturn]] void fail_after(std::chrono::milliseconds time) const;

 private:
  const operation_facts facts_;
  const std::vector<at::Tensor> outputs_;
  std::mutex future_mutex_;
  future future_;  // made when somebody asks
  bool has_ended_ = false;
  std::exception_ptr error_;
};

/// A message in flight, which may outlive its work.
class transfer {
 public:
  transfer(group_communicator comm, request in_flight, at::Tensor array, std::shared_ptr<message_status> status);

  /// Makes progress, and returns whether the message has ended. Any thread may call it.
  bool has_ended();

  /// Somebody no longer waits for it: it may meet a later group's messages, so that none may use its communicator.
  void give_up() { comm_->is_out_of_step = true; }

  /// Its error or null, and a receive's sender. To be called once it has ended.
  std::exception_ptr error() const { return error_; }
  int source() const { return status_ == nullptr ? -1 : status_->source; }

 private:
  const group_communicator comm_;  // which no other group uses meanwhile
  std::mutex mutex_;
  request request_;
  at::Tensor array_;
  std::shared_ptr<message_status> status_;
  bool has_ended_ = false;
  std::exception_ptr error_;
};

/// A message. Whoever waits or asks makes progress. A thread of the process does so for messages whose future somebody
/// has asked for, and for those that nobody waits for.
class message_work final : public operation_work {
 public:
  message_work(operation_facts facts, const at::Tensor& array, std::shared_ptr<transfer> in_flight);
  ~message_work() override;

  bool isCompleted() override;
  int sourceRank() const override { return transfer_->source(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;

 private:
  std::shared_ptr<transfer> transfer_;
};

/// Several operations that end together.
class joint_work final : public operation_work {
 public:
  joint_work(operation_facts facts, std::vector<c10::intrusive_ptr<c10d::Work>> parts);

  bool isCompleted() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;

 private:
  std::vector<c10::intrusive_ptr<c10d::Work>> parts_;
};

}  // namespace syncyte::torch_binding::process_group
