// SPDX-License-Identifier: BSD-3-Clause
// Relocation of a 256 MiB array of float64 from rows to columns, against MPI_Alltoallw with subarray types, and against
// packing, MPI_Alltoallv and unpacking, written by hand for this case.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "paired.hpp"
#include "syncyte.h"

namespace {

using namespace syncyte::bench;

constexpr int ny = 4096, nx = 8192;

void must(syncyte_status_t status) {
  if (status == SYNCYTE_SUCCESS) return;
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  syncyte_abort(1);
}

using field_t = std::vector<double>;

/// Rows to columns by MPI alone; the extents are multiples of the number of ranks.
class by_hand {
 public:
  explicit by_hand(int size)
      : size_(size),
        rows_(ny / size),
        columns_(nx / size),
        types_from_(static_cast<std::size_t>(size)),
        types_to_(types_from_),
        ones_(static_cast<std::size_t>(size), 1),
        nothing_(static_cast<std::size_t>(size), 0),
        counts_(static_cast<std::size_t>(size), rows_ * columns_),
        offsets_(static_cast<std::size_t>(size)),
        packed_(static_cast<std::size_t>(rows_) * nx),
        arrived_(packed_.size()) {
    const int shape_from[] = {rows_, nx}, shape_to[] = {ny, columns_}, box[] = {rows_, columns_};
    for (int rank = 0; rank < size; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const int first_from[] = {0, rank * columns_}, first_to[] = {rank * rows_, 0};
      MPI_Type_create_subarray(2, shape_from, box, first_from, MPI_ORDER_C, MPI_DOUBLE, &types_from_[at]);
      MPI_Type_create_subarray(2, shape_to, box, first_to, MPI_ORDER_C, MPI_DOUBLE, &types_to_[at]);
      MPI_Type_commit(&types_from_[at]);
      MPI_Type_commit(&types_to_[at]);
      offsets_[at] = rank * rows_ * columns_;
    }
  }

  void by_types(const field_t& from, field_t& to) {
    MPI_Alltoallw(from.data(), ones_.data(), nothing_.data(), types_from_.data(), to.data(), ones_.data(),
                  nothing_.data(), types_to_.data(), MPI_COMM_WORLD);
  }

  void by_packing(const field_t& from, field_t& to) {
    for (int rank = 0; rank < size_; ++rank)
      for (int row = 0; row < rows_; ++row)
        std::copy_n(&from[static_cast<std::size_t>(row) * nx + static_cast<std::size_t>(rank * columns_)], columns_,
                    &packed_[static_cast<std::size_t>(offsets_[static_cast<std::size_t>(rank)] + row * columns_)]);
    MPI_Alltoallv(packed_.data(), counts_.data(), offsets_.data(), MPI_DOUBLE, arrived_.data(), counts_.data(),
                  offsets_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    std::copy(arrived_.begin(), arrived_.end(), to.begin());  // a rank's rows follow each other in the columns
  }

 private:
  int size_, rows_, columns_;
  std::vector<MPI_Datatype> types_from_, types_to_;
  std::vector<int> ones_, nothing_, counts_, offsets_;
  field_t packed_, arrived_;
};

syncyte_layout_t layout(syncyte_comm_t world, std::int32_t size, std::int32_t axis) {
  const std::int64_t cells[] = {ny, nx};
  syncyte_layout_t result = nullptr;
  must(syncyte_layout_create_mesh(world, 2, cells, 1, &size, 0, nullptr, 1, &axis, nullptr, &result));
  return result;
}

syncyte_buffer_t buffer_of(field_t& field, std::int64_t rows, std::int64_t columns) {
  const std::int64_t shape[] = {rows, columns};
  syncyte_buffer_t result;
  must(syncyte_buffer_init(field.data(), SYNCYTE_FLOAT64, 2, shape, &result));
  return result;
}

void run() {
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  syncyte_comm_t world = nullptr;
  must(syncyte_comm_world(&world));
  syncyte_layout_t rows = layout(world, size, 0), columns = layout(world, size, 1);
  field_t from(static_cast<std::size_t>(ny / size) * nx), ours(from.size()), theirs(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = 1e9 * rank + static_cast<double>(i);
  const syncyte_buffer_t source = buffer_of(from, ny / size, nx), target = buffer_of(ours, ny, nx / size);
  by_hand other(size);
  const auto relocate = [&] {
    must(syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, 1, &source, columns, 1, nullptr, &target));
  };
  relocate();
  for (const bool packs : {false, true}) {
    packs ? other.by_packing(from, theirs) : other.by_types(from, theirs);
    if (ours != theirs) {
      std::fprintf(stderr, "the two relocations differ\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  measure_time({"relocation, 256 MiB from rows to columns", "ms", "MPI_Alltoallw with subarrays", "lower", 0.5}, 1e3,
               relocate, [&] { other.by_types(from, theirs); });
  measure_time({"relocation, 256 MiB from rows to columns", "ms", "packing and MPI_Alltoallv", "lower", 1.0}, 1e3,
               relocate, [&] { other.by_packing(from, theirs); });
  syncyte_layout_destroy(&rows);
  syncyte_layout_destroy(&columns);
  syncyte_comm_destroy(&world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
