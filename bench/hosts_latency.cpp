// SPDX-License-Identifier: BSD-3-Clause
// Between hosts: the time of one short row and of a small allreduce, and the processor time of an idle fabric.

#include <dirent.h>

#include <cstdint>
#include <fstream>

#include "hosts.hpp"
#include "paired.hpp"
#include "raw_ucx.hpp"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

void measure_row() {
  constexpr std::int64_t floats = 16;
  constexpr int times = 500;
  const whole_table table(floats);
  auto row = random_rows(table_rows / 2, table_rows, 1);
  std::vector<float> result(floats);
  raw_ucx other(floats * sizeof(float));
  const auto compare = [&](const char* name, std::optional<double> goal, double quantile) {
    const auto microseconds = [=](const std::function<void()>& call) {
      return 1e6 * quantile_of_first(quantile, times, call);
    };
    measure_figures(
        {name, "us", "UCX request to a sleeping thread", "lower", goal},
        [&] { return microseconds([&] { table.gather(row, result); }); },
        [&] { return microseconds([&] { other.ask(std::as_writable_bytes(std::span(result))); }); }, 11);
  };
  compare("gather of one 64-byte row of another host, median", 1.5, 0.5);
  compare("gather of one 64-byte row of another host, 99th percentile", std::nullopt, 0.99);
}

void measure_allreduce(syncyte_comm_t comm, const char* name, std::optional<double> goal) {
  constexpr int times = 500;
  const std::int64_t one = 1;
  double mine = 1.0, sum = 0.0;
  syncyte_buffer_t input, output;
  must(syncyte_buffer_init(&mine, SYNCYTE_FLOAT64, 1, &one, &input));
  must(syncyte_buffer_init(&sum, SYNCYTE_FLOAT64, 1, &one, &output));
  const auto ours = [&] {
    for (int i = 0; i < times; ++i) must(syncyte_comm_allreduce(comm, &input, SYNCYTE_OP_SUM, nullptr, &output));
  };
  const auto reference = [&] {
    for (int i = 0; i < times; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  };
  measure_time({name, "us", "MPI_Allreduce", "lower", goal}, 1e6 / times, ours, reference);
}

void measure_allreduces() {
  syncyte_comm_t world = nullptr, unchecked = nullptr;
  must(syncyte_comm_world(&world));
  syncyte_comm_options_t options = SYNCYTE_COMM_OPTIONS_INIT;
  options.check = 0;
  must(syncyte_comm_dup(world, &options, &unchecked));
  measure_allreduce(unchecked, "allreduce of 8 B between hosts, SYNCYTE_CHECK=off", 1.3);
  measure_allreduce(world, "allreduce of 8 B between hosts, SYNCYTE_CHECK=on", 1.3);
  must(syncyte_comm_destroy(&unchecked));
  must(syncyte_comm_destroy(&world));
}

/// Processor seconds of this process's threads with the fabric's name.
double fabric_seconds() {
  const std::string tasks = "/proc/self/task/";
  double nanoseconds = 0.0;
  DIR* const folder = ::opendir(tasks.c_str());
  while (const dirent* const entry = ::readdir(folder)) {
    std::string name;
    double used = 0.0;
    std::ifstream(tasks + entry->d_name + "/comm") >> name;
    std::ifstream(tasks + entry->d_name + "/schedstat") >> used;
    if (name == "syncyte-fabric") nanoseconds += used;
  }
  ::closedir(folder);
  return nanoseconds * 1e-9;
}

/// Share of a core that the fabric of the busiest process takes while all are idle.
double idle_share() {
  constexpr int seconds = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  double used = fabric_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  used = fabric_seconds() - used;
  MPI_Allreduce(MPI_IN_PLACE, &used, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return used / seconds;
}

void run() {
  measure_row();
  measure_allreduces();
  const whole_table table;
  measure_figures(
      {"processor time of the idle fabric", "cores", "one core", "lower", 0.01}, idle_share, [] { return 1.0; }, 2);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
