// SPDX-License-Identifier: BSD-3-Clause
// Gather of random rows of another host against one contiguous message of as many bytes, through UCX without Syncyte.

#include "hosts.hpp"
#include "paired.hpp"
#include "raw_ucx.hpp"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

void run() {
  const whole_table table;
  auto rows = random_rows(table_rows / 2, table_rows);  // of the last rank, asked for by the first
  std::vector<float> result(batch * row_floats);
  const std::size_t bytes = result.size() * sizeof(float);
  raw_ucx other(bytes);
  on_first([&] {
    table.gather(rows, result);
    verify(rows, result, "gather");
    return 0.0;
  });
  const auto megabytes_per_second = [&](const std::function<void()>& work) {
    return static_cast<double>(bytes) * 1e-6 / seconds_of_first(work);
  };
  const std::optional<double> goal = link_rate() > 0 ? std::optional<double>(0.9) : std::nullopt;
  measure_figures(
      {"gather of another host's 256-byte rows, " + link_name(), "MB/s", "one contiguous UCX message", "higher", goal},
      [&] { return megabytes_per_second([&] { table.gather(rows, result); }); },
      [&] { return megabytes_per_second([&] { other.ask(std::as_writable_bytes(std::span(result))); }); }, 11);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
