// SPDX-License-Identifier: BSD-3-Clause
// Halos of four fields of a grid, two at cells and two at nodes, 512 x 512 cells of float64, two ghosts wide, cut into
// rows: one bundle against messages written by hand for this case, and against a bundle for each field.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "paired.hpp"
#include "syncyte.h"

namespace {

using namespace syncyte::bench;

constexpr int width = 2, cells = 512, fields = 4;
constexpr int repeats = 200;  // exchanges a round

void must(syncyte_status_t status) {
  if (status == SYNCYTE_SUCCESS) return;
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  syncyte_abort(1);
}

/// One rank's array of a field: its stored points, and ghosts around them.
struct field_t {
  int rows, columns, shared;  // stored; shared: 1 for nodes, whose neighbours have a row in common
  std::vector<double> values;

  field_t(int rank, int size, int shared_rows)
      : rows(cells / size + shared_rows),
        columns(cells + shared_rows),
        shared(shared_rows),
        values(static_cast<std::size_t>((rows + 2 * width) * stride())) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e6 * rank + static_cast<double>(i);
  }

  int stride() const { return columns + 2 * width; }
  /// The first stored point of a row; -width is the first row of ghosts.
  double* row(int number) { return values.data() + (number + width) * stride() + width; }
};

std::vector<field_t> fields_of(int rank, int size) {
  std::vector<field_t> result;
  for (int number = 0; number < fields; ++number) result.emplace_back(rank, size, number % 2);
  return result;
}

/// Rows of all fields in one message to each neighbour.
class by_hand {
 public:
  by_hand(int rank, int size) : below_(rank - 1), above_(rank + 1) {
    if (rank == 0) below_ = MPI_PROC_NULL;
    if (rank == size - 1) above_ = MPI_PROC_NULL;
    for (auto* each : {&up_, &down_, &from_below_, &from_above_}) each->resize(fields * width * (cells + 1));
  }

  void exchange(std::vector<field_t>& all) {
    std::array<MPI_Request, 4> requests{};
    const int most = static_cast<int>(up_.size());
    MPI_Irecv(from_below_.data(), most, MPI_DOUBLE, below_, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_above_.data(), most, MPI_DOUBLE, above_, 1, MPI_COMM_WORLD, &requests[1]);
    int count = 0;
    for (field_t& each : all)
      for (int i = 0; i < width; ++i, count += each.columns) {
        std::copy_n(each.row(each.rows - each.shared - width + i), each.columns, up_.data() + count);
        std::copy_n(each.row(each.shared + i), each.columns, down_.data() + count);
      }
    MPI_Isend(up_.data(), count, MPI_DOUBLE, above_, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(down_.data(), count, MPI_DOUBLE, below_, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    count = 0;
    for (field_t& each : all)
      for (int i = 0; i < width; ++i, count += each.columns) {
        if (below_ != MPI_PROC_NULL) std::copy_n(from_below_.data() + count, each.columns, each.row(i - width));
        if (above_ != MPI_PROC_NULL) std::copy_n(from_above_.data() + count, each.columns, each.row(each.rows + i));
      }
  }

 private:
  int below_, above_;
  std::vector<double> up_, down_, from_below_, from_above_;
};

syncyte_layout_t layout(syncyte_comm_t world, std::int32_t size, int shared) {
  const std::int64_t whole[] = {cells, cells};
  const std::int32_t axis = 0;
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  for (const int each : {0, 1}) {
    options.ghosts_low[each] = options.ghosts_high[each] = width;
    options.shared[each] = shared;
  }
  syncyte_layout_t result = nullptr;
  must(syncyte_layout_create_mesh(world, 2, whole, 1, &size, 0, nullptr, 1, &axis, &options, &result));
  return result;
}

void add(syncyte_bundle_t bundle, const std::string& name, syncyte_layout_t cut, field_t& field) {
  const std::int64_t shape[] = {field.rows + 2 * width, field.stride()};
  syncyte_buffer_t array;
  must(syncyte_buffer_init(field.values.data(), SYNCYTE_FLOAT64, 2, shape, &array));
  must(syncyte_bundle_add(bundle, name.c_str(), cut, SYNCYTE_FLOAT64, 1, &array));
}

void verify(std::vector<field_t>& ours, std::vector<field_t>& theirs) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].values == theirs[i].values) continue;
    std::fprintf(stderr, "the exchanges of field %zu differ\n", i);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void run() {
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  syncyte_comm_t world = nullptr;
  must(syncyte_comm_world(&world));
  std::array<syncyte_layout_t, 2> layouts = {layout(world, size, 0), layout(world, size, 1)};
  std::vector<field_t> ours = fields_of(rank, size), singly = ours, theirs = ours;
  syncyte_bundle_t together = nullptr;
  std::array<syncyte_bundle_t, fields> single{};
  must(syncyte_bundle_create(world, &together));
  for (std::size_t number = 0; number < fields; ++number) {
    must(syncyte_bundle_create(world, &single[number]));
    add(together, "field " + std::to_string(number), layouts[number % 2], ours[number]);
    add(single[number], "field", layouts[number % 2], singly[number]);
  }
  by_hand other(rank, size);
  const auto exchange = [&] {
    for (int i = 0; i < repeats; ++i) must(syncyte_bundle_exchange(together, 0, 0, nullptr));
  };
  const auto exchange_singly = [&] {
    for (int i = 0; i < repeats; ++i)
      for (syncyte_bundle_t each : single) must(syncyte_bundle_exchange(each, 0, 0, nullptr));
  };
  const auto exchange_by_hand = [&] {
    for (int i = 0; i < repeats; ++i) other.exchange(theirs);
  };
  exchange(), exchange_singly(), exchange_by_hand();
  verify(ours, theirs);
  verify(singly, theirs);
  const char* const name = "halos of 4 fields, 512 x 512 float64, width 2";
  measure_time({name, "us", "hand-written MPI_Isend/Irecv", "lower", 1.1}, 1e6 / repeats, exchange, exchange_by_hand);
  measure_time({name, "us", "a bundle for each field", "lower", 0.6}, 1e6 / repeats, exchange, exchange_singly);
  for (syncyte_bundle_t& each : single) syncyte_bundle_destroy(&each);
  syncyte_bundle_destroy(&together);
  for (syncyte_layout_t& each : layouts) syncyte_layout_destroy(&each);
  syncyte_comm_destroy(&world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
