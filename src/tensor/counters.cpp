// Atomic counters and flags: single elements of integer tensors.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <thread>

#include "atomics/backoff.hpp"
#include "atomics/elements.hpp"
#include "mpi/deaths.hpp"
#include "mpi/progress.hpp"
#include "tensor/whole_tensor.hpp"
#include "watchdog/interrupts.hpp"
#include "watchdog/scope.hpp"
#include "window/ended_ranks.hpp"

namespace syncyte::tensor {
namespace {

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

/// The rank that would change the element may have died, and the application may want to end the wait.
void poll_for_ends() {
  watchdog::ask_for_interrupt();
  mpi::let_progress();
  mpi::look_for_deaths();
  mpi::require_no_death();
}

/// The bytes of a number of int32 or int64.
auto bytes_of(syncyte_dtype_t dtype, std::int64_t number) {
  decltype(window::element_change::operand) bytes{};
  const auto narrow = static_cast<std::int32_t>(number);
  if (dtype == SYNCYTE_INT64)
    std::memcpy(bytes.data(), &number, sizeof number);
  else
    std::memcpy(bytes.data(), &narrow, sizeof narrow);
  return bytes;
}

void store_previous(std::int64_t old, std::int64_t* previous) {
  if (previous != nullptr) *previous = old;
}

/// A change of a counter in flight, whose old value the caller gets as an int64 at the end.
class counter_change final : public window::transfer {
 public:
  /// `start` starts the change; its argument gets the old value's bytes.
  template <class Start>
  counter_change(syncyte_dtype_t dtype, std::int64_t* previous, Start&& start) : dtype_(dtype), result_(previous) {
    in_flight_ = start(old_.data());
    if (!in_flight_) finish();
  }

  bool has_ended() const { return !in_flight_; }

  bool test() override {
    if (in_flight_ && !in_flight_->test()) return false;
    if (in_flight_) finish();
    return true;
  }
  void wait() override {
    if (!in_flight_) return;
    in_flight_->wait();
    finish();
  }
  void drive() override {
    if (in_flight_) in_flight_->drive();
  }

 private:
  void finish() {
    in_flight_.reset();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (result_ == nullptr) return;
    std::int32_t narrow = 0;
    std::memcpy(&narrow, old_.data(), sizeof narrow);
    *result_ = narrow;
    if (dtype_ == SYNCYTE_INT64) std::memcpy(result_, old_.data(), sizeof *result_);
  }

  syncyte_dtype_t dtype_;
  std::int64_t* result_;
  alignas(std::int64_t) std::array<std::byte, sizeof(std::int64_t)> old_{};
  std::unique_ptr<window::transfer> in_flight_;  // destroyed before old_
};

}  // namespace

/// One element and the method that accesses it: the processor's atomics if the row is mapped here and all ranks that
/// access the row by window::remote are atomic with them, otherwise window::remote.
struct whole_tensor::counter {
  std::byte* address;  // null: accessed by remote
  window::remote* remote;
  int owner;
  std::size_t offset;
  syncyte_dtype_t dtype;

  bool is_mapped() const { return address != nullptr; }

  window::element_change change_of(syncyte_op_t op, std::int64_t operand) const {
    return {address, remote, owner, offset, dtype, op, tensor::bytes_of(dtype, operand)};
  }

  /// Starts a change by `remote`, as counter_change does. Null: it is done.
  template <class Start>
  std::unique_ptr<window::transfer> start(std::int64_t* previous, Start&& begin) const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    auto started = std::make_unique<counter_change>(dtype, previous, begin);
    if (!started->has_ended()) return started;
    remote->serve_others();
    return nullptr;
  }

  /// Applies `op` and returns the element's old value.
  std::int64_t fetch(syncyte_op_t op, std::int64_t operand) const {
    return change([&](auto like) {
      using number = decltype(like);
      auto given = static_cast<number>(operand);
      number previous = 0;
      if (address != nullptr)
        atomics::find_combine(dtype, op)(address, bytes_of(given), bytes_of(previous), 1);
      else
        remote->combine(owner, offset, dtype, op, bytes_of(given), bytes_of(previous), 1);
      return previous;
    });
  }

  std::int64_t swap(std::int64_t expected, std::int64_t desired) const {
    return change([&](auto like) {
      using number = decltype(like);
      const auto before = static_cast<number>(expected), after = static_cast<number>(desired);
      number previous = 0;
      if (address != nullptr)
        atomics::compare_swap_element(dtype, address, &before, &after, &previous);
      else
        remote->compare_swap(owner, offset, dtype, &before, &after, &previous);
      return previous;
    });
  }

  std::int64_t load() const {
    if (address == nullptr) return fetch(SYNCYTE_OP_BOR, 0);
    return change([&](auto like) { return std::atomic_ref(*reinterpret_cast<decltype(like)*>(address)).load(); });
  }

 private:
  template <class Number>
  static std::byte* bytes_of(Number& number) {
    return std::as_writable_bytes(std::span(&number, 1)).data();
  }

  /// Calls step(0) with a number of the element's type. The fences order other memory accesses, which window::remote
  /// need not. Ranks that poll counters serve others, so that they do not block each other.
  template <class Step>
  std::int64_t change(Step&& step) const {
    const auto by_width = [&] {
      return dtype == SYNCYTE_INT64 ? step(std::int64_t{0}) : std::int64_t{step(std::int32_t{0})};
    };
    if (address != nullptr) return by_width();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::int64_t previous = by_width();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    remote->serve_others();
    return previous;
  }
};

whole_tensor::counter whole_tensor::find_counter(std::int64_t element) const {
  const syncyte_dtype_t dtype = layout_.dtype();
  if (dtype != SYNCYTE_INT32 && dtype != SYNCYTE_INT64) [[unlikely]]
    base::refuse(SYNCYTE_ERR_TYPE, {.object = layout_.text(),
                                    .argument = "dtype",
                                    .value = base::dtype_name(dtype),
                                    .expected = "int32 or int64, of which counters are"});
  const std::int64_t elements = layout_.rows() * layout_.row_elements();
  base::expect(element >= 0 && element < elements, SYNCYTE_ERR_INDEX, "element", element, "0 to {} ({} elements)",
               elements - 1, elements);
  const std::int64_t row = element / layout_.row_elements();
  const auto inset = static_cast<std::size_t>(element % layout_.row_elements()) * layout_.element_bytes();
  const int owner = layout_.partition().owner(row);
  counter found{nullptr, storage_->remote(), owner, layout_.offset_at_owner(owner, row) + inset, dtype};
  if (found.remote != nullptr && !found.remote->is_atomic_with_processor()) return found;
  std::byte* const mapped = storage_->mapped_rows().find(row);
  if (mapped == nullptr) return found;
  found.address = mapped + inset;
  base::require(std::bit_cast<std::uintptr_t>(found.address) % layout_.element_bytes() == 0, SYNCYTE_ERR_UNSUPPORTED,
                "{}: the wrapped memory is not aligned to its elements, as atomics need it", layout_.text());
  return found;
}

std::int64_t whole_tensor::number_for_counter(std::int64_t value, const char* argument) const {
  using narrow = std::numeric_limits<std::int32_t>;
  base::expect(layout_.dtype() == SYNCYTE_INT64 || (value >= narrow::min() && value <= narrow::max()),
               SYNCYTE_ERR_ARGUMENT, argument, value, "a number that fits into int32, as the tensor's elements");
  return value;
}

std::int64_t whole_tensor::fetch_add(std::int64_t element, std::int64_t operand) {
  return find_counter(element).fetch(SYNCYTE_OP_SUM, number_for_counter(operand, "operand"));
}

std::unique_ptr<window::started_access> whole_tensor::ifetch_add(std::int64_t element, std::int64_t operand,
                                                                 std::int64_t* previous) {
  number_for_counter(operand, "operand");
  return std::make_unique<window::started_access>(shared_from_this(),
                                                  start_change(element, SYNCYTE_OP_SUM, operand, previous));
}

/// Starts a change of a counter whose arguments were checked. Null: it is done.
std::unique_ptr<window::transfer> whole_tensor::start_change(std::int64_t element, syncyte_op_t op,
                                                             std::int64_t operand, std::int64_t* previous) {
  const counter found = find_counter(element);
  if (found.is_mapped()) {
    store_previous(found.fetch(op, operand), previous);
    return nullptr;
  }
  return found.start(previous, [&](std::byte* old) {
    const window::element_change what = found.change_of(op, operand);
    return what.at->start_combine(what.rank, what.offset, what.dtype, what.op, what.operand.data(),
                                  previous != nullptr ? old : nullptr, 1);
  });
}

/// Changes a counter as the last step of a transfer. Returns false if the transfer cannot.
bool whole_tensor::signal_after(window::transfer& rows, std::int64_t element, syncyte_op_t op, std::int64_t value) {
  return rows.then(find_counter(element).change_of(op, value));
}

std::int64_t whole_tensor::compare_swap(std::int64_t element, std::int64_t expected, std::int64_t desired) {
  const counter found = find_counter(element);
  number_for_counter(expected, "expected");
  number_for_counter(desired, "desired");
  return found.swap(expected, desired);
}

std::unique_ptr<window::started_access> whole_tensor::icompare_swap(std::int64_t element, std::int64_t expected,
                                                                    std::int64_t desired, std::int64_t* previous) {
  const counter found = find_counter(element);
  const auto before = tensor::bytes_of(found.dtype, number_for_counter(expected, "expected"));
  const auto after = tensor::bytes_of(found.dtype, number_for_counter(desired, "desired"));
  std::unique_ptr<window::transfer> in_flight;
  if (found.is_mapped())
    store_previous(found.swap(expected, desired), previous);
  else
    in_flight = found.start(previous, [&](std::byte* old) {
      return found.remote->start_compare_swap(found.owner, found.offset, found.dtype, before.data(), after.data(), old);
    });
  return std::make_unique<window::started_access>(shared_from_this(), std::move(in_flight));
}

std::int64_t whole_tensor::load(std::int64_t element) { return find_counter(element).load(); }

void whole_tensor::store(std::int64_t element, std::int64_t value) {
  find_counter(element).fetch(SYNCYTE_OP_REPLACE, number_for_counter(value, "value"));
}

std::int64_t whole_tensor::wait(std::int64_t element, syncyte_compare_t compare, std::int64_t value, double timeout) {
  const counter found = find_counter(element);
  base::expect(compare >= SYNCYTE_COMPARE_EQ && compare <= SYNCYTE_COMPARE_LE, SYNCYTE_ERR_ARGUMENT, "compare", compare,
               "SYNCYTE_COMPARE_EQ (1), NE (2), GE (3) or LE (4)");
  number_for_counter(value, "value");
  base::expect(!std::isnan(timeout), SYNCYTE_ERR_ARGUMENT, "timeout", timeout, "seconds, or less than 0");
  const auto begin = std::chrono::steady_clock::now();
  atomics::backoff wait;
  std::optional<watchdog::scope> watched;
  window::ended_ranks ended(*comm_, storage_->remote());
  bool is_hopeless = false;  // all other ranks had ended before the last look
  while (true) {
    // Read the clock before the last look, so that no change before the limit is missed.
    const atomics::backoff::seconds waited = std::chrono::steady_clock::now() - begin;
    const bool is_last = timeout >= 0 && waited.count() >= timeout;
    const std::int64_t seen = found.load();
    if (compares(compare, seen, value)) return seen;
    if (is_hopeless)
      ended.fail_by_all_others(layout_.text(), fmt::format("while element {} of {} is {}; no other rank can change it",
                                                           element, layout_.text(), seen));
    if (is_last) base::fail(SYNCYTE_ERR_TIMEOUT, "element {} was still {} after {} seconds", element, seen, timeout);
    if (!watched) watched.emplace("tensor_wait", layout_.text(), 0, 0, watchdog::scope::reported_once);
    if (wait.is_time_to_poll()) {
      poll_for_ends();
      is_hopeless = ended.contains_all_others();
      if (is_hopeless) continue;
    }
    constexpr atomics::backoff::seconds longest(1e-3);
    const auto pause = timeout < 0 ? longest : std::clamp(atomics::backoff::seconds(timeout) - waited, {}, longest);
    if (found.is_mapped())
      wait.pause(pause);
    else
      std::this_thread::sleep_for(pause);  // each look is a message
  }
}

void whole_tensor::require_signal(std::int64_t element, syncyte_op_t op, std::int64_t value) const {
  find_counter(element);
  number_for_counter(value, "value");
  base::expect(op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_REPLACE, SYNCYTE_ERR_ARGUMENT, "op", op,
               "SYNCYTE_OP_SUM (1), which adds value, or SYNCYTE_OP_REPLACE (10), which sets it");
}

}  // namespace syncyte::tensor
