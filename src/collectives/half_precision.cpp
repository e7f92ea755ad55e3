// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/half_precision.hpp"

#include <algorithm>

#include "base/dtype.hpp"

namespace syncyte::collectives {
namespace {

/// Calls visitor(tag) with the storage type of a dtype that travels as float32.
template <class Visitor>
void visit_half(syncyte_dtype_t dtype, Visitor&& visitor) {
  base::visit_dtype(dtype, [&]<class T>(base::type_tag<T> tag) {
    if constexpr (base::is_half<T>) visitor(tag);
  });
}

}  // namespace

void widen_half(const void* half, std::int64_t count, syncyte_dtype_t dtype, float* wide) {
  visit_half(dtype, [&]<class T>(base::type_tag<T>) {
    const auto* const from = static_cast<const T*>(half);
    std::transform(from, from + count, wide, [](auto x) { return static_cast<float>(x); });
  });
}

void round_half(const float* wide, std::int64_t count, syncyte_dtype_t dtype, void* half) {
  visit_half(dtype, [&]<class T>(base::type_tag<T>) {
    std::transform(wide, wide + count, static_cast<T*>(half), [](float x) { return T(x); });
  });
}

}  // namespace syncyte::collectives
