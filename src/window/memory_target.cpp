#include "window/memory_target.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "atomics/elements.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"

namespace syncyte::window {
namespace {

/// The rows of a request: their list, and, in a request that carries them, where they are packed behind it.
struct packed_rows {
  packed_rows(const fabric::served_request& request, bool carries)
      : bytes(request.header.arguments[0]),
        count(request.header.arguments[1]),
        shift(request.header.arguments[2]),
        list(request.payload.data()) {
    const std::size_t list_bytes = count * row_list::bytes_each(shift);
    base::require(count <= fabric::most_payload && bytes <= fabric::most_payload / std::max<std::size_t>(count, 1) &&
                      list_bytes + (carries ? count * bytes : 0) == request.payload.size() && shift <= row_list::wide,
                  SYNCYTE_ERR_INTERNAL, "a request for {} rows of {} bytes with {} bytes of payload", count, bytes,
                  request.payload.size());
    rows = list + list_bytes;
  }

  std::size_t offset(std::size_t i) const { return row_list::decode(list, i, shift); }

  std::size_t bytes, count;
  std::uint64_t shift;
  const std::byte* list;
  const std::byte* rows;
};

}  // namespace

row_list::row_list(std::span<const std::size_t> offsets) {
  std::size_t bits = 0;
  for (const std::size_t offset : offsets) bits |= offset;
  shift_ = bits == 0 ? 0 : static_cast<std::uint64_t>(std::countr_zero(bits));
  if ((bits >> shift_) > UINT32_MAX) shift_ = wide;
}

void row_list::encode(std::span<const std::size_t> offsets, std::byte* list) const {
  if (shift_ == wide) {
    std::memcpy(list, offsets.data(), offsets.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto unit = static_cast<std::uint32_t>(offsets[i] >> shift_);
    std::memcpy(list + i * sizeof unit, &unit, sizeof unit);
  }
}

std::size_t row_list::decode(const std::byte* list, std::size_t i, std::uint64_t shift) {
  if (shift == wide) {
    std::size_t offset = 0;
    std::memcpy(&offset, list + i * sizeof offset, sizeof offset);
    return offset;
  }
  std::uint32_t unit = 0;
  std::memcpy(&unit, list + i * sizeof unit, sizeof unit);
  return std::size_t{unit} << shift;
}

std::byte* memory_target::at(std::size_t offset, std::size_t bytes) const {
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
  const auto& arguments = request.header.arguments;
  switch (static_cast<memory_operation>(request.header.operation)) {
    case memory_operation::read:
      base::require(arguments[1] <= fabric::most_payload, SYNCYTE_ERR_INTERNAL, "a request for {} bytes", arguments[1]);
      std::memcpy(reply.resize(arguments[1]).data(), at(arguments[0], arguments[1]), arguments[1]);
      return true;
    case memory_operation::write:
      std::memcpy(at(arguments[0], request.payload.size()), request.payload.data(), request.payload.size());
      return true;
    case memory_operation::add:
      return add(request);
    case memory_operation::read_rows:
      read_rows(request, reply);
      return true;
    case memory_operation::write_rows:
      write_rows(request);
      return true;
    case memory_operation::add_rows:
      return add_rows(request);
    case memory_operation::combine:
      combine(request, reply);
      return true;
    case memory_operation::compare_swap:
      compare_swap(request, reply);
      return true;
  }
  base::fail(SYNCYTE_ERR_INTERNAL, "unknown operation {} of memory", request.header.operation);
}

bool memory_target::add(fabric::served_request& request) const {
  const std::size_t offset = request.header.arguments[0];
  at(offset, request.payload.size());
  const auto op = static_cast<syncyte_op_t>(request.header.arguments[2]);
  return adder_({&offset, 1}, request.payload.size(), request.payload.data(), op) == 1;
}

void memory_target::read_rows(const fabric::served_request& request, fabric::answer& reply) const {
  const packed_rows rows(request, false);
  std::byte* row = reply.resize(rows.count * rows.bytes).data();
  constexpr std::size_t ahead = 16;
  for (std::size_t i = 0; i < rows.count; ++i, row += rows.bytes) {
    if (i + ahead < rows.count) __builtin_prefetch(memory_.data() + rows.offset(i + ahead));
    std::memcpy(row, at(rows.offset(i), rows.bytes), rows.bytes);
  }
}

void memory_target::write_rows(const fabric::served_request& request) const {
  const packed_rows rows(request, true);
  for (std::size_t i = 0; i < rows.count; ++i)
    std::memcpy(at(rows.offset(i), rows.bytes), rows.rows + i * rows.bytes, rows.bytes);
}

/// False if a row is locked: `done` counts the rows that are added.
bool memory_target::add_rows(fabric::served_request& request) const {
  const packed_rows rows(request, true);
  std::vector<std::size_t> offsets(rows.count - request.done);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = rows.offset(request.done + i);
    at(offsets[i], rows.bytes);
  }
  const auto op = static_cast<syncyte_op_t>(request.header.arguments[3]);
  request.done += adder_(offsets, rows.bytes, rows.rows + request.done * rows.bytes, op);
  return request.done == rows.count;
}

void memory_target::combine(const fabric::served_request& request, fabric::answer& reply) const {
  const auto& arguments = request.header.arguments;
  const auto dtype = static_cast<syncyte_dtype_t>(arguments[1]);
  const auto combine_elements = atomics::find_combine(dtype, static_cast<syncyte_op_t>(arguments[2]));
  const std::size_t bytes = request.payload.size();
  std::byte* const previous = arguments[3] == 0 ? nullptr : reply.resize(bytes).data();
  combine_elements(atomic_at(arguments[0], bytes, base::dtype_size(dtype)), request.payload.data(), previous,
                   static_cast<std::int64_t>(bytes / base::dtype_size(dtype)));
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
