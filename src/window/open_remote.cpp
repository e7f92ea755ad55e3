// SPDX-License-Identifier: BSD-3-Clause
#include "window/open_remote.hpp"

#include <utility>

#include "fabric/group.hpp"
#include "window/fabric_remote.hpp"
#include "window/memory_target.hpp"
#include "window/rma.hpp"

namespace syncyte::window {

std::shared_ptr<remote> open_remote(comm::collective_call& call, std::span<std::byte> mine, std::shared_ptr<void> owner,
                                    row_adder adder) {
  if (auto ranks = fabric::group::of(call))
    return fabric_remote::create(call, std::move(ranks),
                                 std::make_shared<memory_target>(mine, std::move(owner), std::move(adder)));
  return rma::create(call, mine, std::move(owner));
}

}  // namespace syncyte::window
