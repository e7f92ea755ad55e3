// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The table of table.hpp in an MPI window: the reference of one MPI_Get per row.

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "table.hpp"

namespace syncyte::bench {

/// The table in a window whose memory MPI allocates.
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

}  // namespace syncyte::bench
