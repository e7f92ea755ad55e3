// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/update_items.hpp"

#include <cstring>

#include "base/error.hpp"

namespace syncyte::tensor {

served_update::served_update(const fabric::served_request& request, const layout& shape, int owner)
    : items(request, sizeof by),
      part{items.first_argument(), items.second_argument()},
      gradient_bytes(part.count * shape.element_bytes()),
      rank(owner),
      rows(shape.partition().count(owner)) {
  std::memcpy(&by, items.own(), sizeof by);
  const auto elements = static_cast<std::size_t>(shape.row_elements());
  base::require(part.first <= elements && part.count <= elements - part.first, SYNCYTE_ERR_INTERNAL,
                "an update of {} elements from {} of rows of {} elements", part.count, part.first, elements);
  base::require(items.data().size() == items.count() * gradient_bytes, SYNCYTE_ERR_INTERNAL,
                "an update of {} rows by {} bytes of gradients", items.count(), items.data().size());
}

std::int64_t served_update::row(std::size_t i) const {
  const std::uint64_t row = items.offset(i);
  base::require(row < static_cast<std::uint64_t>(rows), SYNCYTE_ERR_INTERNAL,
                "an update of row {} of rank {}, which has {}", row, rank, rows);
  return static_cast<std::int64_t>(row);
}

bool update_target::serve(fabric::served_request& request, fabric::answer&) {
  const layout& shape = rows_->shape();
  const served_update update(request, shape, rank_);
  const std::int64_t first = shape.partition().first(rank_);
  for (; request.done < update.items.count(); ++request.done) {
    const std::int64_t row = first + update.row(request.done);
    if (!rows_->try_update(update.by, row, update.part, update.gradients(request.done))) return false;
  }
  return true;
}

void update_items::write(std::size_t first, std::size_t count, std::byte* to) const {
  for (std::size_t i = first; i < first + count; ++i) {
    const element_range part = range(i);
    std::memcpy(to, its_.sums[row(i)] + part.first * element_bytes_, part.count * element_bytes_);
    to += part.count * element_bytes_;
  }
}

}  // namespace syncyte::tensor
