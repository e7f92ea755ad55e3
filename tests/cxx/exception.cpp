// SPDX-License-Identifier: BSD-3-Clause
// One rank throws an exception while another rank waits for it: the handler prints the exception, and the job ends.

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <syncyte/syncyte.hpp>

namespace {

void work() {
  const syncyte::environment started;
  const auto world = syncyte::communicator::world();
  const syncyte::tensor field(world, syncyte::dtype::float32, std::array<std::int64_t, 2>{4, 1});
  if (world.rank() == world.size() - 1) static_cast<void>(field.owner(std::array<std::int64_t, 1>{99}));
  world.barrier();
}

}  // namespace

int main() {
  try {
    work();
  } catch (const std::exception& caught) {
    std::fprintf(stderr, "caught: %s\n", caught.what());
    return 2;
  }
  return 0;
}
