// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_update_target.hpp"

#include <cstring>

namespace syncyte::tensor {

bool device_update_target::serve(fabric::served_request& request, fabric::answer&) {
  const served_update update(request, shape_, rank_);
  return kernel_.run(
      request, false, [&](void* stream) { queue(update, stream); }, [&] { rows_->check_update_for_other(); });
}

void device_update_target::queue(const served_update& update, void* stream) const {
  const std::size_t count = update.items.count();
  const std::span<std::int64_t> list = room_.list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = update.row(i);
  std::memcpy(room_.data(), update.items.data().data(), update.items.data().size());
  const rows::row_part part{static_cast<std::int64_t>(update.part.first), static_cast<std::int64_t>(update.part.count)};
  rows_->update_for_other(rank_, list, part, room_.data(), update.by, stream);
}

}  // namespace syncyte::tensor
