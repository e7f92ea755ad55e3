// SPDX-License-Identifier: BSD-3-Clause
// Updates of rows against the slow optimizer: every optimizer and element type, parts of rows, unaligned gradients.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/dtype.hpp"
#include "base/error.hpp"
#include "optim/update.hpp"
#include "reference.hpp"
#include "slow_optimizer.hpp"

namespace {

using namespace syncyte;

double fraction(std::uint64_t seed, std::int64_t place) {
  return static_cast<double>(reference::random_integer(seed, 0, place, -512, 512)) / 256.0;
}

std::vector<optim::rule> rules() {
  return {{.optimizer = SYNCYTE_OPTIMIZER_SGD, .lr = 0.1},
          {.optimizer = SYNCYTE_OPTIMIZER_SGD, .lr = 0.1, .momentum = 0.75},
          {.optimizer = SYNCYTE_OPTIMIZER_ADAGRAD, .lr = 0.1, .eps = 1e-10},
          {.optimizer = SYNCYTE_OPTIMIZER_ADAM, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-8}};
}

reference::slow_optimizer slow(const optim::rule& by, std::int64_t elements, std::vector<double> start) {
  reference::slow_optimizer result(by.optimizer, elements, std::move(start));
  result.lr = by.lr;
  result.momentum = by.momentum;
  result.beta1 = by.beta1;
  result.beta2 = by.beta2;
  result.eps = by.eps;
  return result;
}

template <class T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, double>)
    return value;
  else
    return static_cast<double>(static_cast<float>(value));
}

template <class T>
T as(double value) {
  if constexpr (std::is_same_v<T, double>)
    return value;
  else
    return static_cast<T>(static_cast<float>(value));
}

/// Several steps of one row, its first and its last elements one after the other.
template <class T>
void check_row(const optim::rule& by, syncyte_dtype_t dtype, double tolerance, std::size_t elements,
               std::size_t shift) {
  using state_number = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<T> values(elements);
  std::vector<double> start(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    values[i] = as<T>(fraction(1, static_cast<std::int64_t>(i)));
    start[i] = as_double(values[i]);
  }
  std::vector<state_number> state(2 * elements);
  auto expected = slow(by, static_cast<std::int64_t>(elements), start);
  const auto update = optim::find_update(by, dtype);
  for (std::int64_t number = 1; number <= 5; ++number) {
    std::vector<std::byte> packed(shift + elements * sizeof(T));
    std::vector<double> gradient(elements);
    for (std::size_t i = 0; i < elements; ++i) {
      const T element = as<T>(fraction(10 + static_cast<std::uint64_t>(number), static_cast<std::int64_t>(i)));
      std::memcpy(packed.data() + shift + i * sizeof(T), &element, sizeof element);
      gradient[i] = as_double(element);
    }
    expected.step({0}, gradient);
    const optim::step step = optim::step_of(by, number);
    const std::size_t half = elements / 3;
    for (const auto& [first, count] : {std::pair(std::size_t{0}, half), std::pair(half, elements - half)})
      update(step, {reinterpret_cast<std::byte*>(values.data() + first), packed.data() + shift + first * sizeof(T),
                    reinterpret_cast<std::byte*>(state.data() + first), elements, count});
  }
  for (std::size_t i = 0; i < elements; ++i) {
    EXPECT_NEAR(as_double(values[i]), expected.values[i], tolerance * 4) << by.optimizer << " element " << i;
    for (int slot = 0; slot < optim::state_slots(by); ++slot) {
      const auto& numbers = slot == 0 ? expected.first : expected.second;
      EXPECT_NEAR(state[static_cast<std::size_t>(slot) * elements + i], numbers[i], 4e-5) << by.optimizer;
    }
  }
}

template <class T>
void check_type(syncyte_dtype_t dtype, double tolerance) {
  for (const auto& by : rules())
    for (const std::size_t elements : {1, 2, 7, 64, 131})
      for (const std::size_t shift : {0, 1}) check_row<T>(by, dtype, tolerance, elements, shift);
}

TEST(optim_update, equals_the_papers_formulas) {
  check_type<double>(SYNCYTE_FLOAT64, 1e-14);
  check_type<float>(SYNCYTE_FLOAT32, 1e-6);
  check_type<base::bfloat16>(SYNCYTE_BFLOAT16, 3e-2);  // values are rounded five times
  check_type<base::float16>(SYNCYTE_FLOAT16, 4e-3);
}

TEST(optim_update, state_of_each_optimizer) {
  std::vector<int> slots;
  for (const auto& by : rules()) slots.push_back(optim::state_slots(by));
  EXPECT_EQ(slots, (std::vector<int>{0, 1, 1, 2}));
  EXPECT_EQ(optim::state_dtype(SYNCYTE_BFLOAT16), SYNCYTE_FLOAT32);
  EXPECT_EQ(optim::state_dtype(SYNCYTE_FLOAT64), SYNCYTE_FLOAT64);
}

TEST(optim_update, refuses_what_it_cannot_do) {
  const auto refused = [](optim::rule by, const char* name) {
    const auto error = base::error_of([&] { optim::check(by); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->status(), SYNCYTE_ERR_ARGUMENT);
    EXPECT_NE(std::string(error->what()).find(name), std::string::npos) << error->what();
  };
  refused({.optimizer = 0}, "optimizer");
  refused({.optimizer = 4}, "optimizer");
  refused({.lr = -1.0}, "lr");
  refused({.lr = std::nan("")}, "lr");
  refused({.momentum = 1.0}, "momentum");
  refused({.beta1 = 1.5}, "beta1");
  refused({.beta2 = -0.5}, "beta2");
  refused({.eps = -1.0}, "eps");
  for (const auto dtype : {SYNCYTE_INT32, SYNCYTE_COMPLEX64, SYNCYTE_BOOL}) {
    const auto error = base::error_of([&] { optim::check(dtype); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status(), SYNCYTE_ERR_TYPE);
  }
}

}  // namespace
