// SPDX-License-Identifier: BSD-3-Clause
#include "reducer/kernels.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <type_traits>

#include "base/dtype.hpp"
#include "base/ops.hpp"

namespace syncyte::reducer {
namespace {

template <class T>
using sum_of = std::conditional_t<base::is_half<T>, float, T>;

template <class T>
struct real_part {
  using type = T;
};
template <class T>
struct real_part<std::complex<T>> {
  using type = T;
};

/// Elements that are summed at once: their sums and one rank's elements fit the first-level cache.
constexpr std::int64_t block_elements = 2048;

template <class T>
using block = std::array<sum_of<T>, block_elements>;

template <class T>
void add_block(const T* source, std::size_t count, bool is_first, block<T>& sum) {
  if (is_first)
    std::transform(source, source + count, sum.begin(), [](T x) { return sum_of<T>(x); });
  else
    std::transform(source, source + count, sum.begin(), sum.begin(), [](T x, auto y) { return y + sum_of<T>(x); });
}

template <class T>
void write_scaled(const sum_of<T>* sum, std::size_t count, double scale, T* target) {
  const auto factor = static_cast<typename real_part<sum_of<T>>::type>(scale);
  if (scale == 1)
    std::transform(sum, sum + count, target, [](auto x) { return T(x); });
  else
    std::transform(sum, sum + count, target, [factor](auto x) { return T(x * factor); });
}

/// use(sum, count, first) for each block of sums.
template <class T, class Use>
void for_sums(std::span<const std::byte* const> sources, std::int64_t count, Use&& use) {
  block<T> sum;
  for (std::int64_t first = 0; first < count; first += block_elements) {
    const auto length = static_cast<std::size_t>(std::min(block_elements, count - first));
    for (std::size_t i = 0; i < sources.size(); ++i)
      add_block(reinterpret_cast<const T*>(sources[i]) + first, length, i == 0, sum);
    use(sum.data(), length, first);
  }
}

template <class Visitor>
void visit_scalable(syncyte_dtype_t dtype, Visitor&& visitor) {
  base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
    if constexpr (base::is_half<T> || (!std::is_integral_v<T> && !std::is_same_v<T, base::boolean>))
      visitor(base::type_tag<T>{});
  });
}

}  // namespace

bool is_scalable(syncyte_dtype_t dtype) { return !base::is_integer(dtype) && dtype != SYNCYTE_BOOL; }

syncyte_dtype_t sum_dtype(syncyte_dtype_t dtype) { return base::is_half_precision(dtype) ? SYNCYTE_FLOAT32 : dtype; }

void reduce_parts(std::span<const std::byte* const> sources, std::span<std::byte* const> targets, std::int64_t count,
                  syncyte_dtype_t dtype, double scale) {
  visit_scalable(dtype, [&]<class T>(base::type_tag<T>) {
    for_sums<T>(sources, count, [&](const auto* sum, std::size_t length, std::int64_t first) {
      for (std::byte* const target : targets) write_scaled(sum, length, scale, reinterpret_cast<T*>(target) + first);
    });
  });
}

void sum_parts(std::span<const std::byte* const> sources, std::byte* result, std::int64_t count,
               syncyte_dtype_t dtype) {
  visit_scalable(dtype, [&]<class T>(base::type_tag<T>) {
    for_sums<T>(sources, count, [&](const auto* sum, std::size_t length, std::int64_t first) {
      std::copy_n(sum, length, reinterpret_cast<sum_of<T>*>(result) + first);
    });
  });
}

void scale_sum(const std::byte* sum, std::byte* target, std::int64_t count, syncyte_dtype_t dtype, double scale) {
  visit_scalable(dtype, [&]<class T>(base::type_tag<T>) {
    write_scaled(reinterpret_cast<const sum_of<T>*>(sum), static_cast<std::size_t>(count), scale,
                 reinterpret_cast<T*>(target));
  });
}

}  // namespace syncyte::reducer
