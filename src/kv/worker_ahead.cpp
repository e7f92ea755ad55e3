// SPDX-License-Identifier: BSD-3-Clause
// Operations of a worker on the distinct keys of a list, and pulls ahead.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "kv/worker.hpp"
#include "kv/worker_arguments.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::kv {
namespace {

using state = prefetched_keys::state;

/// The rest of a pull that takes a prefetch in flight.
class values_to_come final : public access::transfer {
 public:
  values_to_come(prefetches::one from, prefetched_keys::form which, float* values)
      : from_(std::move(from)), which_(which), values_(values) {}

  bool test() override {
    if (!from_->operation()->test()) return false;
    from_->copy(which_, values_);
    return true;
  }
  void wait() override {
    from_->operation()->wait();
    from_->copy(which_, values_);
  }
  void drive() override {}  // it is driven since its start

 private:
  prefetches::one from_;
  prefetched_keys::form which_;
  float* values_;
};

}  // namespace

/// The prefetch of a list of keys, if there is one that has not failed.
prefetches::one worker::take_prefetched(std::span<const std::int64_t> keys, completion when) {
  auto found = prefetches_.take(keys);
  if (!found) return nullptr;
  const bool is_right = when == completion::on_return ? found->await_values() : found->look() != state::failed;
  return is_right ? std::move(found) : nullptr;
}

/// Gives a pull the values of a prefetch.
worker::started worker::give(prefetches::one from, prefetched_keys::form which, float* values, completion when) {
  const bool is_whole = which == prefetched_keys::form::list;
  count_done(pull, is_whole ? std::ssize(from->list()) : std::ssize(from->distinct().keys()));
  if (when == completion::on_return || from->look() == state::here) {
    from->copy(which, values);
    return nullptr;
  }
  auto in_flight =
      std::make_shared<access::started>(store_, std::make_unique<values_to_come>(std::move(from), which, values));
  started_.add(in_flight);
  return in_flight;
}

/// An error here is left to the pull, which finds it again.
void worker::prefetch(const syncyte_buffer_t* raw_keys) {
  const auto keys = checked_keys(*store_, raw_keys);
  if (!prefetches_.are_used() || store_->are_local(keys)) return;
  const auto before = prefetches_.changes();
  if (!before) return;
  auto made = std::make_shared<prefetched_keys>(*store_, keys, stream_);
  started_transfer begun;
  try {
    begun = store_->start(stream_.get(), pull, made->distinct().keys(), made->room()->values.get(), true,
                          started_.unanswered());
  } catch (const watchdog::interrupted&) {
    throw;
  } catch (const base::error&) {
    return;
  }
  if (!begun.rest) return;  // the keys have come here meanwhile
  remote_.fetch_add(begun.remote_keys, std::memory_order_relaxed);
  made->set_operation(finish(std::move(begun), completion::by_request, made->room()));
  prefetches_.add(std::move(made), *before);
}

worker::started worker::pull_unique(const syncyte_buffer_t* raw_keys, const syncyte_buffer_t* raw_distinct,
                                    const syncyte_buffer_t* raw_inverse, const syncyte_buffer_t* raw_values,
                                    std::int64_t& count, completion when) {
  const unique_request to(*store_, raw_keys, raw_distinct, raw_inverse, raw_values);
  const auto found = take_prefetched(to.asked.keys, when);
  const distinct_keys distinct = found ? found->distinct() : distinct_keys(to.asked.keys);
  auto result = found ? give(found, prefetched_keys::form::distinct, to.asked.values, when)
                      : run(pull, distinct.keys(), to.asked.values, when);
  std::ranges::copy(distinct.keys(), to.distinct.begin());
  std::ranges::copy(distinct.inverse(), to.inverse.begin());
  count = std::ssize(distinct.keys());
  return result;
}

worker::started worker::push_unique(const syncyte_buffer_t* raw_keys, const syncyte_buffer_t* raw_values,
                                    completion when) {
  const request asked(*store_, raw_keys, raw_values, push.reads);
  const distinct_keys distinct(asked.keys);
  if (!distinct.has_repeats()) return run(push, asked.keys, asked.values, when);
  const auto places = store_->places(distinct.keys());
  const auto sums = std::make_shared<kept_values>(stream_, places.back());
  sum_repeats(distinct, places, asked.values, sums->values.get());
  return run(push, distinct.keys(), sums->values.get(), when, sums);
}

}  // namespace syncyte::kv
