// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/counter.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>

#include "atomics/elements.hpp"

namespace syncyte::tensor {
namespace {

/// A change of a counter in flight, whose old value the caller gets as an int64 at the end.
class counter_change final : public access::transfer {
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
  std::unique_ptr<access::transfer> in_flight_;  // destroyed before old_
};

/// A change of an element that is mapped here, as the last step of a transfer.
class mapped_change final : public fabric::request_source {
 public:
  mapped_change(std::byte* address, const window::element_change& what) : address_(address), what_(what) {}

  std::shared_ptr<fabric::message> next() override {
    atomics::find_combine(what_.dtype, what_.op)(address_, what_.operand.data(), nullptr, 1);
    return nullptr;
  }
  void on_answer(const fabric::message_header&, std::span<const std::byte>) override {}
  std::string owner_name() const override { return "this rank"; }

 private:
  std::byte* address_;
  window::element_change what_;
};

template <class Number>
std::byte* bytes_in(Number& number) {
  return std::as_writable_bytes(std::span(&number, 1)).data();
}

std::unique_ptr<access::transfer> give(std::int64_t old, std::int64_t* previous) {
  if (previous != nullptr) *previous = old;
  return nullptr;
}

}  // namespace

counter::counter(const whole_tensor& of, std::int64_t element, const char* operation)
    : operation_(operation), dtype_(of.layout().dtype()), remote_(of.held()->remote()) {
  of.require_host(operation);
  const layout& shape = of.layout();
  if (dtype_ != SYNCYTE_INT32 && dtype_ != SYNCYTE_INT64) [[unlikely]]
    base::refuse(SYNCYTE_ERR_TYPE, {.object = shape.text(),
                                    .argument = "dtype",
                                    .value = base::dtype_name(dtype_),
                                    .expected = "int32 or int64, of which counters are"});
  const std::int64_t elements = shape.elements();
  base::expect(element >= 0 && element < elements, SYNCYTE_ERR_INDEX, "element", element, "0 to {} ({} elements)",
               elements - 1, elements);
  std::tie(owner_, offset_) = shape.find_element(element);
  if (remote_ != nullptr && !remote_->is_atomic_with_processor()) return;
  address_ = of.held()->find(shape, owner_, offset_);
  if (address_ == nullptr) return;
  if (std::bit_cast<std::uintptr_t>(address_) % shape.element_bytes() != 0) [[unlikely]]
    base::fail(SYNCYTE_ERR_UNSUPPORTED, "{}: the wrapped memory is not aligned to its elements, as atomics need it",
               shape.text());
}

std::int64_t counter::checked(std::int64_t value, const char* argument) const {
  using narrow = std::numeric_limits<std::int32_t>;
  base::expect(dtype_ == SYNCYTE_INT64 || (value >= narrow::min() && value <= narrow::max()), SYNCYTE_ERR_ARGUMENT,
               argument, value, "a number that fits into int32, as the tensor's elements");
  return value;
}

counter::number_bytes counter::bytes_of(std::int64_t number) const {
  number_bytes bytes{};
  const auto narrow = static_cast<std::int32_t>(number);
  if (dtype_ == SYNCYTE_INT64)
    std::memcpy(bytes.data(), &number, sizeof number);
  else
    std::memcpy(bytes.data(), &narrow, sizeof narrow);
  return bytes;
}

/// Calls step(0) with a number of the element's type. The fences order other memory accesses, which window::remote
/// need not. Ranks that poll counters serve others, so that they do not block each other.
template <class Step>
std::int64_t counter::change(Step&& step) const {
  const auto by_width = [&] {
    return dtype_ == SYNCYTE_INT64 ? step(std::int64_t{0}) : std::int64_t{step(std::int32_t{0})};
  };
  if (is_mapped()) return by_width();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::int64_t previous = by_width();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  remote_->serve_others();
  return previous;
}

std::int64_t counter::fetch(syncyte_op_t op, std::int64_t operand) const {
  return change([&](auto like) {
    using number = decltype(like);
    auto given = static_cast<number>(operand);
    number previous = 0;
    if (is_mapped())
      atomics::find_combine(dtype_, op)(address_, bytes_in(given), bytes_in(previous), 1);
    else
      remote_->combine(operation_, owner_, offset_, dtype_, op, bytes_in(given), bytes_in(previous), 1);
    return previous;
  });
}

std::int64_t counter::swap(std::int64_t expected, std::int64_t desired) const {
  return change([&](auto like) {
    using number = decltype(like);
    const auto before = static_cast<number>(expected), after = static_cast<number>(desired);
    number previous = 0;
    if (is_mapped())
      atomics::compare_swap_element(dtype_, address_, &before, &after, &previous);
    else
      remote_->compare_swap(operation_, owner_, offset_, dtype_, &before, &after, &previous);
    return previous;
  });
}

std::int64_t counter::load() const {
  if (!is_mapped()) return fetch(SYNCYTE_OP_BOR, 0);
  return change([&](auto like) { return std::atomic_ref(*reinterpret_cast<decltype(like)*>(address_)).load(); });
}

/// Starts a change by window::remote; null if it has ended at once.
template <class Start>
std::unique_ptr<access::transfer> counter::start(std::int64_t* previous, Start&& begin) const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  auto started = std::make_unique<counter_change>(dtype_, previous, begin);
  if (!started->has_ended()) return started;
  remote_->serve_others();
  return nullptr;
}

std::unique_ptr<access::transfer> counter::start_fetch(syncyte_op_t op, std::int64_t operand,
                                                       std::int64_t* previous) const {
  if (is_mapped()) return give(fetch(op, operand), previous);
  return start(previous, [&](std::byte* old) {
    std::byte* const wanted = previous != nullptr ? old : nullptr;
    return remote_->start_combine(operation_, owner_, offset_, dtype_, op, bytes_of(operand).data(), wanted, 1);
  });
}

std::unique_ptr<access::transfer> counter::start_swap(std::int64_t expected, std::int64_t desired,
                                                      std::int64_t* previous) const {
  if (is_mapped()) return give(swap(expected, desired), previous);
  return start(previous, [&](std::byte* old) {
    return remote_->start_compare_swap(operation_, owner_, offset_, dtype_, bytes_of(expected).data(),
                                       bytes_of(desired).data(), old);
  });
}

access::last_step counter::step(syncyte_op_t op, std::int64_t operand) const {
  const window::element_change what = change_of(op, operand);
  if (!is_mapped()) return remote_->change_step(operation_, what);
  return {operation_, nullptr, std::make_unique<mapped_change>(address_, what)};
}

}  // namespace syncyte::tensor
