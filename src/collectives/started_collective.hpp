// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/mover.hpp"
#include "comm/collective_call.hpp"
#include "comm/communicator.hpp"
#include "comm/start_queue.hpp"

namespace syncyte::collectives {

/// The data of a collective. Owns what MPI reads and writes but for contiguous buffers of the caller's.
class data_operation {
 public:
  virtual ~data_operation() = default;
  /// Further agreement before data moves. Only the blocking form calls it: start() refuses classes that override it.
  virtual void compare(comm::collective_call&) {}
  /// The blocking form's elements that travel with the agreement, in place of move(); null for none.
  virtual comm::small_reduction* carried() { return nullptr; }
  /// Moves the data, once all ranks have agreed.
  virtual void move(mover& by) = 0;
  /// Stores the result once the data has been moved.
  virtual void finish() {}
};

/// A non-blocking collective: agreement, then data; if the ranks do not agree, they exchange the reason instead of the
/// data. All but the agreement goes over the communicator of the messages, which carries no other collectives, in the
/// order of the starts. Made by start(); later calls hold the lock of its queue.
class started_collective : public comm::pending_operation, public std::enable_shared_from_this<started_collective> {
 public:
  started_collective(std::shared_ptr<comm::communicator> comm, const char* operation)
      : comm_(std::move(comm)), terms_(*comm_, operation), pending_(*comm_, form::started) {}

  /// Whether it has ended. Throws its error.
  bool test();
  void wait();

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  comm::agreement& terms() { return terms_; }
  void set_operation(std::unique_ptr<data_operation> operation) { operation_ = std::move(operation); }

  // pending_operation
  bool begin(std::uint64_t sequence) override;
  bool advance() override;
  bool is_posted() const override { return stage_ >= stage::moving; }
  bool has_agreed() const override { return is_posted() && !is_off(); }
  bool end_if_done() override;
  void give_up() override;
  std::shared_ptr<void> owner() const override { return comm_; }
  const char* name() const override { return terms_.operation(); }
  std::uint64_t sequence() const override { return sequence_; }
  std::int64_t seen_since(std::int64_t now) override;

 private:
  enum class stage { agreeing, asking_who_failed, moving, telling_error, telling_facts, ended };
  struct failure {
    std::uint32_t error_code;
    std::uint32_t length;  // of the text
  };

  bool is_off() const { return comm_->check() == comm::check_level::off; }
  stage next_stage();
  stage ask_who_failed();
  stage tell_error();
  stage tell_facts();
  void end();
  void fail() noexcept;
  void keep_if_pending() noexcept;

  std::shared_ptr<comm::communicator> comm_;
  comm::agreement terms_;
  std::uint64_t sequence_ = 0;
  stage stage_ = stage::agreeing;
  mover pending_;
  std::unique_ptr<data_operation> operation_;
  std::exception_ptr outcome_;      // null: success
  std::int64_t first_seen_ns_ = 0;  // by the watchdog

  comm::agreement::vote_t vote_{};  // of this rank, then of all
  std::vector<comm::fact_record> records_;
  std::vector<failure> failures_;
  std::vector<std::uint32_t> error_codes_;
  std::string text_;
};

using started_t = std::shared_ptr<started_collective>;

/// Makes a collective's data operation, with everything that can fail on this rank alone.
using operation_maker = std::function<std::unique_ptr<data_operation>(comm::agreement& terms)>;
/// Starts a collective. An error of this rank's is thrown by test() or wait(), once the others are sure to get it. The
/// queue of the communicator keeps the collective until it has ended, also if the caller drops it before.
started_t start_collective(const std::shared_ptr<comm::communicator>& comm, const char* operation,
                           const operation_maker& prepare);

/// Takes part in the agreement of a collective that this rank cannot start; `operation` must stay for ever.
void fail_collective(const std::shared_ptr<comm::communicator>& comm, const char* operation, const base::error& error);

}  // namespace syncyte::collectives
