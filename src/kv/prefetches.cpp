// SPDX-License-Identifier: BSD-3-Clause
#include "kv/prefetches.hpp"

#include <algorithm>
#include <utility>

#include "mpi/process.hpp"

namespace syncyte::kv {

prefetches::change::change(prefetches& of) : of_(of) {
  if (!of_.are_used_) return;
  number_ = of_.begun_.fetch_add(1);
  is_alone_ = of_.ended_.load() == number_;
}

prefetches::change::~change() {
  if (!of_.are_used_) return;
  if (!is_certain_) of_.drop_all();
  if (!has_started_) of_.ended_.fetch_add(1);
}

void prefetches::change::has_started(const operation& what, std::span<const std::int64_t> keys, const float* values) {
  if (!of_.are_used_) return;
  if (of_.count_.load() > 0) {
    if (is_alone_ && of_.begun_.load() == number_ + 1)
      of_.record(what, keys, values);
    else
      of_.drop_all();
  }
  has_started_ = true;
  of_.ended_.fetch_add(1);
}

void prefetches::record(const operation& what, std::span<const std::int64_t> keys, const float* values) {
  const std::vector<std::int64_t> places = store_.places(keys);
  std::vector<one> dropped;
  {
    const std::lock_guard lock(mutex_);
    drop_old(dropped);
    drop_if([&](const one& each) { return !each->change(what, keys, places, values); }, dropped);
    set_count();
  }
  give_up(dropped);
}

template <class Which>
void prefetches::drop_if(Which&& which, std::vector<one>& dropped) {
  std::erase_if(waiting_, [&](const one& each) {
    if (!which(each)) return false;
    dropped.push_back(each);
    return true;
  });
}

/// No change is being started if as many have ended as begin until after that.
std::optional<std::uint64_t> prefetches::changes() const {
  const std::uint64_t ended = ended_.load();
  if (begun_.load() != ended) return std::nullopt;
  return ended;
}

void prefetches::add(one started, std::uint64_t changes_before) {
  std::vector<one> dropped;
  {
    const std::lock_guard lock(mutex_);
    drop_old(dropped);
    waiting_.push_back(std::move(started));
    set_count();  // before the look at begun_: a change of another thread is seen here, or sees the prefetch
    if (begun_.load() != changes_before) {
      dropped.push_back(std::move(waiting_.back()));
      waiting_.pop_back();
    } else if (waiting_.size() > most) {
      dropped.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    set_count();
  }
  give_up(dropped);
}

template <class Which>
prefetches::one prefetches::take(std::span<const std::int64_t> keys, Which&& which) {
  if (count_.load() == 0 || mpi::is_forked_child()) return nullptr;
  std::vector<one> dropped;
  one result;
  {
    const std::lock_guard lock(mutex_);
    drop_old(dropped);
    const auto found =
        std::ranges::find_if(waiting_, [&](const one& each) { return std::ranges::equal(each->list(), keys); });
    if (found != waiting_.end() && which(**found)) {
      result = std::move(*found);
      waiting_.erase(found);
    }
    set_count();
  }
  give_up(dropped);
  return result;
}

prefetches::one prefetches::take(std::span<const std::int64_t> keys) {
  return take(keys, [](const prefetched_keys&) { return true; });
}

prefetches::one prefetches::take_if_here(std::span<const std::int64_t> keys) {
  return take(keys, [](prefetched_keys& found) { return found.look() == prefetched_keys::state::here; });
}

void prefetches::drop_all() {
  std::vector<one> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.assign(waiting_.begin(), waiting_.end());
    waiting_.clear();
    set_count();
  }
  give_up(dropped);
}

/// After a synchronization a pull sees all earlier writes of all workers, which these do not.
void prefetches::drop_old(std::vector<one>& dropped) {
  const std::uint64_t now = store_.synchronizations();
  drop_if([=](const one& each) { return each->began_after() != now; }, dropped);
}

/// Nobody waits for what is in flight.
void prefetches::give_up(std::span<const one> dropped) {
  for (const one& each : dropped) in_flight_.give_up(each->operation());
}

}  // namespace syncyte::kv
