// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "comm/collective_call.hpp"
#include "comm/deferred_frees.hpp"
#include "fabric/members.hpp"

namespace syncyte::fabric {

/// The fabric among the ranks of a communicator. It lives until the communicator is freed.
class group final : public comm::collective_resource, public members {
 public:
  /// The group of call's communicator: made by its first object that needs it. Null on all ranks if one of them cannot
  /// use the fabric, for a reason that is logged. Collective; call it after a successful agree(). Each rank sends
  /// O(ranks) bytes, the first time only.
  static std::shared_ptr<group> of(comm::collective_call& call);

  /// Makes the world's group if one rank's SYNCYTE_FABRIC is `start` and the ranks are on several nodes. Collective;
  /// for the start.
  static void open_at_start(comm::communicator& world);

  /// Serves requests for a new object, until targets().remove(). Returns its name, equal on all ranks. Collective; ends
  /// in an agreement: no rank sends a request before all serve, and none serves if the agreement fails.
  object_name add_object(comm::collective_call& call, std::shared_ptr<target> object);

  /// The name that the call of add_object() after so many others will give.
  object_name next_name(int calls) const { return {communicator_, objects_ + 1 + static_cast<std::uint64_t>(calls)}; }

  void free_collectively() noexcept override;

 private:
  group(comm::collective_call& call, engine* through);
  static std::shared_ptr<group> make(comm::collective_call& call);
  void watch_node(const topology::node_group& node);

  const std::uint64_t communicator_;
  std::uint64_t objects_ = 0;
};

}  // namespace syncyte::fabric
