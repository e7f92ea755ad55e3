#include "window/fabric_remote.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <deque>

#include "base/dtype.hpp"
#include "window/fabric_requests.hpp"

namespace syncyte::window {
namespace {

/// Names and operations of an access: for rows that share requests, and for long rows.
struct access_kind {
  const char* name;
  memory_operation rows, pieces;
};

constexpr access_kind kind_of(row_access what) {
  switch (what) {
    case row_access::get:
      return {"gather", memory_operation::read_rows, memory_operation::read};
    case row_access::put:
      return {"scatter", memory_operation::write_rows, memory_operation::write};
    default:
      return {"scatter_add", memory_operation::add_rows, memory_operation::add};
  }
}

/// Rows under way: requests to all owners, which overlap.
class fabric_rows final : public transfer {
 public:
  fabric_rows(std::shared_ptr<fabric::group> ranks, fabric::object_name object, row_access what,
              std::span<const remote_rows> owners, syncyte_op_t op)
      : ranks_(std::move(ranks)), kind_(kind_of(what)), running_(ranks_->begin()) {
    for (const remote_rows& each : owners) {
      fabric::peer& owner = ranks_->at(each.rank);
      if (each.row_bytes <= row_requests::longest_row)
        running_.add(owner, short_rows_.emplace_back(ranks_->rank_name(each.rank), object, kind_.rows, each, op));
      else
        running_.add(owner, long_rows_.emplace_back(ranks_->rank_name(each.rank), object, kind_.pieces, each, op));
    }
  }

  void drive() override { running_.drive(); }
  bool test() override { return running_.test(); }
  void wait() override { ranks_->wait(kind_.name, running_); }

 private:
  std::shared_ptr<fabric::group> ranks_;
  access_kind kind_;
  std::deque<row_requests> short_rows_;
  std::deque<piece_requests> long_rows_;
  fabric::exchange running_;  // destroyed before the requests
};

}  // namespace

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

void fabric_remote::get_rows(std::span<const remote_rows> owners) {
  fabric_rows(ranks_, name_, row_access::get, owners, SYNCYTE_OP_REPLACE).wait();
}

void fabric_remote::put_rows(std::span<const remote_rows> owners) {
  fabric_rows(ranks_, name_, row_access::put, owners, SYNCYTE_OP_REPLACE).wait();
}

void fabric_remote::add_rows(std::span<const remote_rows> owners, syncyte_op_t op) {
  fabric_rows(ranks_, name_, row_access::add, owners, op).wait();
}

std::unique_ptr<transfer> fabric_remote::start_rows(row_access what, std::span<const remote_rows> owners,
                                                    syncyte_op_t op) {
  return std::make_unique<fabric_rows>(ranks_, name_, what, owners, op);
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
