#include "window/fabric_remote.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <utility>

#include "atomics/elements.hpp"
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

/// Rows in flight: requests to all owners, which overlap.
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
  void wait() override { ranks_->wait(last_ ? "put_signal" : kind_.name, running_); }
  bool then(const element_change& change) override;

 private:
  std::shared_ptr<fabric::group> ranks_;
  access_kind kind_;
  std::deque<row_requests> short_rows_;
  std::deque<piece_requests> long_rows_;
  std::unique_ptr<fabric::request_source> last_;
  fabric::exchange running_;  // destroyed before the requests
};

/// The memory_target of a rank.
struct memory_at {
  std::shared_ptr<fabric::group> ranks;
  fabric::object_name object;
  int rank;
};

/// Requests to one owner, in flight. `Operand` is what they refer to and makes them.
template <class Operand>
class one_transfer final : public transfer {
 public:
  template <class... Arguments>
  explicit one_transfer(memory_at owner, const Arguments&... arguments)
      : ranks_(std::move(owner.ranks)),
        operand_(arguments...),
        requests_(operand_.requests(ranks_->rank_name(owner.rank), owner.object)),
        running_(ranks_->begin()) {
    running_.add(ranks_->at(owner.rank), requests_);
  }

  void drive() override { running_.drive(); }
  bool test() override { return running_.test(); }
  void wait() override { ranks_->wait(operand_.name(), running_); }

 private:
  std::shared_ptr<fabric::group> ranks_;
  Operand operand_;
  typename Operand::source requests_;
  fabric::exchange running_;  // destroyed before the requests
};

/// Bytes at an offset.
class bytes_operand {
 public:
  using source = piece_requests;
  bytes_operand(memory_operation operation, std::size_t offset, std::byte* here, std::size_t bytes)
      : operation_(operation), offset_(offset), here_(here), bytes_(bytes) {}

  const char* name() const { return operation_ == memory_operation::read ? "get" : "put"; }
  source requests(std::string owner, fabric::object_name object) const {
    return {std::move(owner), object, operation_, remote_rows{0, bytes_, {&offset_, 1}, here_, {}}};
  }

 private:
  memory_operation operation_;
  std::size_t offset_;
  std::byte* here_;
  std::size_t bytes_;
};

/// Bytes of an operand that is copied: one element, or an expected and a desired one.
constexpr std::size_t most_copied = 32;

/// Elements that are combined, or compared and swapped.
class element_operand {
 public:
  using source = element_requests;
  explicit element_operand(const element_requests::change& what) : what_(what) {
    if (what.operand.size() > most_copied) return;
    std::memcpy(copy_.data(), what.operand.data(), what.operand.size());
    is_copied_ = true;
  }

  const char* name() const { return what_.operation == memory_operation::combine ? "accumulate" : "compare_swap"; }
  source requests(std::string owner, fabric::object_name object) const {
    element_requests::change what = what_;
    if (is_copied_) what.operand = std::span(copy_).first(what.operand.size());
    return {std::move(owner), object, what};
  }

 private:
  element_requests::change what_;
  std::array<std::byte, most_copied> copy_{};
  bool is_copied_ = false;
};

/// A change of an element that is mapped here.
class mapped_change final : public fabric::request_source {
 public:
  explicit mapped_change(const element_change& what) : what_(what) {}

  std::shared_ptr<fabric::message> next() override {
    atomics::find_combine(what_.dtype, what_.op)(what_.address, what_.operand.data(), nullptr, 1);
    return nullptr;
  }
  void on_answer(const fabric::message_header&, std::span<const std::byte>) override {}
  std::string owner_name() const override { return "this rank"; }

 private:
  element_change what_;
};

/// A request for the change of an element at its owner.
class change_request final : public fabric::request_source {
 public:
  change_request(const fabric_remote& at, const element_change& what)
      : operand_(what.operand),
        requests_(at.ranks().rank_name(what.rank), at.name(),
                  {memory_operation::combine, what.offset, what.dtype, what.op,
                   std::span(operand_).first(base::dtype_size(what.dtype)), nullptr}) {}

  std::shared_ptr<fabric::message> next() override { return requests_.next(); }
  void on_answer(const fabric::message_header& request, std::span<const std::byte> payload) override {
    requests_.on_answer(request, payload);
  }
  std::string owner_name() const override { return requests_.owner_name(); }

 private:
  decltype(element_change::operand) operand_;
  element_requests requests_;
};

bool fabric_rows::then(const element_change& change) {
  if (change.address != nullptr) {
    last_ = std::make_unique<mapped_change>(change);
    running_.add_last(nullptr, *last_);
    return true;
  }
  const fabric_remote* const at = change.at->by_fabric();
  if (at == nullptr) return false;
  last_ = std::make_unique<change_request>(*at, change);
  running_.add_last(&at->ranks().at(change.rank), *last_);
  return true;
}

using bytes_transfer = one_transfer<bytes_operand>;
using element_transfer = one_transfer<element_operand>;

}  // namespace

std::shared_ptr<fabric_remote> fabric_remote::create(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                                     std::shared_ptr<memory_target> mine) {
  serve_departure(ranks->through());
  const fabric::object_name name = ranks->add_object(call, std::move(mine));
  return std::shared_ptr<fabric_remote>(new fabric_remote(std::move(ranks), name));
}

void fabric_remote::free_collectively() noexcept { ranks_->through().targets().remove(name_); }

void fabric_remote::put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) {
  start_put(rank, offset, source, bytes)->wait();
}

std::unique_ptr<transfer> fabric_remote::start_put(int rank, std::size_t offset, const std::byte* source,
                                                   std::size_t bytes) {
  std::byte* const here = const_cast<std::byte*>(source);  // it is only read
  return std::make_unique<bytes_transfer>(memory_at{ranks_, name_, rank}, memory_operation::write, offset, here, bytes);
}

std::unique_ptr<transfer> fabric_remote::start_get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) {
  return std::make_unique<bytes_transfer>(memory_at{ranks_, name_, rank}, memory_operation::read, offset, target,
                                          bytes);
}

std::unique_ptr<transfer> fabric_remote::start_rows(row_access what, std::span<const remote_rows> owners,
                                                    syncyte_op_t op) {
  return std::make_unique<fabric_rows>(ranks_, name_, what, owners, op);
}

std::unique_ptr<transfer> fabric_remote::start_combine(int rank, std::size_t offset, syncyte_dtype_t dtype,
                                                       syncyte_op_t op, const std::byte* source, std::byte* previous,
                                                       std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * base::dtype_size(dtype);
  const element_requests::change what{memory_operation::combine, offset, dtype, op, {source, bytes}, previous};
  return std::make_unique<element_transfer>(memory_at{ranks_, name_, rank}, what);
}

std::unique_ptr<transfer> fabric_remote::start_compare_swap(int rank, std::size_t offset, syncyte_dtype_t dtype,
                                                            const void* expected, const void* desired, void* previous) {
  const std::size_t bytes = base::dtype_size(dtype);
  std::array<std::byte, most_copied> both;
  std::memcpy(both.data(), expected, bytes);
  std::memcpy(both.data() + bytes, desired, bytes);
  const element_requests::change what{
      memory_operation::compare_swap,   offset, dtype, SYNCYTE_OP_REPLACE, std::span(both).first(2 * bytes),
      static_cast<std::byte*>(previous)};
  return std::make_unique<element_transfer>(memory_at{ranks_, name_, rank}, what);
}

void fabric_remote::flush(int) { std::atomic_thread_fence(std::memory_order_seq_cst); }

void fabric_remote::synchronize_memory() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace syncyte::window
