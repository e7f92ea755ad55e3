#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/dtype.hpp"
#include "memory/scratch.hpp"
#include "mpi/large_counts.hpp"

namespace syncyte::collectives {

/// float16 and bfloat16 travel and are reduced as float32.
bool is_half(syncyte_dtype_t dtype);
void widen_half(const void* half, std::int64_t count, syncyte_dtype_t dtype, float* wide);
void round_half(const float* wide, std::int64_t count, syncyte_dtype_t dtype, void* half);

/// Recycled memory for float32 elements.
class wide_elements {
 public:
  explicit wide_elements(std::int64_t count) : memory_(static_cast<std::size_t>(count) * sizeof(float)) {}
  float* data() const { return reinterpret_cast<float*>(memory_.data()); }
  std::byte* bytes() const { return memory_.data(); }

 private:
  memory::scratch memory_;
};

/// call(input, output, count, dtype) reduces a piece that MPI's int can count, of at most `most` elements; equal
/// addresses mean in place. Half-precision elements go through float32 in pieces that fit the cache; a null output is
/// not written.
template <class Call>
void in_reducible_pieces(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, Call&& call,
                         std::int64_t most = std::numeric_limits<int>::max()) {
  const std::size_t size = base::dtype_size(dtype);
  const auto* const from = static_cast<const std::byte*>(input);
  auto* const to = static_cast<std::byte*>(output);
  const auto target = [&](std::int64_t first) {
    return to != nullptr ? to + static_cast<std::size_t>(first) * size : nullptr;
  };
  const auto source = [&](std::int64_t first) { return from + static_cast<std::size_t>(first) * size; };
  if (!is_half(dtype))
    return mpi::in_pieces(
        count, [&](std::int64_t first, int length) { call(source(first), target(first), length, dtype); }, most);
  constexpr std::int64_t fits_cache = 1 << 16;
  std::vector<float> wide(static_cast<std::size_t>(std::min(count, fits_cache)));
  mpi::in_pieces(
      count,
      [&](std::int64_t first, int length) {
        widen_half(source(first), length, dtype, wide.data());
        call(wide.data(), wide.data(), length, SYNCYTE_FLOAT32);
        if (to != nullptr) round_half(wide.data(), length, dtype, target(first));
      },
      fits_cache);
}

}  // namespace syncyte::collectives
