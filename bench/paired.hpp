// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Paired measurements: ours and a reference alternate in one process, and the result is the ratio of their times.
//
// The speed of a shared machine changes over time. Both times of a ratio are taken one right after the other, so that
// the ratio hardly changes. A row has the median of the rounds' ratios, the smallest and the largest.

#include <functional>
#include <optional>
#include <string>

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
double seconds_of(const std::function<void()>& work);

/// Measures a row and prints it as a line of JSON on rank 0. Each call of ours() and reference() returns a figure,
/// which counts on rank 0. Collective.
void measure_figures(const row& what, const std::function<double()>& ours, const std::function<double()>& reference,
                     int rounds);

/// A figure of each round; round 0 is a warm-up, which does not count.
using round_figure = std::function<double(int round)>;

/// Prints a row of figures that were measured before. Collective.
inline void report_figures(const row& what, const round_figure& ours, const round_figure& reference, int rounds) {
  int our_round = 0, reference_round = 0;
  measure_figures(what, [&] { return ours(our_round++); }, [&] { return reference(reference_round++); }, rounds);
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
