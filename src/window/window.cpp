// SPDX-License-Identifier: BSD-3-Clause
#include "window/window.hpp"

#include <atomic>
#include <cstddef>
#include <utility>

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
  const int node_rank = node.count == 1 ? rank : node.node_rank(rank);
  return node_rank < 0 ? nullptr : memory_->part(node_rank).data() + sizeof(part_header);
}

place window::find(int rank, std::int64_t offset, std::size_t bytes) const {
  require_rank(rank);
  const std::size_t size = sizes_[rank];
  const auto first = static_cast<std::size_t>(offset);
  base::expect(offset >= 0 && first <= size && bytes <= size - first, SYNCYTE_ERR_INDEX, "offset", offset,
               "room for {} bytes in rank {}'s part, which has {} bytes", bytes, rank, size);
  std::byte* const part = find_part(rank);
  return {rank, sizeof(part_header) + first, part == nullptr ? nullptr : part + first};
}

part_header& window::header_of(int rank) const {
  return *reinterpret_cast<part_header*>(find_part(rank) - sizeof(part_header));
}

bool window::has_mapped_lock(int rank) const {
  return (!remote_ || remote_->is_atomic_with_processor()) && find_part(rank) != nullptr;
}

std::uint64_t window::swap_lock_word(int rank, std::uint64_t expected, std::uint64_t desired) {
  if (!has_mapped_lock(rank)) {
    const watchdog::without_interrupts until_answered;  // the owner swaps also if this rank no longer waits for it
    std::uint64_t previous = 0;
    const char* const operation = desired > expected ? "window_lock" : "window_unlock";
    remote_->compare_swap(operation, rank, offsetof(part_header, lock), SYNCYTE_INT64, &expected, &desired, &previous);
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
