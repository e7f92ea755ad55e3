#include "kv/table_target.hpp"

#include <cstring>

#include "base/error.hpp"

namespace syncyte::kv {
namespace {

template <class Number>
void decode_as(const std::byte* list, std::int64_t first, std::span<std::int64_t> keys) {
  for (std::int64_t& key : keys) {
    Number distance = 0;
    std::memcpy(&distance, list, sizeof distance);
    list += sizeof distance;
    key = first + static_cast<std::int64_t>(distance);
  }
}

}  // namespace

/// Fills asked_ and checks it; returns the bytes of the list.
std::size_t table_target::decode(const fabric::served_request& request) {
  const std::size_t count = request.header.arguments[0], each = list_bytes_each(keys_);
  base::require(count <= request.payload.size() / each, SYNCYTE_ERR_INTERNAL, "a request for {} keys has {} bytes",
                count, request.payload.size());
  asked_.resize(count);
  if (each == sizeof(std::uint32_t))
    decode_as<std::uint32_t>(request.payload.data(), keys_.first, asked_);
  else
    decode_as<std::uint64_t>(request.payload.data(), keys_.first, asked_);
  for (const std::int64_t key : asked_)
    base::require(keys_.contains(key), SYNCYTE_ERR_INTERNAL, "slot {} is not of this rank", key);
  return count * each;
}

bool table_target::serve(fabric::served_request& request, fabric::answer& reply) {
  const auto what = static_cast<table_operation>(request.header.operation);
  base::require(what == table_operation::pull || what == table_operation::push || what == table_operation::set,
                SYNCYTE_ERR_INTERNAL, "unknown operation {} of a table", request.header.operation);
  const std::size_t list_bytes = decode(request);
  const bool reads = what == table_operation::pull;
  const auto value_bytes = static_cast<std::size_t>(values_.count_values(asked_)) * sizeof(float);
  const std::size_t expected = list_bytes + (reads ? 0 : value_bytes);
  base::require(request.payload.size() == expected && value_bytes <= fabric::most_payload, SYNCYTE_ERR_INTERNAL,
                "a request for {} keys has {} bytes; expected {}", asked_.size(), request.payload.size(), expected);
  // A pull that has to wait begins again: nothing is kept of its answer.
  if (reads) return values_.try_pull(asked_, reply.resize(value_bytes).data()) == asked_.size();
  return write(what, request, request.payload.data() + list_bytes);
}

/// Goes on after the keys that earlier calls have written.
bool table_target::write(table_operation what, fabric::served_request& request, const std::byte* given) {
  const std::span<const std::int64_t> all(asked_);
  const auto left = all.subspan(request.done);
  if (request.done > 0)
    given += static_cast<std::size_t>(values_.count_values(all.first(request.done))) * sizeof(float);
  request.done += what == table_operation::set ? values_.try_set(left, given) : values_.try_push(left, given);
  return request.done == all.size();
}

}  // namespace syncyte::kv
