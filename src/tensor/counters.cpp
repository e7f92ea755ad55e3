// Single elements of integer tensors as counters and flags.

#include <time.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "tensor/whole_tensor.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::tensor {
namespace {

using clock = std::chrono::steady_clock;

/// Calls visitor with the element as an atomic of its width.
template <class Visitor>
std::int64_t visit_atomic(std::byte* address, bool is_wide, Visitor&& visitor) {
  if (is_wide) return visitor(std::atomic_ref(*reinterpret_cast<std::int64_t*>(address)));
  return visitor(std::atomic_ref(*reinterpret_cast<std::int32_t*>(address)));
}

bool compares(syncyte_compare_t compare, std::int64_t left, std::int64_t right) {
  switch (compare) {
    case SYNCYTE_COMPARE_EQ:
      return left == right;
    case SYNCYTE_COMPARE_NE:
      return left != right;
    case SYNCYTE_COMPARE_GE:
      return left >= right;
    default:
      return left <= right;
  }
}

/// Sleeps between looks at an element: short at first, so that a quick answer is seen quickly, then longer.
class back_off {
 public:
  explicit back_off(double timeout) : begin_(clock::now()), timeout_(timeout) {}

  double waited() const { return std::chrono::duration<double>(clock::now() - begin_).count(); }
  bool is_over() const { return timeout_ >= 0 && waited() >= timeout_; }
  bool is_long() const { return pause_ >= longest; }

  void sleep() {
    double seconds = pause_;
    if (timeout_ >= 0) seconds = std::clamp(timeout_ - waited(), 0.0, pause_);
    const timespec time{0, static_cast<long>(seconds * 1e9)};
    ::nanosleep(&time, nullptr);
    pause_ = std::min(2 * pause_, longest);
  }

 private:
  static constexpr double longest = 1e-3;

  clock::time_point begin_;
  double timeout_;
  double pause_ = 20e-6;
};

}  // namespace

/// One element, and the way to it: the processor's atomics where all rows are direct, otherwise MPI's for all of them,
/// because the two are not atomic with each other.
struct whole_tensor::counter {
  std::byte* address;  // null: by MPI
  window::remote* remote;
  int owner;
  std::size_t offset;
  syncyte_dtype_t dtype;

  bool is_wide() const { return dtype == SYNCYTE_INT64; }

  /// The element before `op` by MPI. MPI orders nothing else: the fences do. Whoever asks again and again must let MPI
  /// serve the others in between, or nobody gets on.
  std::int64_t fetch(syncyte_op_t op, std::int64_t operand) const {
    std::int64_t previous = 0;
    const auto narrow = static_cast<std::int32_t>(operand);
    std::int32_t narrow_previous = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    remote->fetch_op(owner, offset, dtype, op, is_wide() ? static_cast<const void*>(&operand) : &narrow,
                     is_wide() ? static_cast<void*>(&previous) : &narrow_previous);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    mpi::probe();
    return is_wide() ? previous : narrow_previous;
  }

  std::int64_t swap(std::int64_t expected, std::int64_t desired) const {
    return is_wide() ? swap_as<std::int64_t>(expected, desired) : swap_as<std::int32_t>(expected, desired);
  }

  template <class Number>
  std::int64_t swap_as(std::int64_t expected, std::int64_t desired) const {
    const auto before = static_cast<Number>(expected);
    const auto after = static_cast<Number>(desired);
    Number previous = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    remote->compare_swap(owner, offset, dtype, &before, &after, &previous);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    mpi::probe();
    return previous;
  }

  std::int64_t load() const {
    if (address == nullptr) return fetch(SYNCYTE_OP_BOR, 0);
    return visit_atomic(address, is_wide(), [](auto element) { return element.load(std::memory_order_acquire); });
  }
};

whole_tensor::counter whole_tensor::find_counter(std::int64_t element) const {
  const syncyte_dtype_t dtype = layout_.dtype();
  base::require(dtype == SYNCYTE_INT32 || dtype == SYNCYTE_INT64, SYNCYTE_ERR_TYPE,
                "{}: counters are int32 or int64 elements", layout_.text());
  const std::int64_t elements = layout_.rows() * layout_.row_elements();
  base::require(element >= 0 && element < elements, SYNCYTE_ERR_INDEX,
                "element {} is out of range; expected 0 to {} ({} elements)", element, elements - 1, elements);
  const std::int64_t row = element / layout_.row_elements();
  const auto inset = static_cast<std::size_t>(element % layout_.row_elements()) * layout_.element_bytes();
  const int owner = layout_.partition().owner(row);
  counter found{nullptr, storage_->remote(), owner, layout_.offset_at_owner(owner, row) + inset, dtype};
  if (found.remote != nullptr) return found;
  found.address = storage_->direct().find(row) + inset;
  base::require(std::bit_cast<std::uintptr_t>(found.address) % layout_.element_bytes() == 0, SYNCYTE_ERR_UNSUPPORTED,
                "{}: the wrapped memory is not aligned to its elements, as atomics need it", layout_.text());
  return found;
}

std::int64_t whole_tensor::number_for_counter(std::int64_t value, const char* argument) const {
  using narrow = std::numeric_limits<std::int32_t>;
  base::require(layout_.dtype() == SYNCYTE_INT64 || (value >= narrow::min() && value <= narrow::max()),
                SYNCYTE_ERR_ARGUMENT, "{} is {}; expected a number that fits into int32, as the tensor's elements",
                argument, value);
  return value;
}

std::int64_t whole_tensor::fetch_add(std::int64_t element, std::int64_t operand) {
  const counter found = find_counter(element);
  number_for_counter(operand, "operand");
  if (found.address == nullptr) return found.fetch(SYNCYTE_OP_SUM, operand);
  return visit_atomic(found.address, found.is_wide(), [&](auto place) {
    using number = typename decltype(place)::value_type;
    return place.fetch_add(static_cast<number>(operand), std::memory_order_acq_rel);
  });
}

std::int64_t whole_tensor::compare_swap(std::int64_t element, std::int64_t expected, std::int64_t desired) {
  const counter found = find_counter(element);
  number_for_counter(expected, "expected");
  number_for_counter(desired, "desired");
  if (found.address == nullptr) return found.swap(expected, desired);
  return visit_atomic(found.address, found.is_wide(), [&](auto place) {
    using number = typename decltype(place)::value_type;
    auto previous = static_cast<number>(expected);
    place.compare_exchange_strong(previous, static_cast<number>(desired), std::memory_order_acq_rel);
    return previous;
  });
}

std::int64_t whole_tensor::load(std::int64_t element) { return find_counter(element).load(); }

void whole_tensor::store(std::int64_t element, std::int64_t value) {
  const counter found = find_counter(element);
  number_for_counter(value, "value");
  if (found.address == nullptr) {
    found.fetch(SYNCYTE_OP_REPLACE, value);
    return;
  }
  visit_atomic(found.address, found.is_wide(), [&](auto place) {
    using number = typename decltype(place)::value_type;
    place.store(static_cast<number>(value), std::memory_order_release);
    return std::int64_t{0};
  });
}

std::int64_t whole_tensor::wait(std::int64_t element, syncyte_compare_t compare, std::int64_t value, double timeout) {
  const counter found = find_counter(element);
  base::require(compare >= SYNCYTE_COMPARE_EQ && compare <= SYNCYTE_COMPARE_LE, SYNCYTE_ERR_ARGUMENT,
                "compare is {}; expected SYNCYTE_COMPARE_EQ (1), NE (2), GE (3) or LE (4)", compare);
  base::require(!std::isnan(timeout), SYNCYTE_ERR_ARGUMENT,
                "timeout is not a number; expected seconds, or less than 0");
  back_off pauses(timeout);
  std::optional<watchdog::scope> watched;
  while (true) {
    const bool is_last = pauses.is_over();  // asked before the last look, so that no change before the limit is missed
    const std::int64_t seen = found.load();
    if (compares(compare, seen, value)) return seen;
    if (is_last) base::fail(SYNCYTE_ERR_TIMEOUT, "element {} was still {} after {} seconds", element, seen, timeout);
    if (!watched) watched.emplace("tensor_wait", layout_.text(), 0, 0, watchdog::scope::open_ended);
    if (pauses.is_long()) mpi::let_progress();
    pauses.sleep();
  }
}

}  // namespace syncyte::tensor
