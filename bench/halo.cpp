// SPDX-License-Identifier: BSD-3-Clause
// Halo exchange against MPI_Isend and MPI_Irecv with packing, written by hand for this case: a 512 x 512 field of
// float64 on a periodic grid of 2 x 1 ranks, two ghost cells wide, corners included.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "paired.hpp"
#include "syncyte.h"

namespace {

using namespace syncyte::bench;

constexpr int width = 2, rows = 512 / 2, columns = 512;  // a rank's interior
constexpr int stored_rows = rows + 2 * width, stored_columns = columns + 2 * width;
constexpr int repeats = 200;  // exchanges a round

void must(syncyte_status_t status) {
  if (status == SYNCYTE_SUCCESS) return;
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  syncyte_abort(1);
}

using field_t = std::vector<double>;

field_t marked_field(int rank) {
  field_t values(stored_rows * stored_columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e6 * rank + static_cast<double>(i);
  return values;
}

/// The exchange by hand: columns wrap round within the rank, then rows of full width go to the other rank.
class by_hand {
 public:
  explicit by_hand(MPI_Comm cart) : cart_(cart) {
    MPI_Cart_shift(cart, 0, 1, &below_, &above_);
    for (auto* each : {&up_, &down_, &from_below_, &from_above_}) each->resize(width * stored_columns);
  }

  void exchange(double* field) {
    MPI_Request requests[4];
    const int count = width * stored_columns;
    MPI_Irecv(from_below_.data(), count, MPI_DOUBLE, below_, 0, cart_, &requests[0]);
    MPI_Irecv(from_above_.data(), count, MPI_DOUBLE, above_, 1, cart_, &requests[1]);
    for (int i = 0; i < stored_rows; ++i) {
      double* row = field + i * stored_columns;
      for (int j = 0; j < width; ++j) {
        row[j] = row[columns + j];
        row[width + columns + j] = row[width + j];
      }
    }
    std::copy_n(field + rows * stored_columns, count, up_.data());
    std::copy_n(field + width * stored_columns, count, down_.data());
    MPI_Isend(up_.data(), count, MPI_DOUBLE, above_, 0, cart_, &requests[2]);
    MPI_Isend(down_.data(), count, MPI_DOUBLE, below_, 1, cart_, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    std::copy_n(from_below_.data(), count, field);
    std::copy_n(from_above_.data(), count, field + (width + rows) * stored_columns);
  }

 private:
  MPI_Comm cart_;
  int below_ = 0, above_ = 0;
  std::vector<double> up_, down_, from_below_, from_above_;
};

/// Ends the job unless both exchanges have filled the same ghosts.
void verify(const field_t& ours, const field_t& reference) {
  if (ours == reference) return;
  std::fprintf(stderr, "the two halo exchanges differ\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void run() {
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::int32_t grid[] = {size, 1}, periods[] = {1, 1};
  const std::int64_t shape[] = {stored_rows, stored_columns}, widths[] = {width, width};
  syncyte_comm_t world = nullptr, cart = nullptr;
  syncyte_halo_t halo = nullptr;
  must(syncyte_comm_world(&world));
  must(syncyte_cart_create(world, 2, grid, 2, periods, nullptr, &cart));
  must(syncyte_halo_create(cart, SYNCYTE_FLOAT64, 2, shape, 2, widths, 2, widths, 0, nullptr, nullptr, &halo));
  field_t ours = marked_field(rank), reference = marked_field(rank);
  syncyte_buffer_t array;
  must(syncyte_buffer_init(ours.data(), SYNCYTE_FLOAT64, 2, shape, &array));
  MPI_Comm mpi_cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid, periods, 0, &mpi_cart);
  by_hand other(mpi_cart);
  must(syncyte_halo_exchange(halo, &array));
  other.exchange(reference.data());
  verify(ours, reference);
  const auto exchange = [&] {
    for (int i = 0; i < repeats; ++i) must(syncyte_halo_exchange(halo, &array));
  };
  const auto exchange_by_hand = [&] {
    for (int i = 0; i < repeats; ++i) other.exchange(reference.data());
  };
  measure_time({"halo exchange, 512 x 512 float64, width 2", "us", "hand-written MPI_Isend/Irecv", "lower", 1.2},
               1e6 / repeats, exchange, exchange_by_hand);
  MPI_Comm_free(&mpi_cart);
  syncyte_halo_destroy(&halo);
  syncyte_comm_destroy(&cart);
  syncyte_comm_destroy(&world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
