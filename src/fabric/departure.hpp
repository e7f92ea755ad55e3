// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "fabric/group.hpp"

namespace syncyte::fabric {

/// Lets other processes ask this one whether its rank has departed (comm/departures.hpp).
void serve_departure(engine& of);

/// Asks a rank whether it has departed. A rank in finalize serves requests until all ranks are there.
class departure_question {
 public:
  departure_question(std::shared_ptr<group> ranks, int rank);
  ~departure_question();

  /// The answer, once it is here. Does not wait. Throws SYNCYTE_ERR_PEER_DIED if the rank has died.
  std::optional<bool> answer();

 private:
  class source;
  std::shared_ptr<group> ranks_;
  std::unique_ptr<source> asked_;
  exchange running_;  // destroyed before the request
};

}  // namespace syncyte::fabric
