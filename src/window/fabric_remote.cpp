#include "window/fabric_remote.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <exception>
#include <vector>

#include "base/dtype.hpp"
#include "mpi/process.hpp"
#include "watchdog/long_wait.hpp"
#include "window/fabric_requests.hpp"

namespace syncyte::window {
namespace {

/// A wait for the answers of owners.
class answers_wait final : public watchdog::long_wait {
 public:
  answers_wait(const char* operation, const std::string& comm) : operation_(operation), comm_(comm) {}

 private:
  void examine(std::optional<watchdog::scope>& scope) override {
    if (!scope) scope.emplace(operation_, comm_, 0);
  }

  const char* operation_;
  const std::string& comm_;
};

}  // namespace

std::shared_ptr<fabric_remote> fabric_remote::create(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                                     std::shared_ptr<memory_target> mine) {
  std::shared_ptr<fabric_remote> result(new fabric_remote(std::move(ranks), call.comm()));
  result->ranks_->through().targets().add(result->name_, std::move(mine));
  call.agree();  // no rank sends a request before all have added theirs
  return result;
}

void fabric_remote::free_collectively() noexcept { ranks_->through().targets().remove(name_); }

/// Runs `begin(exchange)`, which adds sources, and waits for their end.
template <class Begin>
void fabric_remote::exchange(const char* operation, Begin&& begin) {
  mpi::require_rank_process();
  answers_wait wait(operation, comm_.name());
  std::atomic_thread_fence(std::memory_order_seq_cst);
  fabric::exchange running(ranks_->through());
  begin(running);
  running.wait([&] {
    wait.look();
    if (mpi::needs_progress()) mpi::progress_all();
  });
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void fabric_remote::run(const char* operation, int rank, fabric::request_source& source) {
  exchange(operation, [&](fabric::exchange& running) { running.add(ranks_->at(rank), source); });
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
                             std::span<const remote_rows> owners) {
  std::deque<row_requests> short_rows;
  std::deque<piece_requests> long_rows;
  exchange(operation, [&](fabric::exchange& running) {
    for (const remote_rows& each : owners) {
      fabric::peer& owner = ranks_->at(each.rank);
      if (each.row_bytes <= row_requests::longest_row)
        running.add(owner, short_rows.emplace_back(ranks_->rank_name(each.rank), name_, rows, each));
      else
        running.add(owner, long_rows.emplace_back(ranks_->rank_name(each.rank), name_, pieces, each));
    }
  });
}

void fabric_remote::get_rows(std::span<const remote_rows> owners) {
  run_rows("gather", memory_operation::read_rows, memory_operation::read, owners);
}

void fabric_remote::put_rows(std::span<const remote_rows> owners) {
  run_rows("scatter", memory_operation::write_rows, memory_operation::write, owners);
}

void fabric_remote::add_rows(std::span<const remote_rows> owners) {
  run_rows("scatter_add", memory_operation::add_rows, memory_operation::add, owners);
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
