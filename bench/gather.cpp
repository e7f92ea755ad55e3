// SPDX-License-Identifier: BSD-3-Clause
// Gather of rows of a whole tensor against a load loop over the same mapped memory, and against one MPI_Get per row.

#include <cstdint>
#include <cstring>

#include "mpi_table.hpp"
#include "paired.hpp"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

/// The fastest plain loop: it knows the address of every row, and prefetches each row 16 rows ahead.
void load_loop(const float* table, const std::vector<std::int64_t>& rows, std::vector<float>& result) {
  constexpr std::size_t ahead = 16;
  constexpr std::size_t row_bytes = row_floats * sizeof(float);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + ahead < rows.size()) {
      const auto* next = reinterpret_cast<const char*>(table + rows[i + ahead] * row_floats);
      for (std::size_t line = 0; line < row_bytes; line += 64) __builtin_prefetch(next + line);
    }
    std::memcpy(result.data() + i * row_floats, table + rows[i] * row_floats, row_bytes);
  }
}

void run() {
  const whole_table table;
  auto rows = random_rows();
  std::vector<float> result(batch * row_floats);
  table.gather(rows, result);
  verify(rows, result, "gather");
  const double million_rows = batch * 1e-6;
  const float* mapped = table.rows();
  measure_rate(
      {"gather of 256-byte rows", "Mrow/s", "prefetched load loop", "higher", 0.9}, million_rows,
      [&] { table.gather(rows, result); }, [&] { load_loop(mapped, rows, result); });
  const mpi_table other;
  other.gather(rows, result);
  verify(rows, result, "MPI_Get");
  measure_rate(
      {"gather of 256-byte rows", "Mrow/s", "one MPI_Get per row", "higher", 5.0}, million_rows,
      [&] { table.gather(rows, result); }, [&] { other.gather(rows, result); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
