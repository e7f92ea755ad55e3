// SPDX-License-Identifier: BSD-3-Clause
// Versions of a field: publishing a block with ghosts against copying its memory, and a state that another rank takes,
// computes with and answers against the same computation between two copies.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "paired.hpp"
#include "syncyte.h"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t slots = 2;

void must(syncyte_status_t status) {
  if (status == SYNCYTE_SUCCESS) return;
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  syncyte_abort(1);
}

/// A field with versions, of one block of `rows` x `columns` on each of some ranks.
class field_t {
 public:
  field_t(syncyte_comm_t world, int rank, int first, int ranks, std::int64_t rows, std::int64_t columns, int ghosts)
      : rows_(rows),
        columns_(columns),
        has_block_(rank >= first && rank < first + ranks),
        first_row_((rank - first) * rows) {
    const std::int64_t whole[] = {ranks * rows, columns}, begin[] = {first_row_, 0}, count[] = {rows, columns};
    const std::int64_t given = has_block_ ? 2 : 0;
    syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
    for (const int axis : {0, 1}) options.ghosts_low[axis] = options.ghosts_high[axis] = ghosts;
    syncyte_layout_t cut = nullptr;
    must(syncyte_layout_create_blocks(world, 2, whole, given, begin, given, count, &options, &cut));
    must(syncyte_tensor_create_by_layout(world, SYNCYTE_FLOAT64, cut, slots, nullptr, &versions_));
    syncyte_layout_destroy(&cut);
    const std::int64_t shape[] = {rows + 2 * ghosts, columns + 2 * ghosts};
    values.resize(static_cast<std::size_t>(shape[0] * shape[1]));
    must(syncyte_buffer_init(values.data(), SYNCYTE_FLOAT64, 2, shape, &array_));
  }
  ~field_t() { syncyte_tensor_destroy(&versions_); }
  field_t(const field_t&) = delete;
  field_t& operator=(const field_t&) = delete;

  void publish(std::int64_t step) { must(syncyte_tensor_publish(versions_, has_block_, &array_, step)); }

  /// Takes the first block.
  void take(std::int64_t step, std::vector<double>& to) {
    const std::int64_t lower[] = {0, 0}, shape[] = {rows_, columns_};
    syncyte_buffer_t output;
    std::int64_t found = 0;
    must(syncyte_buffer_init(to.data(), SYNCYTE_FLOAT64, 2, shape, &output));
    must(syncyte_tensor_take(versions_, 2, lower, step, -1.0, &output, &found));
  }

  std::vector<double> values;

 private:
  std::int64_t rows_, columns_;
  bool has_block_;
  std::int64_t first_row_;
  syncyte_tensor_t versions_ = nullptr;
  syncyte_buffer_t array_{};
};

void measure_publish(syncyte_comm_t world, int rank, int size, std::int64_t edge, int repeats,
                     std::optional<double> goal) {
  field_t field(world, rank, 0, size, edge, edge, 2);
  std::fill(field.values.begin(), field.values.end(), 1.0);
  const std::size_t elements = static_cast<std::size_t>(edge * edge);
  std::vector<double> from(elements, 1.0), to(slots * elements);
  std::int64_t step = 0;
  const auto publish = [&] {
    for (int i = 0; i < repeats; ++i) field.publish(++step);
  };
  const auto copy = [&] {
    for (int i = 0; i < repeats; ++i)
      std::memcpy(to.data() + static_cast<std::size_t>(i % slots) * elements, from.data(), elements * sizeof(double));
  };
  publish(), copy();
  const std::string name = "publish a block of " + std::to_string(edge) + " x " + std::to_string(edge) + " float64";
  measure_time({name, "us", "memcpy", "lower", goal}, 1e6 / repeats, publish, copy);
}

/// A computation of a few milliseconds.
void compute(const std::vector<double>& from, std::vector<double>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    double value = from[i];
    for (int layer = 0; layer < 24; ++layer) value = 0.5 * value + 0.25 / (1.0 + value * value);
    to[i] = value;
  }
}

/// Rank 0 publishes 1 MiB, rank 1 computes with it and publishes 1 MiB, which rank 0 takes.
void measure_answer(syncyte_comm_t world, int rank) {
  constexpr std::int64_t rows = 256, columns = 512;
  constexpr int repeats = 20;
  field_t state(world, rank, 0, 1, rows, columns, 0), answer(world, rank, 1, 1, rows, columns, 0);
  std::vector<double> taken(rows * columns), result(rows * columns);
  std::int64_t step = 0;
  const auto ask = [&] {
    for (int i = 0; i < repeats; ++i, ++step) {
      if (rank == 0) {
        state.publish(step);
        answer.take(step, taken);
      } else if (rank == 1) {
        state.take(step, taken);
        compute(taken, answer.values);
        answer.publish(step);
      }
    }
  };
  const auto copy = [&] {
    if (rank != 1) return;
    for (int i = 0; i < repeats; ++i) {
      std::memcpy(taken.data(), state.values.data(), taken.size() * sizeof(double));
      compute(taken, answer.values);
      std::memcpy(result.data(), answer.values.data(), result.size() * sizeof(double));
    }
  };
  ask(), copy();
  measure_time({"publish 1 MiB, compute elsewhere, take 1 MiB", "us", "the computation and 2 memcpy", "lower", 1.2},
               1e6 / repeats, ask, copy);
}

void run() {
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  syncyte_comm_t world = nullptr;
  must(syncyte_comm_world(&world));
  measure_publish(world, rank, size, 1024, 8, 1.2);
  measure_publish(world, rank, size, 64, 400, std::nullopt);
  if (size > 1) measure_answer(world, rank);
  syncyte_comm_destroy(&world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
