// SPDX-License-Identifier: BSD-3-Clause
// All ranks add to one histogram at the same time: the last digits of square numbers.  mpirun -n 2 ./histogram
#include <cstdint>
#include <iostream>
#include <syncyte/syncyte.hpp>
#include <vector>

constexpr std::int64_t samples = 1000;  // of each rank

int main() try {
  const syncyte::environment environment;  // starts Syncyte, and MPI if needed; ends both at the end of main
  const auto world = syncyte::communicator::world();
  const syncyte::tensor histogram(world, syncyte::dtype::int64, {10, 1});

  std::vector<std::int64_t> digits;
  for (std::int64_t i = world.rank() * samples; i < (world.rank() + 1) * samples; ++i) digits.push_back(i * i % 10);
  histogram.scatter_add(digits, std::vector<std::int64_t>(digits.size(), 1));  // exact: no add is lost
  histogram.sync();                                                            // collective: all adds are complete

  if (world.rank() == 0) {
    const std::vector<std::int64_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    std::cout << "last digits of " << world.size() * samples << " squares:";
    for (const auto count : histogram.gather<std::int64_t>(all)) std::cout << ' ' << count;
    std::cout << '\n';
  }
  return 0;
} catch (const syncyte::error& problem) {
  std::cerr << problem.what() << '\n';
  syncyte::abort(1);  // the whole job: no other rank waits for this one
}
