// SPDX-License-Identifier: BSD-3-Clause
// A user's program in C++: a whole tensor, of which every rank reads its right neighbour's row.
#include <array>
#include <cstdint>
#include <iostream>
#include <syncyte/syncyte.hpp>

int main() try {
  const syncyte::environment environment;
  const auto world = syncyte::communicator::world();
  {
    const syncyte::tensor table(world, syncyte::dtype::float64, {world.size(), 4});
    for (double& value : table.local<double>()) value = world.rank();
    world.barrier();
    const std::array<std::int64_t, 1> neighbour{(world.rank() + 1) % world.size()};
    for (const double value : table.gather<double>(neighbour)) {
      if (value != static_cast<double>(neighbour[0])) return 1;
    }
    world.barrier();
  }
  if (world.rank() == 0) std::cout << "consumer: " << world.size() << " ranks read each other's rows\n";
  return 0;
} catch (const syncyte::error& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
