#include "window/window.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "atomics/elements.hpp"
#include "base/dtype.hpp"
#include "base/overlap.hpp"
#include "memory/mapping.hpp"
#include "mpi/small_collectives.hpp"
#include "watchdog/interrupts.hpp"
#include "window/open_remote.hpp"
#include "window/part_header.hpp"

namespace syncyte::window {

namespace {

std::int64_t next_serial() {
  static std::atomic<std::int64_t> last{0};
  return ++last;
}

void require_pointer(const void* pointer, const char* argument) {
  base::expect(pointer != nullptr, SYNCYTE_ERR_ARGUMENT, argument, "null", "the address of one element");
}

}  // namespace

window::window(std::shared_ptr<comm::communicator> comm, std::string name)
    : comm_(std::move(comm)), name_(std::move(name)) {}

std::shared_ptr<window> window::create(comm::collective_call& call, std::size_t bytes, const std::string& name,
                                       const std::string& label) {
  std::size_t whole = 0;
  call.attempt([&] {
    base::expect(bytes < (std::size_t{1} << 62), SYNCYTE_ERR_MEMORY, "size", bytes, "less than 2^62");
    whole = sizeof(part_header) + memory::round_up(bytes, part_alignment);
  });
  call.name_fact("window", name);
  call.agree();
  std::shared_ptr<window> made(new window(call.comm().shared_from_this(), label.empty() ? name : label));
  const std::vector<std::uint64_t> sizes = made->share_sizes(bytes);
  made->memory_ = comm::node_memory::allocate(call, whole, "window_create", std::as_bytes(std::span(sizes)));
  made->sizes_ = comm::table_of<std::uint64_t>(made->memory_);
  if (made->comm_->node().count > 1) {
    made->remote_ = open_remote(call, made->memory_->local(), made->memory_, {});
    made->reference_ = std::make_unique<comm::deferred_reference>(made->comm_, made->remote_);
  }
  return made;
}

/// Returns the sizes of all ranks, and gives the window the number that rank 0 chose.
std::vector<std::uint64_t> window::share_sizes(std::size_t mine) {
  const std::uint64_t sent[2] = {mine, static_cast<std::uint64_t>(next_serial())};
  const auto all = mpi::allgather(std::span<const std::uint64_t>(sent), comm_->data());
  serial_ = static_cast<std::int64_t>(all[1]);
  std::vector<std::uint64_t> sizes(all.size() / 2);
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) sizes[rank] = all[2 * rank];
  return sizes;
}

void window::require_rank(int rank) const {
  base::expect(rank >= 0 && rank < comm_->size(), SYNCYTE_ERR_ARGUMENT, "rank", rank, "0 to {}", comm_->size() - 1);
}

void window::require_bounds(int rank, std::int64_t offset, std::size_t bytes) const {
  require_rank(rank);
  const std::size_t size = sizes_[rank];
  const auto first = static_cast<std::size_t>(offset);
  base::expect(offset >= 0 && first <= size && bytes <= size - first, SYNCYTE_ERR_INDEX, "offset", offset,
               "room for {} bytes in rank {}'s part, which has {} bytes", bytes, rank, size);
}

void window::require_element(int rank, std::int64_t offset, std::size_t element, std::size_t bytes) const {
  base::expect(offset % static_cast<std::int64_t>(element) == 0, SYNCYTE_ERR_ARGUMENT, "offset", offset,
               "a multiple of the element's {} bytes", element);
  require_bounds(rank, offset, bytes);
}

/// Throws SYNCYTE_ERR_ARGUMENT if an operand shares memory with the bytes that an access to a rank's part, if it is
/// mapped, reads or writes. It may be these bytes themselves.
void window::require_apart_from_part(const std::byte* part, int rank, std::int64_t offset, const void* operand,
                                     std::size_t bytes, const char* argument) const {
  if (part == nullptr || !base::overlaps_packed(base::range_of(operand, bytes), {part + offset, 0}, bytes)) return;
  base::refuse(
      SYNCYTE_ERR_ARGUMENT,
      {.argument = argument,
       .value = fmt::format("in the same memory as other bytes of the access to rank {}'s part at {}", rank, offset),
       .expected = base::separate_memory});
}

std::int64_t window::size(int rank) const {
  require_rank(rank);
  return static_cast<std::int64_t>(sizes_[rank]);
}

std::byte* window::pointer(int rank) const {
  require_rank(rank);
  return find_part(rank);
}

std::byte* window::find_part(int rank) const {
  const topology::node_group& node = comm_->node();
  const int place = node.count == 1 ? rank : node.node_rank(rank);
  return place < 0 ? nullptr : memory_->part(place).data() + sizeof(part_header);
}

std::byte* window::atomic_part(int rank) const {
  return remote_ && !remote_->is_atomic_with_processor() ? nullptr : find_part(rank);
}

bool window::put_here(int rank, std::int64_t offset, const void* source, std::size_t bytes) {
  require_bounds(rank, offset, bytes);
  if (bytes == 0) return true;
  std::byte* const part = find_part(rank);
  require_apart_from_part(part, rank, offset, source, bytes, "source");
  if (part != nullptr) std::memmove(part + offset, source, bytes);
  return part != nullptr;
}

bool window::get_here(int rank, std::int64_t offset, void* target, std::size_t bytes) {
  require_bounds(rank, offset, bytes);
  if (bytes == 0) return true;
  const std::byte* const part = find_part(rank);
  require_apart_from_part(part, rank, offset, target, bytes, "target");
  if (part != nullptr) std::memmove(target, part + offset, bytes);
  return part != nullptr;
}

/// An offset in a part as one from the part's header, as remotes count.
static std::size_t in_part(std::int64_t offset) { return sizeof(part_header) + static_cast<std::size_t>(offset); }

void window::put_bytes(int rank, std::int64_t offset, const void* source, std::size_t bytes) {
  if (put_here(rank, offset, source, bytes)) return;
  remote_->put(rank, in_part(offset), static_cast<const std::byte*>(source), bytes);
}

void window::get_bytes(int rank, std::int64_t offset, void* target, std::size_t bytes) {
  if (get_here(rank, offset, target, bytes)) return;
  remote_->get(rank, in_part(offset), static_cast<std::byte*>(target), bytes);
}

std::unique_ptr<access::started> window::started(std::unique_ptr<transfer> in_flight) const {
  return std::make_unique<access::started>(shared_from_this(), std::move(in_flight));
}

std::unique_ptr<access::started> window::iput_bytes(int rank, std::int64_t offset, const void* source,
                                                    std::size_t bytes) {
  if (put_here(rank, offset, source, bytes)) return started(nullptr);
  return started(remote_->start_put(rank, in_part(offset), static_cast<const std::byte*>(source), bytes));
}

std::unique_ptr<access::started> window::iget_bytes(int rank, std::int64_t offset, void* target, std::size_t bytes) {
  if (get_here(rank, offset, target, bytes)) return started(nullptr);
  return started(remote_->start_get(rank, in_part(offset), static_cast<std::byte*>(target), bytes));
}

part_header& window::header_of(int rank) const {
  return *reinterpret_cast<part_header*>(find_part(rank) - sizeof(part_header));
}

bool window::combine_here(int rank, std::int64_t offset, syncyte_dtype_t dtype, syncyte_op_t op,
                          const std::byte* source, std::byte* previous, std::int64_t count) {
  const atomics::atomic_combine combine_elements = atomics::find_combine(dtype, op);
  const std::size_t bytes = base::dtype_size(dtype);
  require_element(rank, offset, bytes, static_cast<std::size_t>(count) * bytes);
  if (count == 0) return true;
  if (previous == nullptr)
    require_apart_from_part(find_part(rank), rank, offset, source, static_cast<std::size_t>(count) * bytes, "source");
  std::byte* const part = atomic_part(rank);
  // A remote's owner takes no locks of elements: all ranks change these elements through it.
  if (part == nullptr || (remote_ && !atomics::has_atomics(dtype))) return false;
  if (atomics::has_atomics(dtype)) {
    combine_elements(part + offset, source, previous, count);
    return true;
  }
  atomics::lock_table locks = element_locks(header_of(rank), comm_->node(), name_);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t skipped = static_cast<std::size_t>(i) * bytes;
    const auto element = static_cast<std::int64_t>((static_cast<std::size_t>(offset) + skipped) / bytes);
    locks.lock(element);
    combine_elements(part + offset + skipped, source + skipped, previous == nullptr ? nullptr : previous + skipped, 1);
    locks.unlock(element);
  }
  return true;
}

void window::accumulate(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* source, std::int64_t count,
                        syncyte_op_t op) {
  const auto* const elements = static_cast<const std::byte*>(source);
  if (combine_here(rank, offset, dtype, op, elements, nullptr, count)) return;
  remote_->combine(rank, in_part(offset), dtype, op, elements, nullptr, count);
}

std::unique_ptr<access::started> window::iaccumulate(int rank, std::int64_t offset, syncyte_dtype_t dtype,
                                                     const void* source, std::int64_t count, syncyte_op_t op) {
  const auto* const elements = static_cast<const std::byte*>(source);
  if (combine_here(rank, offset, dtype, op, elements, nullptr, count)) return started(nullptr);
  return started(remote_->start_combine(rank, in_part(offset), dtype, op, elements, nullptr, count));
}

void window::fetch_op(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* operand, syncyte_op_t op,
                      void* previous) {
  require_pointer(operand, "operand");
  require_pointer(previous, "previous");
  const auto* const element = static_cast<const std::byte*>(operand);
  auto* const old = static_cast<std::byte*>(previous);
  if (combine_here(rank, offset, dtype, op, element, old, 1)) return;
  remote_->combine(rank, in_part(offset), dtype, op, element, old, 1);
}

std::unique_ptr<access::started> window::ifetch_op(int rank, std::int64_t offset, syncyte_dtype_t dtype,
                                                   const void* operand, syncyte_op_t op, void* previous) {
  require_pointer(operand, "operand");
  require_pointer(previous, "previous");
  const auto* const element = static_cast<const std::byte*>(operand);
  auto* const old = static_cast<std::byte*>(previous);
  if (combine_here(rank, offset, dtype, op, element, old, 1)) return started(nullptr);
  return started(remote_->start_combine(rank, in_part(offset), dtype, op, element, old, 1));
}

bool window::compare_swap_here(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* expected,
                               const void* desired, void* previous) {
  require_pointer(expected, "expected");
  require_pointer(desired, "desired");
  require_pointer(previous, "previous");
  atomics::require_swappable(dtype);
  const std::size_t bytes = base::dtype_size(dtype);
  require_element(rank, offset, bytes, bytes);
  std::byte* const part = atomic_part(rank);
  if (part != nullptr) atomics::compare_swap_element(dtype, part + offset, expected, desired, previous);
  return part != nullptr;
}

void window::compare_swap(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* expected,
                          const void* desired, void* previous) {
  if (compare_swap_here(rank, offset, dtype, expected, desired, previous)) return;
  remote_->compare_swap(rank, in_part(offset), dtype, expected, desired, previous);
}

std::unique_ptr<access::started> window::icompare_swap(int rank, std::int64_t offset, syncyte_dtype_t dtype,
                                                       const void* expected, const void* desired, void* previous) {
  if (compare_swap_here(rank, offset, dtype, expected, desired, previous)) return started(nullptr);
  return started(remote_->start_compare_swap(rank, in_part(offset), dtype, expected, desired, previous));
}

std::uint64_t window::swap_lock_word(int rank, std::uint64_t expected, std::uint64_t desired) {
  if (atomic_part(rank) == nullptr) {
    const watchdog::without_interrupts until_answered;  // the owner swaps also if this rank no longer waits for it
    std::uint64_t previous = 0;
    remote_->compare_swap(rank, offsetof(part_header, lock), SYNCYTE_INT64, &expected, &desired, &previous);
    return previous;
  }
  std::atomic_ref(header_of(rank).lock).compare_exchange_strong(expected, desired);
  return expected;
}

void window::flush(int rank) {
  if (rank != -1) require_rank(rank);
  if (remote_)
    remote_->flush(rank);
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void window::fence() {
  comm::collective_call call(*comm_, "window_fence", comm::collective_call::always_agrees);
  call.attempt([&] { flush(-1); });
  call.fact("window", serial_);
  call.agree();
  if (remote_) remote_->synchronize_memory();
}

}  // namespace syncyte::window
