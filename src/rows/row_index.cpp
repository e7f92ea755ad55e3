// SPDX-License-Identifier: BSD-3-Clause
#include "rows/row_index.hpp"

#include <algorithm>
#include <limits>

#include "rows/index_type.hpp"

namespace syncyte::rows {
namespace {

/// Whether all indices lie in [0, last]. `i | (last - i)` is negative exactly if i is outside. The compiler vectorises
/// this expression for every processor, unlike a comparison of 64-bit numbers.
template <class Index>
bool all_inside(std::span<const Index> index, std::int64_t last) {
  using bits = std::make_unsigned_t<Index>;
  const auto limit = static_cast<bits>(std::min<std::int64_t>(last, std::numeric_limits<Index>::max()));
  bits outside = 0;
  for (const Index i : index) outside |= static_cast<bits>(i) | (limit - static_cast<bits>(i));
  return (outside >> (8 * sizeof(Index) - 1)) == 0;
}

}  // namespace

row_index::row_index(const base::buffer& index)
    : data_(index.data()), count_(index.elements()), is_wide_(is_wide_index(index)) {
  index.require_host().require_contiguous().require_aligned();
}

void row_index::require_inside(std::int64_t extent, const char* argument) const {
  visit([&](auto index) {
    if (all_inside(index, extent - 1)) return;
    const auto bad = std::find_if(index.begin(), index.end(), [&](auto i) { return i < 0 || i >= extent; });
    const auto position = bad - index.begin();
    if (argument == nullptr)
      base::refuse(SYNCYTE_ERR_INDEX,
                   {.argument = "index",
                    .axis = position,
                    .value = fmt::to_string(*bad),
                    .expected = fmt::format("0 to {}", extent - 1)},
                   fmt::format("index {} at position {} is out of range; expected 0 to {} ({} rows)", *bad, position,
                               extent - 1, extent));
    base::expect(false, SYNCYTE_ERR_INDEX, {argument, position}, *bad, "0 to {}", extent - 1);
  });
}

}  // namespace syncyte::rows
