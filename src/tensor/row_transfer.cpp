// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/row_transfer.hpp"

namespace syncyte::tensor {
namespace {

positions_by_owner sort_by_owner(const distribution::partition& parts, const rows::row_index& index) {
  std::vector<std::int32_t> owners(static_cast<std::size_t>(index.count()));
  index.visit([&](auto rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) owners[i] = parts.owner(rows[i]);
  });
  return {parts.parts(), owners, [](std::size_t i) { return static_cast<std::int64_t>(i); }};
}

}  // namespace

row_transfer::row_transfer(const whole_tensor& of, const rows::row_index& index, std::byte* packed, const char* name,
                           window::row_access what)
    : sorted_(sort_by_owner(of.layout().partition(), index)) {
  const layout& shape = of.layout();
  std::vector<window::remote_rows> owners;
  for (const auto& [owner, positions] : sorted_.parts()) {
    if (of.is_mapped(owner)) continue;
    // The owners' lists are spans of this one, which must not move.
    if (offsets_.empty()) offsets_.reserve(static_cast<std::size_t>(index.count()));
    const std::size_t begin = offsets_.size();
    for (const std::int64_t position : positions) offsets_.push_back(shape.offset_at_owner(owner, index[position]));
    owners.push_back({owner, shape.row_bytes(), std::span(offsets_).subspan(begin), packed, positions});
  }
  if (!owners.empty()) in_flight_ = of.held()->remote()->start_rows(name, what, owners, SYNCYTE_OP_SUM);
}

}  // namespace syncyte::tensor
