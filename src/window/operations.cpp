// SPDX-License-Identifier: BSD-3-Clause
#include "window/operations.hpp"

#include <cstring>

#include "base/dtype.hpp"
#include "base/overlap.hpp"
#include "window/part_header.hpp"

namespace syncyte::window {
namespace {

base::buffer packed(const syncyte_buffer_t* raw, const char* argument) {
  const base::buffer given(raw, argument);
  given.require_host().require_contiguous();
  return given;
}

base::buffer packed_to_write(const syncyte_buffer_t* raw, const char* argument) {
  const base::buffer given = packed(raw, argument);
  given.require_writable();
  return given;
}

template <class Pointer>
Pointer address_of_one(Pointer given, const char* argument) {
  base::expect(given != nullptr, SYNCYTE_ERR_ARGUMENT, argument, "null", "the address of one element");
  return given;
}

/// Throws SYNCYTE_ERR_ARGUMENT if an operand shares memory with the bytes that an access reads or writes, if these are
/// mapped. It may be these bytes themselves.
void require_apart(const place& there, const void* operand, std::size_t bytes, const char* argument) {
  if (there.mapped == nullptr || !base::overlaps_packed(base::range_of(operand, bytes), {there.mapped, 0}, bytes))
    return;
  base::refuse(SYNCYTE_ERR_ARGUMENT,
               {.argument = argument,
                .value = fmt::format("in the same memory as other bytes of the access to rank {}'s part at {}",
                                     there.rank, there.offset - sizeof(part_header)),
                .expected = base::separate_memory});
}

place find_elements(const window& on, int rank, std::int64_t offset, syncyte_dtype_t dtype, std::int64_t count) {
  const std::size_t element = base::dtype_size(dtype);
  base::expect(offset % static_cast<std::int64_t>(element) == 0, SYNCYTE_ERR_ARGUMENT, "offset", offset,
               "a multiple of the element's {} bytes", element);
  return on.find(rank, offset, static_cast<std::size_t>(count) * element);
}

/// Whether this process changes elements by itself. A remote's owner takes no locks of elements: all ranks change those
/// that the processor's atomics cannot change through it.
bool is_changed_here(const window& on, const place& there, syncyte_dtype_t dtype) {
  const remote* const others = on.access_between_nodes();
  return others == nullptr ||
         (there.mapped != nullptr && others->is_atomic_with_processor() && atomics::has_atomics(dtype));
}

}  // namespace

copied_bytes::copied_bytes(window& on, int rank, std::int64_t offset, const base::buffer& here)
    : on_(on), here_(here.data()), bytes_(here.bytes()), there_(on.find(rank, offset, bytes_)) {
  require_apart(there_, here_, bytes_, here.argument());
}

put::put(window& on, int rank, std::int64_t offset, const syncyte_buffer_t* source)
    : copied_bytes(on, rank, offset, packed(source, "source")) {}

std::unique_ptr<transfer> put::begin() const {
  if (is_remote()) return on_.access_between_nodes()->start_put(there_.rank, there_.offset, here_, bytes_);
  if (bytes_ > 0) std::memmove(there_.mapped, here_, bytes_);
  return nullptr;
}

void put::run() const {
  if (is_remote())
    on_.access_between_nodes()->put(there_.rank, there_.offset, here_, bytes_);
  else
    begin();
}

get::get(window& on, int rank, std::int64_t offset, const syncyte_buffer_t* target)
    : copied_bytes(on, rank, offset, packed_to_write(target, "target")) {}

std::unique_ptr<transfer> get::begin() const {
  if (is_remote()) return on_.access_between_nodes()->start_get(there_.rank, there_.offset, here_, bytes_);
  if (bytes_ > 0) std::memmove(here_, there_.mapped, bytes_);
  return nullptr;
}

combined_elements::combined_elements(window& on, int rank, std::int64_t offset, const char* name, syncyte_dtype_t dtype,
                                     syncyte_op_t op, const void* source, void* previous, std::int64_t count)
    : on_(on),
      name_(name),
      dtype_(dtype),
      op_(op),
      combine_(atomics::find_combine(dtype, op)),
      source_(static_cast<const std::byte*>(source)),
      previous_(static_cast<std::byte*>(previous)),
      count_(count),
      there_(find_elements(on, rank, offset, dtype, count)) {
  if (previous == nullptr)
    require_apart(there_, source, static_cast<std::size_t>(count) * base::dtype_size(dtype), "source");
}

std::unique_ptr<transfer> combined_elements::begin() const {
  if (count_ == 0) return nullptr;
  if (!is_changed_here(on_, there_, dtype_))
    return on_.access_between_nodes()->start_combine(name_, there_.rank, there_.offset, dtype_, op_, source_, previous_,
                                                     count_);
  if (atomics::has_atomics(dtype_))
    combine_(there_.mapped, source_, previous_, count_);
  else
    combine_here();
  return nullptr;
}

/// Combines elements that are wider than the processor's atomics.
void combined_elements::combine_here() const {
  auto& header = *reinterpret_cast<part_header*>(there_.mapped - there_.offset);
  atomics::lock_table locks = element_locks(header, on_.comm()->node(), on_.name());
  const std::size_t bytes = base::dtype_size(dtype_);
  const std::size_t first = (there_.offset - sizeof(part_header)) / bytes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    const auto element = static_cast<std::int64_t>(first + i);
    std::byte* const old = previous_ == nullptr ? nullptr : previous_ + i * bytes;
    locks.lock(element);
    combine_(there_.mapped + i * bytes, source_ + i * bytes, old, 1);
    locks.unlock(element);
  }
}

accumulate::accumulate(window& on, int rank, std::int64_t offset, const syncyte_buffer_t* source, syncyte_op_t op)
    : accumulate(on, rank, offset, packed(source, "source"), op) {}

accumulate::accumulate(window& on, int rank, std::int64_t offset, const base::buffer& source, syncyte_op_t op)
    : combined_elements(on, rank, offset, "window_accumulate", source.dtype(), op, source.data(), nullptr,
                        source.elements()) {}

// Braces: arguments are checked in their order.
fetch_op::fetch_op(window& on, int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* operand,
                   syncyte_op_t op, void* previous)
    : combined_elements{on,
                        rank,
                        offset,
                        "window_fetch_op",
                        dtype,
                        op,
                        address_of_one(operand, "operand"),
                        address_of_one(previous, "previous"),
                        1} {}

compare_swap::compare_swap(window& on, int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* expected,
                           const void* desired, void* previous)
    : on_(on),
      dtype_(dtype),
      expected_(address_of_one(expected, "expected")),
      desired_(address_of_one(desired, "desired")),
      previous_(address_of_one(previous, "previous")) {
  atomics::require_swappable(dtype);
  there_ = find_elements(on, rank, offset, dtype, 1);
}

std::unique_ptr<transfer> compare_swap::begin() const {
  if (!is_changed_here(on_, there_, dtype_))
    return on_.access_between_nodes()->start_compare_swap("window_compare_swap", there_.rank, there_.offset, dtype_,
                                                          expected_, desired_, previous_);
  atomics::compare_swap_element(dtype_, there_.mapped, expected_, desired_, previous_);
  return nullptr;
}

}  // namespace syncyte::window
