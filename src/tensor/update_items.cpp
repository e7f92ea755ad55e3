// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/update_items.hpp"

#include <cstring>

#include "access/item_list.hpp"
#include "base/error.hpp"

namespace syncyte::tensor {

bool update_target::serve(fabric::served_request& request, fabric::answer&) {
  optim::step by;
  const access::served_items items(request, sizeof by);
  std::memcpy(&by, items.own(), sizeof by);
  const layout& shape = rows_->shape();
  const element_range part{items.first_argument(), items.second_argument()};
  const auto elements = static_cast<std::size_t>(shape.row_elements());
  base::require(part.first <= elements && part.count <= elements - part.first, SYNCYTE_ERR_INTERNAL,
                "an update of {} elements from {} of rows of {} elements", part.count, part.first, elements);
  const std::size_t gradient_bytes = part.count * shape.element_bytes();
  base::require(items.data().size() == items.count() * gradient_bytes, SYNCYTE_ERR_INTERNAL,
                "an update of {} rows by {} bytes of gradients", items.count(), items.data().size());
  const distribution::partition& parts = shape.partition();
  for (; request.done < items.count(); ++request.done) {
    const std::uint64_t row = items.offset(request.done);
    base::require(row < static_cast<std::uint64_t>(parts.count(rank_)), SYNCYTE_ERR_INTERNAL,
                  "an update of row {} of rank {}, which has {}", row, rank_, parts.count(rank_));
    const std::int64_t number = parts.first(rank_) + static_cast<std::int64_t>(row);
    if (!rows_->try_update(by, number, part, items.data().data() + request.done * gradient_bytes)) return false;
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
