// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "access/transfer.hpp"
#include "base/error.hpp"
#include "fabric/members.hpp"

namespace syncyte::access {

/// Requests to ranks whose memory is not mapped here. Each is in flight from its add() on; they overlap.
class owners_transfer final : public transfer {
 public:
  /// `operation`: its name in messages, a string literal.
  /// `in`, if not null: ranks process the operation after those that began earlier in this stream.
  owners_transfer(std::shared_ptr<fabric::members> ranks, const char* operation, fabric::stream* in = nullptr)
      : ranks_(std::move(ranks)), operation_(operation), running_(ranks_->begin(in)) {}

  void add(int owner, std::unique_ptr<fabric::request_source> requests) {
    running_.add(ranks_->at(owner), *sources_.emplace_back(std::move(requests)));
  }
  /// To be called if the local part of the operation has failed: the transfer throws `error` at its end.
  void fail(base::error error) { error_ = std::move(error); }

  void drive() override { running_.drive(); }
  bool test() override;
  void wait() override;
  bool add_last_step(last_step& step) override;

 private:
  void throw_error() const {
    if (error_) throw *error_;
  }

  std::shared_ptr<fabric::members> ranks_;
  const char* operation_;
  std::vector<std::unique_ptr<fabric::request_source>> sources_;
  std::optional<base::error> error_;
  fabric::exchange running_;  // destroyed before the sources
};

}  // namespace syncyte::access
