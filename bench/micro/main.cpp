// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>

#include "micro.hpp"
#include "table.hpp"

namespace syncyte::bench {
namespace {

std::byte* memory() {
  static const auto both = std::make_unique<std::byte[]>(2 * half_bytes);
  return both.get();
}

}  // namespace

std::byte* first_half() { return memory(); }
std::byte* second_half() { return memory() + half_bytes; }

double renew_memory() {
  std::memset(first_half(), 0x3c, half_bytes);  // 0x3c3c is 1.06 as float16, 0.0115 as bfloat16
  double seconds = 1e9;
  for (int turn = 0; turn < 2; ++turn) {
    const std::clock_t begin = std::clock();
    std::memcpy(second_half(), first_half(), half_bytes);
    benchmark::ClobberMemory();
    seconds = std::min(seconds, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return 2 * half_bytes / seconds;
}

}  // namespace syncyte::bench

int main(int argc, char** argv) {
  using namespace syncyte::bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  must(syncyte_init(nullptr));
  renew_memory();
  benchmark::RunSpecifiedBenchmarks();
  MPI_Finalize();
}
