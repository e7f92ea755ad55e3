// Gather of rows of a whole tensor against a load loop over the same mapped memory, and against one MPI_Get per row.

#include <cstring>

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

/// The same table in an MPI window whose memory MPI allocates.
class mpi_table {
 public:
  mpi_table() {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    per_rank_ = (table_rows + size - 1) / size;
    float* local = nullptr;
    MPI_Win_allocate(per_rank_ * row_floats * static_cast<MPI_Aint>(sizeof(float)), sizeof(float), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &local, &window_);
    for (std::int64_t i = 0; i < per_rank_ * row_floats; ++i) local[i] = mark(rank * per_rank_ + i / row_floats);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~mpi_table() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  mpi_table(const mpi_table&) = delete;
  mpi_table& operator=(const mpi_table&) = delete;

  void gather(const std::vector<std::int64_t>& rows, std::vector<float>& result) const {
    for (std::size_t i = 0; i < rows.size(); ++i)
      MPI_Get(result.data() + i * row_floats, row_floats, MPI_FLOAT, static_cast<int>(rows[i] / per_rank_),
              (rows[i] % per_rank_) * row_floats, row_floats, MPI_FLOAT, window_);
    MPI_Win_flush_all(window_);
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::int64_t per_rank_ = 0;
};

void run() {
  const whole_table table;
  auto rows = random_rows();
  std::vector<float> result(batch * row_floats);
  table.gather(rows, result);
  verify(rows, result, "gather");
  const double million_rows = batch * 1e-6;
  const float* mapped = table.rows();
  measure_rate(
      {"gather of 256-byte rows", "Mrow/s", "prefetched load loop", "higher", 0.8}, million_rows,
      [&] { table.gather(rows, result); }, [&] { load_loop(mapped, rows, result); });
  const mpi_table other;
  other.gather(rows, result);
  verify(rows, result, "MPI_Get");
  measure_rate(
      {"gather of 256-byte rows", "Mrow/s", "one MPI_Get per row", "higher", 2.0}, million_rows,
      [&] { table.gather(rows, result); }, [&] { other.gather(rows, result); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
