// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/counter_operations.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>

#include "atomics/backoff.hpp"
#include "mpi/deaths.hpp"
#include "mpi/progress.hpp"
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

syncyte_op_t checked_signal(syncyte_op_t op) {
  using known = base::known::op;
  constexpr syncyte_op_t sum = SYNCYTE_OP_SUM, replace = SYNCYTE_OP_REPLACE;
  base::expect(op == sum || op == replace, SYNCYTE_ERR_ARGUMENT, "op", op,
               "{} ({}), which adds value, or {} ({}), which sets it", known::name(sum), sum, known::name(replace),
               replace);
  return op;
}

}  // namespace

fetch_add::fetch_add(const whole_tensor& of, std::int64_t element, std::int64_t operand, std::int64_t* previous)
    : counter_(of, element, "tensor_fetch_add"), operand_(counter_.checked(operand, "operand")), previous_(previous) {}

compare_swap::compare_swap(const whole_tensor& of, std::int64_t element, std::int64_t expected, std::int64_t desired,
                           std::int64_t* previous)
    : counter_(of, element, "tensor_compare_swap"),
      expected_(counter_.checked(expected, "expected")),
      desired_(counter_.checked(desired, "desired")),
      previous_(previous) {}

put_signal::put_signal(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source,
                       std::shared_ptr<whole_tensor> counters, std::int64_t element, std::int64_t value,
                       syncyte_op_t op)
    : of_(of),
      counters_(std::move(counters)),
      counter_(*counters_, element, "tensor_put_signal"),
      value_(counter_.checked(value, "value")),
      op_(checked_signal(op)),
      rows_(of, index, source) {
  of.require_host("tensor_put_signal");
  of.layout().require_rows();
}

std::unique_ptr<access::transfer> put_signal::begin() {
  auto rows = rows_.begin();
  of_.flush();  // rows that are mapped here, and by MPI RMA all rows, are at their owners
  if (rows) {
    access::last_step step = counter_.step(op_, value_);
    if (step.source && rows->add_last_step(step)) return rows;
    rows->wait();
  }
  return counter_.start_fetch(op_, value_, nullptr);
}

std::int64_t load(const whole_tensor& of, std::int64_t element) { return counter(of, element, "tensor_load").load(); }

void store(whole_tensor& of, std::int64_t element, std::int64_t value) {
  const counter changed(of, element, "tensor_store");
  changed.fetch(SYNCYTE_OP_REPLACE, changed.checked(value, "value"));
}

std::int64_t wait(const whole_tensor& of, std::int64_t element, syncyte_compare_t compare, std::int64_t value,
                  double timeout, const needed_rank& needed) {
  const counter found(of, element, "tensor_wait");
  base::expect_known<base::known::compare>(compare, "compare");
  found.checked(value, "value");
  base::expect(!std::isnan(timeout), SYNCYTE_ERR_ARGUMENT, "timeout", timeout, "seconds, or less than 0");
  const auto begin = std::chrono::steady_clock::now();
  atomics::backoff wait;
  std::optional<watchdog::scope> watched;
  window::ended_ranks ended(*of.comm(), of.held()->remote());
  bool has_ended = false;    // the needed rank
  bool is_hopeless = false;  // before the last look
  while (true) {
    // Read the clock before the last look, so that no change before the limit is missed.
    const atomics::backoff::seconds waited = std::chrono::steady_clock::now() - begin;
    const bool is_last = timeout >= 0 && waited.count() >= timeout;
    const std::int64_t seen = found.load();
    if (compares(compare, seen, value)) {
      if (watched) watched->complete();
      return seen;
    }
    if (is_hopeless) {
      const std::string text = fmt::format("while element {} of {} is {}", element, of.layout().text(), seen);
      if (has_ended && !needed.has_done_its_part()) ended.fail(needed.rank, of.layout().text(), text);
      ended.fail_by_all_others(of.layout().text(), text + "; no other rank can change it");
    }
    if (is_last) base::fail(SYNCYTE_ERR_TIMEOUT, "element {} was still {} after {} seconds", element, seen, timeout);
    if (!watched) watched.emplace("tensor_wait", of.layout().text(), 0, 0, watchdog::scope::reported_once);
    if (wait.is_time_to_poll()) {
      poll_for_ends();
      has_ended = has_ended || (needed.rank >= 0 && ended.contains(needed.rank));
      if (needed.rank < 0 || has_ended)
        is_hopeless = (has_ended && !needed.has_done_its_part()) || ended.contains_all_others();
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

}  // namespace syncyte::tensor
