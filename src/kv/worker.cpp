// SPDX-License-Identifier: BSD-3-Clause
#include "kv/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.hpp"
#include "kv/worker_arguments.hpp"
#include "mpi/process.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::kv {
namespace {

constexpr std::int64_t most_sampled = std::int64_t{1} << 40;

void count(std::atomic<std::int64_t>& total, std::int64_t keys) { total.fetch_add(keys, std::memory_order_relaxed); }

}  // namespace

worker::worker(std::shared_ptr<store> of, std::int32_t number)
    : store_(std::move(of)),
      stream_(store_->make_stream()),
      localizing_(store_->make_stream()),
      intending_(store_->make_stream()),
      number_(number) {
  store_->workers().join(number);
}

worker::~worker() {
  store_->workers().leave(number_);
  base::error_of([&] { change_windows({}, intents_.remove_all()); });
}

void worker::count_done(const operation& what, std::int64_t keys) { count(done_[what.number], keys); }

started_transfer worker::begin(const operation& what, std::span<const std::int64_t> keys, float* values,
                               completion when) {
  end_detours();
  auto begun = store_->start(stream_.get(), what, keys, values, when == completion::by_request, started_.unanswered());
  count_done(what, std::ssize(keys));
  count(remote_, begun.remote_keys);
  detours_ = begun.was_detoured ? detours_ + 1 : 0;
  return begun;
}

/// Keys that have come are asked for at home as long as operations are in flight that have asked for them there, and
/// each of these follows the one before. After some, the worker waits for them, and uses the keys here.
void worker::end_detours() {
  constexpr int most_detours = 8;
  if (detours_ < most_detours || mpi::is_forked_child()) return;
  started_.await_ends();
  detours_ = 0;
}

/// `kept`: what a started operation keeps, with the stream; null: only the stream.
worker::started worker::run(const operation& what, std::span<const std::int64_t> keys, float* values, completion when,
                            std::shared_ptr<const void> kept) {
  if (what.reads) return finish(begin(what, keys, values, when), when, std::move(kept));
  prefetches::change own(prefetches_);
  auto begun = begin(what, keys, values, when);
  own.has_started(what, keys, values);
  auto result = finish(std::move(begun), when, std::move(kept));
  own.has_succeeded();
  return result;
}

/// Waits for what is left of an operation, or returns it.
worker::started worker::finish(started_transfer begun, completion when, std::shared_ptr<const void> kept) {
  if (!begun.rest) return nullptr;
  if (when == completion::on_return) {
    begun.rest->wait();
    return nullptr;
  }
  if (!kept) kept = stream_;
  auto in_flight = std::make_shared<access::started>(
      std::array<std::shared_ptr<const void>, 2>{store_, std::move(kept)}, std::move(begun.rest));
  started_.add(in_flight, begun.until_its_end);
  return in_flight;
}

worker::started worker::run(const operation& what, const syncyte_buffer_t* keys, const syncyte_buffer_t* values,
                            completion when) {
  const request asked(*store_, keys, values, what.reads);
  if (&what == &pull)
    if (auto found = take_prefetched(asked.keys, when))
      return give(std::move(found), prefetched_keys::form::list, asked.values, when);
  return run(what, asked.keys, asked.values, when);
}

bool worker::pull_if_local(const syncyte_buffer_t* keys, const syncyte_buffer_t* values) {
  const request asked(*store_, keys, values, true);
  if (auto found = prefetches_.take_if_here(asked.keys)) {
    give(std::move(found), prefetched_keys::form::list, asked.values, completion::on_return);
    return true;
  }
  const std::span values_of_keys(asked.values, asked.count);
  if (!store_->pull_here(asked.keys, values_of_keys, started_.unanswered())) return false;
  count_done(pull, std::ssize(asked.keys));
  return true;
}

worker::started worker::localize(const syncyte_buffer_t* raw_keys, completion when) {
  const auto keys = checked_keys(*store_, raw_keys);
  count(localized_, std::ssize(keys));
  return finish({store_->localize(localizing_.get(), keys)}, when);
}

worker::window worker::check_window(std::int64_t start, std::int64_t end) const {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (start < 0 || start == most) reject(store_->text(), "start", start, "0 or more, and less than 2^63 - 1");
  if (end == 0) return {start, start + 1};
  if (end <= start) reject(store_->text(), "end", end, fmt::format("more than start ({}), or 0 for start + 1", start));
  return {start, end};
}

intents::window worker::record_intent(std::span<const std::int64_t> keys, const window& when) {
  count(intended_, std::ssize(keys));
  if (when.end <= clock() || keys.empty()) return nullptr;
  intended_until_[when.end] += std::ssize(keys);
  if (store_->moving() == nullptr) return nullptr;
  auto result = std::make_shared<intent_window>(
      intent_window{when.start, when.end, {keys.begin(), keys.end()}, store_->moving()->number_window()});
  intents_.add(result);
  return result;
}

void worker::intent(const syncyte_buffer_t* raw_keys, std::int64_t start, std::int64_t end) {
  const auto keys = checked_keys(*store_, raw_keys);
  const window when = check_window(start, end);
  const std::lock_guard lock(mutex_);
  if (record_intent(keys, when)) open_and_close_windows();
}

std::int64_t worker::advance_clock() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = clock_.fetch_add(1, std::memory_order_relaxed) + 1;
  intended_until_.erase(intended_until_.begin(), intended_until_.upper_bound(now));
  if (store_->moving() != nullptr) {
    ahead_.advance(fabric::now());
    open_and_close_windows();
  }
  return now;
}

void worker::open_and_close_windows() {
  const std::int64_t now = clock();
  const auto opening = intents_.open(now, now + ahead_.clocks(store_->moving()->coming_time()));
  change_windows(opening, intents_.close(now));
}

/// New windows open before old ones close: keys of both stay intended. A forked child does not end those of the rank.
void worker::change_windows(std::span<const intents::window> opening, std::span<const intents::window> closing) {
  if ((opening.empty() && closing.empty()) || mpi::is_forked_child()) return;
  try_to_tell([&](spread_table& moving) {
    if (auto sent = moving.change_windows(*intending_, opening, closing))
      store_->keep(std::make_shared<access::started>(intending_, std::move(sent)));
  });
}

/// Intents are hints: without a connection to the agent, keys stay where they are.
template <class Step>
void worker::try_to_tell(Step&& step) {
  if (const auto error = watchdog::error_of([&] { step(*store_->moving()); }))
    base::log(SYNCYTE_LOG_INFO, "intents of {} were not passed on: {}", store_->text(), error->what());
}

void worker::flush() {
  started_.await_ends();
  if (store_->moving() == nullptr || intended_ == 0) return;
  {
    const std::lock_guard lock(mutex_);
    open_and_close_windows();
  }
  try_to_tell([&](spread_table& moving) { moving.settle(*intending_)->wait(); });
}

/// Seeds the engine so that each worker of each rank draws different keys, and the same ones in each run.
void worker::seed_engine(const std::shared_ptr<sampling>& source) {
  if (source == engine_source_) return;
  const auto seed = static_cast<std::uint64_t>(source->seed());
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(store_->comm()->rank()), static_cast<std::uint32_t>(number_)};
  engine_.seed(mixed);
  engine_source_ = source;
}

std::int64_t worker::prepare_sample(std::int64_t count, std::int64_t start, std::int64_t end) {
  const auto source = store_->find_sampling();
  if (count < 0 || count > most_sampled) reject(store_->text(), "count", count, "0 to 2^40");
  source->require_enough(count);
  const window when = check_window(start, end);
  const std::lock_guard lock(mutex_);
  seed_engine(source);
  sample made{.source = source, .count = count, .used = 0, .keys = {}, .before = {}, .intended = nullptr};
  if (!source->is_late()) {
    made.keys.resize(static_cast<std::size_t>(count));
    source->draw(made.keys, engine_, made.before);
    made.before = {};
  }
  if (source->is_intended()) made.intended = record_intent(made.keys, when);
  if (made.intended) open_and_close_windows();
  samples_.emplace(++last_sample_, std::move(made));
  return last_sample_;
}

/// Writes the sample's next keys.
std::span<std::int64_t> worker::next_of_sample(std::int64_t id, const base::buffer& given, const base::buffer& values) {
  const auto keys = keys_of(given);
  const auto wanted = static_cast<std::int64_t>(keys.size());
  const std::lock_guard lock(mutex_);
  const auto found = samples_.find(id);
  if (found == samples_.end()) reject(store_->text(), "sample", id, "the number of a sample that has keys left");
  sample& from = found->second;
  if (wanted > from.count - from.used)
    reject(store_->text(), "number of keys", wanted,
           fmt::format("at most {}, as the sample has left", from.count - from.used));
  if (values.elements() != wanted * from.source->length())
    base::refuse(SYNCYTE_ERR_SHAPE, {.object = store_->text(),
                                     .argument = "values",
                                     .value = fmt::format("of {} elements", values.elements()),
                                     .expected = fmt::format("{} ({} keys of {})", wanted * from.source->length(),
                                                             wanted, from.source->length())});
  if (from.source->is_late())
    from.source->draw(keys, engine_, from.before);
  else
    std::copy_n(from.keys.begin() + from.used, wanted, keys.begin());
  from.used += wanted;
  if (from.used == from.count) forget_sample(found);
  return keys;
}

worker::started worker::pull_sample(std::int64_t id, const syncyte_buffer_t* raw_keys,
                                    const syncyte_buffer_t* raw_values, completion when) {
  const base::buffer room = checked(raw_keys, "keys", SYNCYTE_INT64);
  const base::buffer values = checked(raw_values, "values", SYNCYTE_FLOAT32);
  require_apart(*store_, room.require_writable(), values.require_writable());
  const auto keys = next_of_sample(id, room, values);
  return run(pull, keys, reinterpret_cast<float*>(values.data()), when);
}

void worker::finish_sample(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = samples_.find(id); found != samples_.end()) forget_sample(found);
}

/// The intent of a sample ends with it.
void worker::forget_sample(std::unordered_map<std::int64_t, sample>::iterator which) {
  const intents::window intended = std::move(which->second.intended);
  samples_.erase(which);
  if (intended && intents_.remove(intended)) change_windows({}, {&intended, 1});
}

void worker::barrier() {
  constexpr const char* operation = "store_worker_barrier";
  const std::unique_lock only_one(collective_mutex_, std::try_to_lock);
  base::require(only_one.owns_lock(), SYNCYTE_ERR_BUSY, "worker {} of {} is in a collective call in another thread",
                number_, store_->text());
  prefetches_.drop_all();  // a pull sees all earlier writes then
  started_.await_ends();
  store_->workers().run_once(number_, operation, [&] { store_->synchronize(operation); });
}

syncyte_store_worker_info_t worker::describe() const {
  const std::lock_guard lock(mutex_);
  syncyte_store_worker_info_t info{};
  info.struct_size = sizeof info;
  info.number = number_;
  info.clock = clock();
  info.pulled_keys = done_[pull.number];
  info.pushed_keys = done_[push.number];
  info.set_keys = done_[set.number];
  info.localized_keys = localized_;
  info.intended_keys = intended_;
  for (const auto& [end, keys] : intended_until_) info.active_intents += keys;
  info.remote_keys = remote_;
  info.prepared_samples = static_cast<std::int64_t>(samples_.size());
  return info;
}

}  // namespace syncyte::kv
