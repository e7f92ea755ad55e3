#pragma once
// Lengths of all ranks' parts along an axis.

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <numeric>

namespace syncyte::torch_binding {

inline std::int64_t sum_of(c10::IntArrayRef lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

}  // namespace syncyte::torch_binding
