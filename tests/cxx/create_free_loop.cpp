// SPDX-License-Identifier: BSD-3-Clause
// Creates, uses and frees tensors, windows and communicators in an endless loop. tests/support/kill_loop.py kills it
// and looks for leftovers.

#include <cstdio>
#include <syncyte/syncyte.hpp>
#include <vector>

namespace {

void create_and_free(const syncyte::communicator& world, std::int64_t round) {
  const std::int64_t rows = 100 + 5000 * (round % 7);
  const syncyte::tensor table(world, syncyte::dtype::float32, {rows, 64});
  const syncyte::window window(world, 4096);
  const syncyte::communicator copy = world.dup();
  const std::vector<std::int64_t> index{0, rows - 1, rows / 2};
  table.scatter_add(index, std::vector<float>(3 * 64, 1.0F));
  window.accumulate(0, 0, std::vector<std::int64_t>{1});
  table.sync();
  static_cast<void>(table.gather<float>(index));
}

}  // namespace

int main() {
  const syncyte::environment environment;
  const auto world = syncyte::communicator::world();
  create_and_free(world, 0);
  std::puts("ready");
  std::fflush(stdout);
  for (std::int64_t round = 1;; ++round) create_and_free(world, round);
}
