// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "memory/scratch.hpp"
#include "window/remote.hpp"

namespace syncyte::tensor {

/// Parts of a box at owners whose memory is not mapped here, with packed memory for them. Transferred in rounds, so
/// that this takes little memory.
class box_transfer final : public access::transfer {
 public:
  /// One owner's pieces of the box.
  struct part {
    int owner;
    std::size_t piece_bytes;
    std::vector<std::size_t> offsets;  // of the pieces in the owner's memory
    memory::scratch packed;
    std::function<void(std::byte*)> unpack;  // copies the packed elements to the caller's memory; only for a get
  };

  static constexpr std::size_t one_round = std::numeric_limits<std::size_t>::max();

  /// `operation`: its name in messages. `remote` may be null if there are no parts. `op`: of an add. A round has about
  /// `most_bytes`.
  box_transfer(const char* operation, window::remote* remote, window::row_access what, syncyte_op_t op,
               std::size_t most_bytes)
      : operation_(operation), remote_(remote), what_(what), op_(op), most_bytes_(most_bytes), room_(most_bytes) {}

  /// Number of rows, of so many bytes each, that still fit the round; at least 1.
  std::int64_t room_for(std::size_t row_bytes) const {
    return static_cast<std::int64_t>(std::clamp<std::size_t>(room_ / row_bytes, 1, INT64_MAX));
  }
  /// Adds a part of so many bytes; transfers the round once it is full.
  void add(part one, std::size_t bytes);

  /// Starts the transfer of the last round. Null: it has ended.
  static std::unique_ptr<box_transfer> start(std::unique_ptr<box_transfer> all);

  bool test() override;
  void wait() override;
  void drive() override {
    if (in_flight_) in_flight_->drive();
  }

 private:
  void begin();
  void finish();

  const char* operation_;
  window::remote* remote_;
  window::row_access what_;
  syncyte_op_t op_;
  std::size_t most_bytes_;
  std::size_t room_;                             // bytes that still fit the round
  std::vector<part> parts_;                      // of the round
  std::unique_ptr<access::transfer> in_flight_;  // destroyed before the parts
};

}  // namespace syncyte::tensor
