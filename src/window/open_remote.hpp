// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "comm/collective_call.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

/// Opens `mine` on all ranks to each other. Collective; ends in an agreement. Throws SYNCYTE_ERR_UNSUPPORTED on all
/// ranks where they have no one-sided communication. `owner` keeps the memory and is held until the resource is freed.
/// `adder` is called until then; it may be empty if no rank calls add_rows().
std::shared_ptr<remote> open_remote(comm::collective_call& call, std::span<std::byte> mine, std::shared_ptr<void> owner,
                                    row_adder adder);

}  // namespace syncyte::window
