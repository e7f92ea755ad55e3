// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The oracle of optimizers: a table of doubles, updated row by row by the formulas of the papers that src/optim names.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "syncyte/tensor.h"

namespace syncyte::reference {

class slow_optimizer {
 public:
  double lr = 0.1, momentum = 0.0, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;

  slow_optimizer(syncyte_optimizer_t kind, std::int64_t row_elements, std::vector<double> start)
      : values(std::move(start)), first(values.size()), second(values.size()), kind_(kind), row_(row_elements) {}

  /// One step; gradients[i] belongs to row rows[i]. Rows that repeat are updated once, by the sum.
  void step(const std::vector<std::int64_t>& rows, const std::vector<double>& gradients) {
    ++steps_;
    std::map<std::int64_t, std::vector<double>> sums;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto& sum = sums.try_emplace(rows[i], static_cast<std::size_t>(row_)).first->second;
      for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += gradients[i * sum.size() + e];
    }
    for (const auto& [row, sum] : sums)
      for (std::size_t e = 0; e < sum.size(); ++e) update(static_cast<std::size_t>(row * row_) + e, sum[e]);
  }

  std::vector<double> values, first, second;  // one number per element of the table: value, state

 private:
  void update(std::size_t at, double gradient) {
    if (kind_ == SYNCYTE_OPTIMIZER_SGD) {
      first[at] = momentum * first[at] + gradient;
      values[at] -= lr * first[at];
    } else if (kind_ == SYNCYTE_OPTIMIZER_ADAGRAD) {
      first[at] += gradient * gradient;
      values[at] -= lr * gradient / (std::sqrt(first[at]) + eps);
    } else {
      first[at] = beta1 * first[at] + (1 - beta1) * gradient;
      second[at] = beta2 * second[at] + (1 - beta2) * gradient * gradient;
      const double correction1 = 1 - std::pow(beta1, steps_), correction2 = 1 - std::pow(beta2, steps_);
      values[at] -= lr * std::sqrt(correction2) / correction1 * first[at] / (std::sqrt(second[at]) + eps);
    }
  }

  syncyte_optimizer_t kind_;
  std::int64_t row_;
  int steps_ = 0;
};

}  // namespace syncyte::reference
