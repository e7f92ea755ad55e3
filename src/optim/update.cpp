// SPDX-License-Identifier: BSD-3-Clause
#include "optim/update.hpp"

#include <cmath>
#include <cstring>

#include "base/dtype.hpp"
#include "base/ops.hpp"

namespace syncyte::optim {
namespace {

template <class T>
number_of<T> load(const std::byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof value, sizeof value);
  return static_cast<number_of<T>>(value);
}

template <class T>
void store(std::byte* to, std::size_t i, number_of<T> number) {
  const T value(number);
  std::memcpy(to + i * sizeof value, &value, sizeof value);
}

template <template <class> class Optimizer, class T>
void update(const step& by, const row_part& row) {
  using number = number_of<T>;
  const Optimizer<number> optimizer(by);
  std::byte* __restrict const values = row.values;
  const std::byte* __restrict const gradient = row.gradient;
  number* __restrict const first = reinterpret_cast<number*>(row.state);
  number* __restrict const second = first + row.slot_elements;
  const std::size_t elements = row.elements;  // a copy: stores to values might change the member
  for (std::size_t i = 0; i < elements; ++i) {
    const number change = change_of(optimizer, load<T>(gradient, i), first + i, second + i);
    store<T>(values, i, load<T>(values, i) - change);
  }
}

template <template <class> class Optimizer>
update_function update_of(syncyte_dtype_t values) {
  return base::visit_dtype(values, []<class T>(base::type_tag<T>) -> update_function {
    if constexpr (std::is_floating_point_v<T> || base::is_half<T>)
      return update<Optimizer, T>;
    else
      return nullptr;
  });
}

/// Calls visit.operator()<Optimizer>() for the formula of a rule.
template <class Visitor>
auto visit_optimizer(const rule& by, Visitor&& visit) {
  static_assert(base::known::optimizer::last == SYNCYTE_OPTIMIZER_ADAM, "a new optimizer needs a line here");
  if (by.optimizer == SYNCYTE_OPTIMIZER_ADAM) return visit.template operator()<adam>();
  if (by.optimizer == SYNCYTE_OPTIMIZER_ADAGRAD) return visit.template operator()<adagrad>();
  return by.momentum > 0.0 ? visit.template operator()<momentum_sgd>() : visit.template operator()<sgd>();
}

bool is_fraction(double number) { return number >= 0.0 && number < 1.0; }

}  // namespace

void check(const rule& by) {
  base::expect_known<base::known::optimizer>(by.optimizer, "optimizer");
  base::expect(by.lr >= 0.0 && std::isfinite(by.lr), SYNCYTE_ERR_ARGUMENT, "lr", by.lr, "0 or more");
  base::expect(is_fraction(by.momentum), SYNCYTE_ERR_ARGUMENT, "options->momentum", by.momentum, "0 to less than 1");
  base::expect(is_fraction(by.beta1), SYNCYTE_ERR_ARGUMENT, "options->beta1", by.beta1, "0 to less than 1");
  base::expect(is_fraction(by.beta2), SYNCYTE_ERR_ARGUMENT, "options->beta2", by.beta2, "0 to less than 1");
  base::expect(by.eps >= 0.0 && std::isfinite(by.eps), SYNCYTE_ERR_ARGUMENT, "options->eps", by.eps, "0 or more");
}

void check(syncyte_dtype_t values) {
  if (update_of<sgd>(values) == nullptr)
    base::refuse(SYNCYTE_ERR_TYPE, {.object = "the tensor",
                                    .argument = "dtype",
                                    .value = base::dtype_name(values),
                                    .expected = "float16, bfloat16, float32 or float64, which can be optimized"});
}

int state_slots(const rule& by) {
  return visit_optimizer(by, []<template <class> class Optimizer>() { return Optimizer<float>::slots; });
}

const char* name_of(const rule& by) {
  return visit_optimizer(by, []<template <class> class Optimizer>() { return Optimizer<float>::name; });
}

syncyte_dtype_t state_dtype(syncyte_dtype_t values) {
  return values == SYNCYTE_FLOAT64 ? SYNCYTE_FLOAT64 : SYNCYTE_FLOAT32;
}

bool counts_steps(const rule& by) { return by.optimizer == SYNCYTE_OPTIMIZER_ADAM; }

step step_of(const rule& by, std::int64_t number) {
  if (by.optimizer != SYNCYTE_OPTIMIZER_ADAM) return {by.lr, by.momentum, 0.0, by.eps};
  const auto times = static_cast<double>(number);
  const double correction1 = 1.0 - std::pow(by.beta1, times);
  const double correction2 = 1.0 - std::pow(by.beta2, times);
  return {by.lr * std::sqrt(correction2) / correction1, by.beta1, by.beta2, by.eps};
}

update_function find_update(const rule& by, syncyte_dtype_t values) {
  return visit_optimizer(by, [&]<template <class> class Optimizer>() { return update_of<Optimizer>(values); });
}

}  // namespace syncyte::optim
