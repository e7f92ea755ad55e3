// SPDX-License-Identifier: BSD-3-Clause
// Gather of random rows of another host against one MPI_Get per row.

#include "hosts.hpp"
#include "mpi_table.hpp"
#include "paired.hpp"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t rows_each = 10000;

/// Seconds of MPI_Get on rank 0. The other rank waits inside MPI, which needs its calls for the transfer.
double seconds_of_gets(const mpi_table& table, const std::vector<std::int64_t>& rows, std::vector<float>& result) {
  return seconds_of([&] {
    if (works()) table.gather(rows, result);
    MPI_Barrier(MPI_COMM_WORLD);
  });
}

void run() {
  const whole_table table;
  const mpi_table other;
  auto rows = random_rows(table_rows / 2, table_rows, rows_each);  // of the last rank, asked for by the first
  std::vector<float> result(rows_each * row_floats);
  seconds_of_gets(other, rows, result);
  if (works()) verify(rows, result, "MPI_Get");
  const double million_rows = rows_each * 1e-6;
  measure_figures(
      {"gather of another host's 256-byte rows", "Mrow/s", "one MPI_Get per row", "higher", 10.0},
      [&] { return million_rows / seconds_of_first([&] { table.gather(rows, result); }); },
      [&] { return million_rows / seconds_of_gets(other, rows, result); }, 11);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
