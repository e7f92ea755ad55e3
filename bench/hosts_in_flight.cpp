// SPDX-License-Identifier: BSD-3-Clause
// Eight gathers from another host in flight at once against eight, one after another. The network delays each packet.

#include "hosts.hpp"
#include "paired.hpp"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::size_t gathers = 8;
constexpr std::int64_t floats = 16, rows_each = 100;

struct gather {
  std::vector<std::int64_t> rows;
  std::vector<float> result = std::vector<float>(rows_each * floats);
};

void run() {
  const whole_table table(floats);
  std::vector<gather> all(gathers);
  for (gather& each : all) each.rows = random_rows(table_rows / 2, table_rows, rows_each);
  const auto in_flight = [&] {
    std::vector<syncyte_request_t> requests;
    for (gather& each : all) requests.push_back(table.start_gather(each.rows, each.result));
    must(syncyte_request_wait_all(gathers, requests.data()));
  };
  const auto one_after_another = [&] {
    for (gather& each : all) table.gather(each.rows, each.result);
  };
  const auto rate = [](const std::function<void()>& work) { return 1e-3 * gathers / seconds_of_first(work); };
  measure_figures(
      {"8 gathers from another host in flight, packets delayed by 1 ms", "k/s", "one after another", "higher", 4.0},
      [&] { return rate(in_flight); }, [&] { return rate(one_after_another); }, 21);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  MPI_Finalize();
}
