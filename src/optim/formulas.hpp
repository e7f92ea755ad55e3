// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

namespace syncyte::optim {

/// Coefficients of one update of several rows. It travels to the rows' owners as bytes.
struct step {
  double rate;    ///< factor of the direction that is subtracted from the values
  double decay1;  ///< SGD: momentum; Adam: beta1
  double decay2;  ///< Adam: beta2
  double eps;
};
static_assert(std::is_trivially_copyable_v<step>);

/// Type in which an optimizer computes, and of its state: arithmetic on 16-bit numbers is done in float.
template <class T>
using number_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Each optimizer updates one element: it changes the slots of state and returns the number to subtract from the value.
// Formulas and their order of operations follow torch.optim, so that results agree to the last bits. They are constexpr
// so that nvcc compiles them for devices, too.

/// Stochastic gradient descent; torch.optim.SGD.
template <class Number>
struct sgd {
  static constexpr const char* name = "sgd";
  static constexpr int slots = 0;
  Number rate;
  constexpr explicit sgd(const step& by) : rate(static_cast<Number>(by.rate)) {}
  constexpr Number operator()(Number gradient) const { return rate * gradient; }
};

/// SGD with momentum; torch.optim.SGD with momentum and without dampening. Lazy: the momentum of a row decays only when
/// the row has a gradient.
template <class Number>
struct momentum_sgd {
  static constexpr const char* name = "momentum_sgd";
  static constexpr int slots = 1;
  Number rate, momentum;
  constexpr explicit momentum_sgd(const step& by)
      : rate(static_cast<Number>(by.rate)), momentum(static_cast<Number>(by.decay1)) {}
  constexpr Number operator()(Number gradient, Number& velocity) const {
    velocity = momentum * velocity + gradient;
    return rate * velocity;
  }
};

/// AdaGrad: Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization", JMLR
/// 12 (2011); torch.optim.Adagrad with lr_decay = 0.
template <class Number>
struct adagrad {
  static constexpr const char* name = "adagrad";
  static constexpr int slots = 1;
  Number rate, eps;
  constexpr explicit adagrad(const step& by) : rate(static_cast<Number>(by.rate)), eps(static_cast<Number>(by.eps)) {}
  constexpr Number operator()(Number gradient, Number& sum) const {
    sum += gradient * gradient;
    return rate * (gradient / (std::sqrt(sum) + eps));
  }
};

/// Adam: Kingma, Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015; torch.optim.SparseAdam. The moments of a
/// row decay only when the row has a gradient, and the correction of their bias (in the rate) follows the number of
/// updates of the whole table.
template <class Number>
struct adam {
  static constexpr const char* name = "adam";
  static constexpr int slots = 2;
  Number rate, rest1, rest2, eps;  // rest: 1 - beta
  constexpr explicit adam(const step& by)
      : rate(static_cast<Number>(by.rate)),
        rest1(static_cast<Number>(1.0 - by.decay1)),
        rest2(static_cast<Number>(1.0 - by.decay2)),
        eps(static_cast<Number>(by.eps)) {}
  constexpr Number operator()(Number gradient, Number& mean, Number& square) const {
    mean += (gradient - mean) * rest1;
    square += (gradient * gradient - square) * rest2;
    return rate * (mean / (std::sqrt(square) + eps));
  }
};

/// Updates an element's state, whose slots may be absent, and returns the number to subtract from its value.
template <class Optimizer, class Number>
constexpr Number change_of(const Optimizer& by, Number gradient, Number* first, Number* second) {
  if constexpr (Optimizer::slots == 0)
    return by(gradient);
  else if constexpr (Optimizer::slots == 1)
    return by(gradient, *first);
  else
    return by(gradient, *first, *second);
}

}  // namespace syncyte::optim
