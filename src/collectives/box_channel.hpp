// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distribution/passage.hpp"

namespace syncyte::collectives {

/// Boxes that travel together.
struct box_message {
  std::int64_t elements = 0;
  std::vector<distribution::shipment> boxes;
};

/// The boxes that go from this rank to a peer, or come from it, one message after the other. Both ranks cut them in the
/// same way.
class box_channel {
 public:
  /// `boxes` must stay. A message has at most `most` elements, 1 or more.
  box_channel(std::span<const distribution::shipment> boxes, std::int64_t most) : boxes_(boxes), most_(most) {}

  int peer() const { return boxes_.front().peer; }
  /// The next message; empty after the last one.
  box_message next();

 private:
  std::span<const distribution::shipment> boxes_;
  std::int64_t most_;
  std::size_t box_ = 0;     // the next one
  std::int64_t piece_ = 0;  // of this box, the next one
};

/// A channel for each peer but this rank itself; `all` is in order of peers.
std::vector<box_channel> channels_of(std::span<const distribution::shipment> all, int rank, std::int64_t most);

}  // namespace syncyte::collectives
