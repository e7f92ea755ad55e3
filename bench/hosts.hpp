// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Measurements between two hosts, one rank on each: rank 0 works, rank 1 serves it.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace syncyte::bench {

inline bool works() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

/// Calls figure() on rank 0 and returns its result on all ranks. Other ranks sleep meanwhile: a thread that polls takes
/// processor time from those that serve. Collective.
inline double on_first(const std::function<double()>& figure) {
  MPI_Barrier(MPI_COMM_WORLD);
  double result = works() ? figure() : 0.0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return result;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

inline double seconds_of_first(const std::function<void()>& work) {
  return on_first([&] {
    const double begin = MPI_Wtime();
    work();
    return MPI_Wtime() - begin;
  });
}

/// Seconds of one of `times` calls on rank 0: the quantile, 0.5 for the median. Collective.
inline double quantile_of_first(double quantile, int times, const std::function<void()>& call) {
  return on_first([&] {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) {
      const double begin = MPI_Wtime();
      call();
      seconds.push_back(MPI_Wtime() - begin);
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[static_cast<std::size_t>(quantile * (times - 1))];
  });
}

/// Rate of the hosts' links in Mbit/s; 0: not limited.
inline double link_rate() {
  const char* rate = std::getenv("SYNCYTE_BENCH_RATE");
  return rate == nullptr ? 0.0 : std::atof(rate);
}

/// "link of 2 Gbit/s".
inline std::string link_name() {
  if (link_rate() == 0.0) return "unlimited link";
  std::string gigabits = std::to_string(link_rate() / 1000);
  gigabits.erase(gigabits.find_last_not_of(".0") + 1);
  return "link of " + gigabits + " Gbit/s";
}

}  // namespace syncyte::bench
