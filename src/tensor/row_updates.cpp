// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/row_updates.hpp"

#include <algorithm>
#include <utility>

#include "base/dtype.hpp"
#include "rows/row_map.hpp"

namespace syncyte::tensor {

row_updates::row_updates(const optim::rule& by, const layout& shape, std::shared_ptr<storage> values,
                         std::shared_ptr<storage> state)
    : shape_(shape),
      values_(std::move(values)),
      state_(std::move(state)),
      update_(optim::find_update(by, shape.dtype())),
      state_bytes_(base::dtype_size(optim::state_dtype(shape.dtype()))) {}

void row_updates::prefetch(std::int64_t row, const std::byte* gradient) const {
  rows::prefetch_row(gradient, shape_.row_bytes());
  rows::prefetch_row<true>(values_->mapped_rows().find(row), shape_.row_bytes());
  if (state_) rows::prefetch_row<true>(state_->mapped_rows().find(row), state_->mapped_rows().row_bytes());
  locks().prefetch(row);
}

void row_updates::update(const optim::step& by, std::span<const std::int64_t> rows,
                         std::span<const std::byte* const> gradients) {
  const element_range whole{0, static_cast<std::size_t>(shape_.row_elements())};
  constexpr std::size_t ahead = 8;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t next = std::min(i + ahead, rows.size() - 1);
    prefetch(rows[next], gradients[next]);
    locks().lock(rows[i]);
    update_locked(by, rows[i], whole, gradients[i]);
    locks().unlock(rows[i]);
  }
}

bool row_updates::try_update(const optim::step& by, std::int64_t row, element_range part, const std::byte* gradient) {
  if (!locks().try_lock(row)) return false;
  update_locked(by, row, part, gradient);
  locks().unlock(row);
  return true;
}

void row_updates::update_locked(const optim::step& by, std::int64_t row, element_range part,
                                const std::byte* gradient) {
  std::byte* const values = values_->mapped_rows().find(row) + part.first * shape_.element_bytes();
  std::byte* const state = state_ ? state_->mapped_rows().find(row) + part.first * state_bytes_ : nullptr;
  update_(by, {values, gradient, state, static_cast<std::size_t>(shape_.row_elements()), part.count});
}

}  // namespace syncyte::tensor
