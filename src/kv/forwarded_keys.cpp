// SPDX-License-Identifier: BSD-3-Clause
#include "kv/forwarded_keys.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace syncyte::kv {
namespace {

access::item_coding coding_of(const std::vector<forwarded_keys::key>& keys) {
  std::uint64_t bits = 0;
  for (const auto& each : keys) bits |= each.offset;
  return access::item_coding::of(bits);
}

}  // namespace

forwarded_keys::forwarded_keys(fabric::object_name to, const operation& what, int home, std::string holder,
                               std::vector<key> keys)
    : to_(to),
      what_(&what),
      home_(home),
      holder_(std::move(holder)),
      keys_(std::move(keys)),
      coding_(coding_of(keys_)) {}

std::shared_ptr<fabric::message> forwarded_keys::next() {
  if (done_ == keys_.size()) return nullptr;
  std::size_t count = 0, data = 0;
  for (std::size_t i = done_; i < keys_.size(); ++i) {
    const std::size_t list = (count + 1) * coding_.bytes_each(), more = data + keys_[i].values.size();
    if (count > 0 && list + more > fabric::most_payload) break;
    ++count;
    data = more;
  }
  const std::size_t list = count * coding_.bytes_each();
  const fabric::message_header header{
      .communicator = to_.communicator,
      .object = to_.number,
      .operation = what_->number,
      .changes = 1,
      .arguments = {access::item_arguments::pack(count, coding_.shift()), done_, static_cast<std::uint64_t>(home_), 0}};
  auto result = std::make_shared<fabric::message>(header, list + (what_->reads ? 0 : data));
  std::byte* at = result->payload().data();
  coding_.encode(done_, count, [this](std::size_t i) { return keys_[i].offset; }, at);
  at += list;
  for (std::size_t i = done_; i < done_ + count && !what_->reads; ++i) at = std::ranges::copy(keys_[i].values, at).out;
  done_ += count;
  return result;
}

void forwarded_keys::on_answer(const fabric::message_header& request, std::span<const std::byte> payload) {
  const std::size_t count = access::item_arguments::count(request.arguments[0]), first = request.arguments[1];
  const std::span<key> asked = std::span(keys_).subspan(first, count);
  std::size_t data = 0;
  for (const key& each : asked) data += each.values.size();
  base::require(payload.size() == count + (what_->reads ? data : 0), SYNCYTE_ERR_INTERNAL, "an answer of {} bytes",
                payload.size());
  const std::byte* from = payload.data() + count;
  for (std::size_t i = 0; i < count; ++i) {
    asked[i].has_bounced = payload[i] != std::byte{0};
    if (!what_->reads) continue;
    if (!asked[i].has_bounced) std::memcpy(asked[i].values.data(), from, asked[i].values.size());
    from += asked[i].values.size();
  }
}

}  // namespace syncyte::kv
