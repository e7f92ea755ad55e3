// SPDX-License-Identifier: BSD-3-Clause
// Packing a halo: the faces of a 3-D array, one element thick.

#include "base/strided_copy.hpp"
#include "micro.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::bench;

constexpr std::int64_t extent = 256;  // the array fills the first half
static_assert(extent * extent * extent * sizeof(double) == half_bytes);

const bool declared = [] {
  for (const std::size_t axis : {0, 1, 2})
    measure_bytes("pack the face across axis " + std::to_string(axis) + " of a 256^3 float64 array",
                  2 * extent * extent * sizeof(double), [=] {
                    std::vector<std::int64_t> shape(3, extent);
                    const auto from = base::dense_strides(shape, sizeof(double));
                    shape[axis] = 1;
                    const auto to = base::dense_strides(shape, sizeof(double));
                    return [=] { base::copy_strided(second_half(), to, first_half(), from, shape, sizeof(double)); };
                  });
  return true;
}();

}  // namespace
