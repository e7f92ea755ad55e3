#include "window/open_remote.hpp"

#include <utility>

#include "window/rma.hpp"

namespace syncyte::window {

std::shared_ptr<remote> open_remote(comm::collective_call& call, std::span<std::byte> mine, std::shared_ptr<void> owner,
                                    [[maybe_unused]] row_adder adder) {
  return rma::create(call, mine, std::move(owner));
}

}  // namespace syncyte::window
