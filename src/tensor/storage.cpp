// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/storage.hpp"

#include <atomic>
#include <utility>

#include "comm/communicator.hpp"
#include "fabric/process_engine.hpp"
#include "memory/mapping.hpp"
#include "rows/add_rows.hpp"
#include "rows/combine_pieces.hpp"
#include "tensor/device_target.hpp"
#include "window/fabric_remote.hpp"
#include "window/open_remote.hpp"

namespace syncyte::tensor {
namespace {

constexpr std::size_t line_bytes = 64;

/// Layout of a node's memory: the rows of its ranks, one rank after another, then the table of row locks.
struct node_plan {
  std::size_t rows_bytes = 0;
  std::int64_t rows = 0;
  std::size_t locks_offset = 0;
  std::size_t locks_bytes = 0;

  node_plan(const layout& shape, const topology::node_group& node) {
    for (const int member : node.members) {
      rows += shape.partition().count(member);
      rows_bytes += shape.local_bytes(member);
    }
    locks_offset = memory::round_up(rows_bytes, line_bytes);
    if (rows > 0 && shape.row_bytes() >= rows::locked_row_bytes)
      locks_bytes = static_cast<std::size_t>(atomics::lock_table::words_for(rows)) * sizeof(std::uint64_t);
  }

  /// Bytes that this rank contributes. The node's last rank adds the locks, so that they follow all rows.
  std::size_t contribution(const layout& shape, const comm::communicator& comm) const {
    const std::size_t mine = shape.local_bytes(comm.rank());
    const bool is_last = comm.node().members.back() == comm.rank();
    return is_last && locks_bytes > 0 ? mine + locks_offset - rows_bytes + locks_bytes : mine;
  }
};

std::span<std::uint64_t> as_words(std::byte* begin, std::size_t bytes) {
  return {reinterpret_cast<std::uint64_t*>(begin), bytes / sizeof(std::uint64_t)};
}

}  // namespace

std::shared_ptr<storage> storage::allocate(comm::collective_call& call, layout& shape) {
  const comm::communicator& comm = call.comm();
  const topology::node_group& node = comm.node();
  const node_plan plan(shape, node);
  auto result = std::make_shared<storage>();
  const auto table = shape.partition().table();
  result->memory_ =
      comm::node_memory::allocate(call, plan.contribution(shape, comm), shape.text().c_str(), std::as_bytes(table));
  if (!table.empty()) shape.partition().use_table(comm::table_of<std::int64_t>(result->memory_));
  result->node_ = result->memory_->all().data();
  result->local_ = result->memory_->local().data();
  result->memory_of_rows_ = base::range_of(result->node_, plan.rows_bytes);
  std::vector<rows::row_range> ranges;
  std::byte* base = result->node_;
  for (const int member : node.members) {
    ranges.push_back({shape.partition().first(member), shape.partition().count(member), base});
    base += shape.local_bytes(member);
  }
  result->mapped_rows_ = rows::row_map(ranges, shape.row_bytes());
  if (plan.locks_bytes > 0)
    result->make_locks(as_words(result->node_ + plan.locks_offset, plan.locks_bytes), node, node.rank, shape.text());
  if (node.count > 1) result->open_remote(call, shape);
  return result;
}

std::shared_ptr<storage> storage::allocate_on_devices(comm::collective_call& call, layout& shape, int device) {
  const comm::communicator& comm = call.comm();
  if (const auto table = shape.partition().table(); !table.empty())
    shape.partition().use_table(comm::share_table(call, table, shape.text().c_str()));
  auto result = std::make_shared<storage>();
  result->take(device_storage::allocate(call, shape, device), shape);
  if (comm.node().count > 1) result->open_devices(call, shape);
  return result;
}

std::shared_ptr<storage> storage::wrap_on_device(comm::collective_call& call, layout& shape, std::byte* mine,
                                                 int device, std::int64_t* released) {
  auto result = std::make_shared<storage>();
  call.attempt([&] { result->take(device_storage::wrap(call.comm(), shape, mine, device), shape); });
  call.agree();
  result->released_ = released;
  return result;
}

void storage::take(std::unique_ptr<device_storage> rows, const layout& shape) {
  on_device_ = std::move(rows);
  local_ = on_device_->local();
  node_ = on_device_->node();
  memory_of_rows_ = base::range_of(node_, static_cast<std::size_t>(on_device_->table().rows) * shape.row_bytes());
}

std::shared_ptr<storage> storage::wrap(comm::collective_call& call, layout& shape, std::byte* mine,
                                       std::int64_t* released) {
  const comm::communicator& comm = call.comm();
  if (const auto table = shape.partition().table(); !table.empty())
    shape.partition().use_table(comm::share_table(call, table, shape.text().c_str()));
  const std::int64_t count = shape.partition().count(comm.rank());
  auto result = std::make_shared<storage>();
  result->local_ = mine;
  result->memory_of_rows_ = base::range_of(mine, shape.local_bytes(comm.rank()));
  const rows::row_range range{shape.partition().first(comm.rank()), count, mine};
  result->mapped_rows_ = rows::row_map({&range, 1}, shape.row_bytes());
  if (count > 0 && rows::needs_locks(result->mapped_rows_, shape.dtype())) {
    result->private_words_.resize(static_cast<std::size_t>(atomics::lock_table::words_for(count)));
    result->locks_ = atomics::lock_table(result->private_words_, 0, [](int) { return true; });
  }
  if (comm.size() == 1)
    result->node_ = mine;
  else
    result->open_remote(call, shape);
  result->released_ = released;  // set last: if the call fails, `released` stays unchanged
  return result;
}

storage::~storage() {
  remote_.reset();     // before the rows and locks, with which it adds for other ranks
  on_device_.reset();  // waits for kernels that use wrapped rows
  if (released_ != nullptr) std::atomic_ref(*released_).store(1, std::memory_order_release);
}

/// Opens this rank's rows to others.
void storage::open_remote(comm::collective_call& call, const layout& shape) {
  const int rank = call.comm().rank();
  const auto add = [this, first = shape.partition().first(rank), row_bytes = shape.row_bytes(), dtype = shape.dtype()](
                       std::span<const std::size_t> offsets, std::size_t bytes, const std::byte* rows,
                       syncyte_op_t op) {
    std::vector<rows::row_piece> pieces;
    pieces.reserve(offsets.size());
    for (const std::size_t offset : offsets)
      pieces.push_back({first + static_cast<std::int64_t>(offset / row_bytes), offset % row_bytes});
    return rows::try_combine_pieces(mapped_rows_, {pieces, bytes, rows, dtype, op}, locks_);
  };
  remote_ = window::open_remote(call, {local_, shape.local_bytes(rank)}, memory_, add);
}

/// Opens this rank's rows on devices to other nodes.
void storage::open_devices(comm::collective_call& call, const layout& shape) {
  std::shared_ptr<device_target> mine;
  call.attempt([&] { mine = std::make_shared<device_target>(shape, call.comm().rank(), on_device_); });
  call.agree();
  auto ranks = fabric::group::of(call);
  call.attempt([&] {
    base::require(ranks != nullptr, SYNCYTE_ERR_UNSUPPORTED,
                  "{} is to be in device memory of {} nodes, and {} does not use the fabric: {}", shape.text(),
                  call.comm().node().count, call.comm().name(), fabric::reason_for_none());
  });
  call.agree();
  remote_ = window::fabric_remote::create(call, std::move(ranks), std::move(mine));
}

void storage::make_locks(std::span<std::uint64_t> words, const topology::node_group& node, int holder,
                         const std::string& name) {
  // The communicator outlives all uses of the locks.
  const auto is_alive = [&node](int other) { return node.is_alive(other); };
  const auto world_rank = [&node](int other) { return node.world_ranks[static_cast<std::size_t>(other)]; };
  locks_ = atomics::lock_table(words, holder, is_alive, name, {}, world_rank);
}

void storage::free_collectively() noexcept {
  if (remote_) remote_->free_collectively();
}

}  // namespace syncyte::tensor
