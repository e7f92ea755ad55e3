#include "window/fabric_remote.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <deque>

#include "base/dtype.hpp"
#include "window/fabric_requests.hpp"

namespace syncyte::window {

std::shared_ptr<fabric_remote> fabric_remote::create(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                                     std::shared_ptr<memory_target> mine) {
  std::shared_ptr<fabric_remote> result(new fabric_remote(std::move(ranks)));
  result->ranks_->through().targets().add(result->name_, std::move(mine));
  try {
    call.agree();  // no rank sends a request before all have added theirs
  } catch (...) {
    result->free_collectively();
    throw;
  }
  return result;
}

void fabric_remote::free_collectively() noexcept { ranks_->through().targets().remove(name_); }

void fabric_remote::run(const char* operation, int rank, fabric::request_source& source) {
  ranks_->run(operation, [&](fabric::exchange& running) { running.add(ranks_->at(rank), source); });
}

void fabric_remote::put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) {
  const remote_rows row{rank, bytes, {&offset, 1}, const_cast<std::byte*>(source), {}};  // it is only read
  piece_requests requests(ranks_->rank_name(rank), name_, memory_operation::write, row);
  run("put", rank, requests);
}

void fabric_remote::get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) {
  const remote_rows row{rank, bytes, {&offset, 1}, target, {}};
  piece_requests requests(ranks_->rank_name(rank), name_, memory_operation::read, row);
  run("get", rank, requests);
}

/// Requests to all owners, which overlap.
void fabric_remote::run_rows(const char* operation, memory_operation rows, memory_operation pieces,
                             std::span<const remote_rows> owners, syncyte_op_t op) {
  std::deque<row_requests> short_rows;
  std::deque<piece_requests> long_rows;
  ranks_->run(operation, [&](fabric::exchange& running) {
    for (const remote_rows& each : owners) {
      fabric::peer& owner = ranks_->at(each.rank);
      if (each.row_bytes <= row_requests::longest_row)
        running.add(owner, short_rows.emplace_back(ranks_->rank_name(each.rank), name_, rows, each, op));
      else
        running.add(owner, long_rows.emplace_back(ranks_->rank_name(each.rank), name_, pieces, each, op));
    }
  });
}

void fabric_remote::get_rows(std::span<const remote_rows> owners) {
  run_rows("gather", memory_operation::read_rows, memory_operation::read, owners);
}

void fabric_remote::put_rows(std::span<const remote_rows> owners) {
  run_rows("scatter", memory_operation::write_rows, memory_operation::write, owners);
}

void fabric_remote::add_rows(std::span<const remote_rows> owners, syncyte_op_t op) {
  run_rows("scatter_add", memory_operation::add_rows, memory_operation::add, owners, op);
}

void fabric_remote::combine(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op,
                            const std::byte* source, std::byte* previous, std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * base::dtype_size(dtype);
  element_requests requests(ranks_->rank_name(rank), name_,
                            {memory_operation::combine, offset, dtype, op, {source, bytes}, previous});
  run("accumulate", rank, requests);
}

void fabric_remote::compare_swap(int rank, std::size_t offset, syncyte_dtype_t dtype, const void* expected,
                                 const void* desired, void* previous) {
  const std::size_t bytes = base::dtype_size(dtype);
  std::array<std::byte, 32> both;
  std::memcpy(both.data(), expected, bytes);
  std::memcpy(both.data() + bytes, desired, bytes);
  element_requests requests(ranks_->rank_name(rank), name_,
                            {memory_operation::compare_swap, offset, dtype, SYNCYTE_OP_REPLACE,
                             std::span(both).first(2 * bytes), static_cast<std::byte*>(previous)});
  run("compare_swap", rank, requests);
}

void fabric_remote::flush(int) { std::atomic_thread_fence(std::memory_order_seq_cst); }

void fabric_remote::synchronise_memory() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace syncyte::window
