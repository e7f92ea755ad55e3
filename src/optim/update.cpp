// SPDX-License-Identifier: BSD-3-Clause
#include "optim/update.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/dtype.hpp"
#include "base/ops.hpp"

namespace syncyte::optim {
namespace {

/// Type in which an optimizer computes, and of its state: arithmetic on 16-bit numbers is done in float.
template <class T>
using number_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

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

// Each optimizer updates one element: it changes the slots of state and returns the number to subtract from the value.
// Formulas and their order of operations follow torch.optim, so that results agree to the last bits.

/// Stochastic gradient descent; torch.optim.SGD.
template <class Number>
struct sgd {
  static constexpr int slots = 0;
  Number rate;
  explicit sgd(const step& by) : rate(static_cast<Number>(by.rate)) {}
  Number operator()(Number gradient) const { return rate * gradient; }
};

/// SGD with momentum; torch.optim.SGD with momentum and without dampening. Lazy: the momentum of a row decays only when
/// the row has a gradient.
template <class Number>
struct momentum_sgd {
  static constexpr int slots = 1;
  Number rate, momentum;
  explicit momentum_sgd(const step& by)
      : rate(static_cast<Number>(by.rate)), momentum(static_cast<Number>(by.decay1)) {}
  Number operator()(Number gradient, Number& velocity) const {
    velocity = momentum * velocity + gradient;
    return rate * velocity;
  }
};

/// AdaGrad: Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization", JMLR
/// 12 (2011); torch.optim.Adagrad with lr_decay = 0.
template <class Number>
struct adagrad {
  static constexpr int slots = 1;
  Number rate, eps;
  explicit adagrad(const step& by) : rate(static_cast<Number>(by.rate)), eps(static_cast<Number>(by.eps)) {}
  Number operator()(Number gradient, Number& sum) const {
    sum += gradient * gradient;
    return rate * (gradient / (std::sqrt(sum) + eps));
  }
};

/// Adam: Kingma, Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015; torch.optim.SparseAdam. The moments of a
/// row decay only when the row has a gradient, and the correction of their bias (in the rate) follows the number of
/// updates of the whole table.
template <class Number>
struct adam {
  static constexpr int slots = 2;
  Number rate, rest1, rest2, eps;  // rest: 1 - beta
  explicit adam(const step& by)
      : rate(static_cast<Number>(by.rate)),
        rest1(static_cast<Number>(1.0 - by.decay1)),
        rest2(static_cast<Number>(1.0 - by.decay2)),
        eps(static_cast<Number>(by.eps)) {}
  Number operator()(Number gradient, Number& mean, Number& square) const {
    mean += (gradient - mean) * rest1;
    square += (gradient * gradient - square) * rest2;
    return rate * (mean / (std::sqrt(square) + eps));
  }
};

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
    const number slope = load<T>(gradient, i);
    number change;
    if constexpr (Optimizer<number>::slots == 0)
      change = optimizer(slope);
    else if constexpr (Optimizer<number>::slots == 1)
      change = optimizer(slope, first[i]);
    else
      change = optimizer(slope, first[i], second[i]);
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
  if (by.optimizer == SYNCYTE_OPTIMIZER_ADAM) return adam<float>::slots;
  if (by.optimizer == SYNCYTE_OPTIMIZER_ADAGRAD) return adagrad<float>::slots;
  return by.momentum > 0.0 ? momentum_sgd<float>::slots : sgd<float>::slots;
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
  static_assert(base::known::optimizer::last == SYNCYTE_OPTIMIZER_ADAM, "a new optimizer needs a line here");
  if (by.optimizer == SYNCYTE_OPTIMIZER_ADAM) return update_of<adam>(values);
  if (by.optimizer == SYNCYTE_OPTIMIZER_ADAGRAD) return update_of<adagrad>(values);
  return by.momentum > 0.0 ? update_of<momentum_sgd>(values) : update_of<sgd>(values);
}

}  // namespace syncyte::optim
