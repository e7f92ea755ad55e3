// SPDX-License-Identifier: BSD-3-Clause
#include "window/memory_target.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "atomics/elements.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"

namespace syncyte::window {
equal_items::equal_items(const fabric::served_request& request, bool carries)
    : served_items(request), bytes(first_argument()), packed(data().data()) {
  base::require(bytes <= fabric::most_payload / std::max<std::size_t>(count(), 1) &&
                    (carries ? count() * bytes : 0) == data().size(),
                SYNCYTE_ERR_INTERNAL, "a request for {} items of {} bytes with {} bytes of data", count(), bytes,
                data().size());
}

std::byte* memory_target::at(std::uint64_t offset, std::size_t bytes) const {
  base::expect(offset <= memory_.size() && bytes <= memory_.size() - offset, SYNCYTE_ERR_INDEX, "offset", offset,
               "room for {} bytes in a part of {} bytes", bytes, memory_.size());
  return memory_.data() + offset;
}

/// Elements at an offset, for the processor's atomics.
std::byte* memory_target::atomic_at(std::size_t offset, std::size_t bytes, std::size_t element) const {
  std::byte* const found = at(offset, bytes);
  base::require(element > sizeof(std::uint64_t) || std::bit_cast<std::uintptr_t>(found) % element == 0,
                SYNCYTE_ERR_UNSUPPORTED, "the wrapped memory is not aligned to its elements, as atomics need it");
  return found;
}

bool memory_target::serve(fabric::served_request& request, fabric::answer& reply) {
  switch (static_cast<memory_operation>(request.header.operation)) {
    case memory_operation::read:
      read(request, reply);
      return true;
    case memory_operation::write:
      write(request);
      return true;
    case memory_operation::add:
      return add(request);
    case memory_operation::combine:
      combine(request, reply);
      return true;
    case memory_operation::compare_swap:
      compare_swap(request, reply);
      return true;
  }
  base::fail(SYNCYTE_ERR_INTERNAL, "unknown operation {} of memory", request.header.operation);
}

void memory_target::read(const fabric::served_request& request, fabric::answer& reply) const {
  const equal_items items(request, false);
  std::byte* to = reply.resize(items.count() * items.bytes).data();
  constexpr std::size_t ahead = 16;
  for (std::size_t i = 0; i < items.count(); ++i, to += items.bytes) {
    if (i + ahead < items.count()) __builtin_prefetch(memory_.data() + items.offset(i + ahead));
    std::memcpy(to, at(items.offset(i), items.bytes), items.bytes);
  }
}

void memory_target::write(const fabric::served_request& request) const {
  const equal_items items(request, true);
  for (std::size_t i = 0; i < items.count(); ++i)
    std::memcpy(at(items.offset(i), items.bytes), items.packed + i * items.bytes, items.bytes);
}

/// False if an item is locked: `done` counts the items that are added.
bool memory_target::add(fabric::served_request& request) const {
  const equal_items items(request, true);
  std::vector<std::size_t> offsets(items.count() - request.done);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = items.offset(request.done + i);
    at(offsets[i], items.bytes);
  }
  const auto op = static_cast<syncyte_op_t>(items.second_argument());
  request.done += adder_(offsets, items.bytes, items.packed + request.done * items.bytes, op);
  return request.done == items.count();
}

void memory_target::combine(const fabric::served_request& request, fabric::answer& reply) const {
  const auto& arguments = request.header.arguments;
  const auto dtype = static_cast<syncyte_dtype_t>(arguments[1]);
  const auto combine_elements = atomics::find_combine(dtype, static_cast<syncyte_op_t>(arguments[2]));
  const std::size_t bytes = request.payload.size(), element = base::dtype_size(dtype);
  base::require(element > 0 && bytes % element == 0, SYNCYTE_ERR_INTERNAL,
                "a request to combine elements of {} bytes with {} bytes", element, bytes);
  std::byte* const previous = arguments[3] == 0 ? nullptr : reply.resize(bytes).data();
  combine_elements(atomic_at(arguments[0], bytes, element), request.payload.data(), previous,
                   static_cast<std::int64_t>(bytes / element));
}

void memory_target::compare_swap(const fabric::served_request& request, fabric::answer& reply) const {
  const auto& arguments = request.header.arguments;
  const auto dtype = static_cast<syncyte_dtype_t>(arguments[1]);
  const std::size_t bytes = base::dtype_size(dtype);
  base::require(bytes > 0 && request.payload.size() == 2 * bytes, SYNCYTE_ERR_INTERNAL,
                "a request to compare an element of {} bytes with {} bytes of payload", bytes, request.payload.size());
  atomics::compare_swap_element(dtype, atomic_at(arguments[0], bytes, bytes), request.payload.data(),
                                request.payload.data() + bytes, reply.resize(bytes).data());
}

}  // namespace syncyte::window
