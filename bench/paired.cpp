// SPDX-License-Identifier: BSD-3-Clause
#include "paired.hpp"

#include <mpi.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

namespace syncyte::bench {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work();
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

void measure_figures(const row& what, const std::function<double()>& ours, const std::function<double()>& reference,
                     int rounds) {
  ours();  // warm-up
  reference();
  std::vector<double> our_figures, reference_figures, ratios;
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) our_figures.push_back(ours());
    reference_figures.push_back(reference());
    if (round % 2 == 1) our_figures.push_back(ours());
    ratios.push_back(our_figures.back() / reference_figures.back());
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  nlohmann::json line{{"name", what.name},
                      {"unit", what.unit},
                      {"ours", median(our_figures)},
                      {"reference", median(reference_figures)},
                      {"reference_name", what.reference_name},
                      {"ratio", median(ratios)},
                      {"ratio_min", *std::min_element(ratios.begin(), ratios.end())},
                      {"ratio_max", *std::max_element(ratios.begin(), ratios.end())},
                      {"rounds", rounds},
                      {"better", what.better}};
  line["goal"] = what.goal ? nlohmann::json(*what.goal) : nlohmann::json();
  std::cout << line.dump() << std::endl;
}

}  // namespace syncyte::bench
