// SPDX-License-Identifier: BSD-3-Clause
#include "access/item_list.hpp"

#include "base/error.hpp"

namespace syncyte::access {

item_coding item_coding::of(std::uint64_t bits) {
  const auto shift = bits == 0 ? 0 : static_cast<std::uint64_t>(std::countr_zero(bits));
  return item_coding((bits >> shift) > UINT32_MAX ? wide : shift);
}

served_items::served_items(const fabric::served_request& request, std::size_t own_bytes)
    : count_(item_arguments::count(request.header.arguments[0])),
      coding_(item_arguments::shift(request.header.arguments[0])),
      arguments_{request.header.arguments[2], request.header.arguments[3]},
      own_(request.payload.data()) {
  const std::size_t payload = request.payload.size(), list_bytes = count_ * coding_.bytes_each();
  base::require(coding_.shift() <= item_coding::wide && own_bytes <= payload && list_bytes <= payload - own_bytes,
                SYNCYTE_ERR_INTERNAL, "a request for {} items with {} bytes of payload", count_, payload);
  list_ = own_ + own_bytes;
  data_ = request.payload.subspan(own_bytes + list_bytes);
}

}  // namespace syncyte::access
