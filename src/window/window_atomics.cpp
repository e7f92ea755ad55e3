// Atomics of a window: the processor's where all parts are mapped, otherwise by MPI for all.
#include <atomic>

#include "atomics/elements.hpp"
#include "base/dtype.hpp"
#include "window/part_header.hpp"
#include "window/window.hpp"

namespace syncyte::window {

namespace {

void require_pointer(const void* pointer, const char* argument) {
  base::expect(pointer != nullptr, SYNCYTE_ERR_ARGUMENT, argument, "null", "the address of one element");
}

}  // namespace

part_header& window::header_of(int rank) const {
  return *reinterpret_cast<part_header*>(pointer(rank) - sizeof(part_header));
}

void window::combine(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const std::byte* source,
                     std::byte* previous, std::int64_t count) {
  const atomics::atomic_combine combine_elements = atomics::find_combine(dtype, op);
  const std::size_t bytes = base::dtype_size(dtype);
  require_element(rank, offset, bytes, static_cast<std::size_t>(count) * bytes);
  if (count == 0) return;
  if (remote_) return remote_->combine(rank, sizeof(part_header) + offset, dtype, op, source, previous, count);
  std::byte* const part = pointer(rank);
  if (atomics::has_atomics(dtype)) return combine_elements(part + offset, source, previous, count);
  atomics::lock_table locks = element_locks(header_of(rank), comm_->node(), name_);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t skipped = static_cast<std::size_t>(i) * bytes;
    const auto element = static_cast<std::int64_t>((offset + skipped) / bytes);
    locks.lock(element);
    combine_elements(part + offset + skipped, source + skipped, previous == nullptr ? nullptr : previous + skipped, 1);
    locks.unlock(element);
  }
}

void window::accumulate(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const void* source,
                        std::int64_t count) {
  combine(rank, offset, dtype, op, static_cast<const std::byte*>(source), nullptr, count);
}

void window::fetch_op(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const void* operand,
                      void* previous) {
  require_pointer(operand, "operand");
  require_pointer(previous, "previous");
  combine(rank, offset, dtype, op, static_cast<const std::byte*>(operand), static_cast<std::byte*>(previous), 1);
}

void window::compare_swap(int rank, std::size_t offset, syncyte_dtype_t dtype, const void* expected,
                          const void* desired, void* previous) {
  require_pointer(expected, "expected");
  require_pointer(desired, "desired");
  require_pointer(previous, "previous");
  atomics::require_swappable(dtype);
  const std::size_t bytes = base::dtype_size(dtype);
  require_element(rank, offset, bytes, bytes);
  if (remote_)
    remote_->compare_swap(rank, sizeof(part_header) + offset, dtype, expected, desired, previous);
  else
    atomics::compare_swap_element(dtype, pointer(rank) + offset, expected, desired, previous);
}

std::uint64_t window::swap_lock_word(int rank, std::uint64_t expected, std::uint64_t desired) {
  if (remote_) {
    std::uint64_t previous = 0;
    remote_->compare_swap(rank, offsetof(part_header, lock), SYNCYTE_INT64, &expected, &desired, &previous);
    return previous;
  }
  std::atomic_ref(header_of(rank).lock).compare_exchange_strong(expected, desired);
  return expected;
}

}  // namespace syncyte::window
