// SPDX-License-Identifier: BSD-3-Clause
#include "kv/table_target.hpp"

#include "base/error.hpp"

namespace syncyte::kv {

/// Fills asked_ with the request's slots; throws unless all are this rank's.
void table_target::find_slots(const access::served_items& items) {
  asked_.resize(items.count());
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const std::uint64_t offset = items.offset(i);
    base::require(offset < static_cast<std::uint64_t>(keys_.count), SYNCYTE_ERR_INTERNAL,
                  "a request for slot {} of this rank, which has {}", offset, keys_.count);
    asked_[i] = keys_.first + static_cast<std::int64_t>(offset);
  }
}

bool table_target::serve(fabric::served_request& request, fabric::answer& reply) {
  const operation& what = find_operation(request.header.operation);
  const access::served_items items(request);
  find_slots(items);
  const auto value_bytes = static_cast<std::size_t>(values_.count_values(asked_)) * sizeof(float);
  const std::size_t expected = what.reads ? 0 : value_bytes;
  base::require(items.data().size() == expected && value_bytes <= fabric::most_payload, SYNCYTE_ERR_INTERNAL,
                "a request for {} keys has {} bytes of values; expected {}", asked_.size(), items.data().size(),
                expected);
  if (!what.reads) return write(what, request, items.data().data());
  // A pull that has to wait begins again: nothing is kept of its answer.
  return what.attempt(values_, asked_, nullptr, reply.resize(value_bytes).data()) == asked_.size();
}

/// Goes on after the keys that earlier calls have written.
bool table_target::write(const operation& what, fabric::served_request& request, const std::byte* given) {
  const std::span<const std::int64_t> all(asked_);
  if (request.done > 0)
    given += static_cast<std::size_t>(values_.count_values(all.first(request.done))) * sizeof(float);
  request.done += what.attempt(values_, all.subspan(request.done), given, nullptr);
  return request.done == all.size();
}

}  // namespace syncyte::kv
