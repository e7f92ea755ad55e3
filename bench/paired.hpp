#pragma once
// Paired measurements: ours and a reference alternate in one process, and the result is the ratio of their times.
//
// The speed of a shared machine changes over time. Both times of a ratio are taken one right after the other, so that
// the ratio hardly changes. A row has the median of the rounds' ratios, the smallest and the largest.

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace syncyte::bench {

/// One row of report.json, before it is measured.
struct row {
  std::string name;
  std::string unit;
  std::string reference_name;
  std::string better;          // "higher" or "lower"
  std::optional<double> goal;  // of the ratio; none: informative
};

/// Seconds of a collective piece of work: from a barrier to the slowest rank's end.
inline double seconds_of(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work();
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Measures a row and prints it as a line of JSON on rank 0. Each call of ours() and reference() returns a figure,
/// which counts on rank 0. Collective.
inline void measure_figures(const row& what, const std::function<double()>& ours,
                            const std::function<double()>& reference, int rounds) {
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

/// Does what measure_figures() does, for work of all ranks. figure(seconds) returns the row's figure. Collective.
template <class Figure>
void measure(const row& what, Figure&& figure, const std::function<void()>& ours,
             const std::function<void()>& reference, int rounds) {
  measure_figures(
      what, [&] { return figure(seconds_of(ours)); }, [&] { return figure(seconds_of(reference)); }, rounds);
}

/// A row whose figures are `amount` of work per second, in the row's unit. Collective.
inline void measure_rate(const row& what, double amount, const std::function<void()>& ours,
                         const std::function<void()>& reference, int rounds = 11) {
  measure(what, [=](double seconds) { return amount / seconds; }, ours, reference, rounds);
}

/// A row whose figures are times: seconds times `scale`, in the row's unit. Collective.
inline void measure_time(const row& what, double scale, const std::function<void()>& ours,
                         const std::function<void()>& reference, int rounds = 11) {
  measure(what, [=](double seconds) { return seconds * scale; }, ours, reference, rounds);
}

}  // namespace syncyte::bench
