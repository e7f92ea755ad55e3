#include "kv/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace syncyte::kv {

void reject(const std::string& store, std::string_view argument, std::int64_t value, std::string expected) {
  base::refuse(SYNCYTE_ERR_ARGUMENT, {.object = store,
                                      .argument = std::string(argument),
                                      .value = fmt::format("{}", value),
                                      .expected = std::move(expected)});
}

namespace {

/// The parts of `ranges` inside `whole`.
std::vector<key_range> parts_inside(const key_range& whole, std::span<const key_range> ranges) {
  std::vector<key_range> result;
  for (const key_range& each : ranges) {
    const std::int64_t first = std::max(each.first, whole.first), end = std::min(each.end(), whole.end());
    if (first < end) result.push_back({first, end - first});
  }
  return result;
}

void check(const key_layout& layout, const syncyte_kv_sampling_t& asked, const std::string& store) {
  if (asked.scheme < SYNCYTE_KV_NAIVE || asked.scheme > SYNCYTE_KV_LOCAL)
    reject(store, "sampling->scheme", asked.scheme, "SYNCYTE_KV_NAIVE (1), PRELOC (2), POOL (3) or LOCAL (4)");
  if (asked.distribution < SYNCYTE_KV_UNIFORM || asked.distribution > SYNCYTE_KV_LOG_UNIFORM)
    reject(store, "sampling->distribution", asked.distribution, "SYNCYTE_KV_UNIFORM (1) or SYNCYTE_KV_LOG_UNIFORM (2)");
  if (asked.min_key < 0 || asked.min_key >= layout.keys())
    reject(store, "sampling->min_key", asked.min_key, fmt::format("0 to {}", layout.keys() - 1));
  if (asked.max_key <= asked.min_key || asked.max_key > layout.keys())
    reject(store, "sampling->max_key", asked.max_key, fmt::format("{} to {}", asked.min_key + 1, layout.keys()));
  if (asked.pool_size < 1) reject(store, "sampling->pool_size", asked.pool_size, "1 or more");
  if (asked.reuse < 1) reject(store, "sampling->reuse", asked.reuse, "1 or more");
  if (asked.scheme == SYNCYTE_KV_POOL && asked.with_replacement == 0)
    base::refuse(SYNCYTE_ERR_UNSUPPORTED, {.object = store,
                                           .argument = "sampling->with_replacement",
                                           .value = "0 and sampling->scheme SYNCYTE_KV_POOL",
                                           .expected = "a pool only with replacement"});
}

}  // namespace

sampling::sampling(const key_layout& layout, const syncyte_kv_sampling_t& asked, std::span<const key_range> local,
                   const std::string& store)
    : layout_(layout), asked_(asked) {
  check(layout, asked, store);
  const std::vector<key_range> whole{{asked.min_key, asked.max_key - asked.min_key}};
  all_ = choose(whole);
  if (asked.with_replacement == 0) all_.different = count_different(whole);
  const auto parts = parts_inside(whole.front(), local);
  if (!is_late() || (parts.size() == 1 && parts.front().count == whole.front().count)) return;
  local_ = choose(parts);
  local_.different = count_different(parts);
}

sampling::choice sampling::choose(std::span<const key_range> ranges) const {
  choice result{.ranges = {ranges.begin(), ranges.end()}, .ends = {}, .different = 0};
  double sum = 0;
  for (const key_range& each : ranges) result.ends.push_back(sum += weight(each));
  return result;
}

/// Place of a key in the range of all keys that are drawn, from 1.
double sampling::place(std::int64_t key) const { return static_cast<double>(key - asked_.min_key + 1); }

/// Proportional to the probability that a key of these is drawn. The n-th key, n from 1, has the probability
/// log((n + 1) / n) / log(keys + 1) in a log-uniform distribution.
double sampling::weight(const key_range& range) const {
  if (asked_.distribution == SYNCYTE_KV_UNIFORM) return static_cast<double>(range.count);
  return std::log(place(range.end()) / place(range.first));
}

std::int64_t sampling::count_different(std::span<const key_range> ranges) const {
  return layout_.visit([&](auto vectors) {
    std::int64_t result = 0;
    for (const key_range& each : ranges)
      for (std::int64_t key = each.first; key < each.end(); ++key) result += vectors.length(key) == length();
    return result;
  });
}

/// Local keys while there are any that are not drawn, if keys are drawn late.
const sampling::choice& sampling::source(std::size_t drawn) const {
  return local_.different > static_cast<std::int64_t>(drawn) ? local_ : all_;
}

void sampling::require_enough(std::int64_t count) const {
  if (asked_.with_replacement == 0 && count > all_.different)
    reject("", "count", count, fmt::format("at most {}, as many as can be drawn without replacement", all_.different));
}

std::int64_t sampling::draw_any(random_engine& engine, const choice& from) const {
  std::size_t chosen = 0;
  std::uniform_real_distribution share(0.0, 1.0);
  if (from.ranges.size() > 1) {
    const auto above = std::ranges::upper_bound(from.ends, share(engine) * from.ends.back());
    chosen = std::min<std::size_t>(static_cast<std::size_t>(above - from.ends.begin()), from.ranges.size() - 1);
  }
  const key_range& range = from.ranges[chosen];
  if (asked_.distribution == SYNCYTE_KV_UNIFORM)
    return std::uniform_int_distribution(range.first, range.end() - 1)(engine);
  const double drawn = place(range.first) * std::exp(share(engine) * weight(range));
  return std::clamp(asked_.min_key + static_cast<std::int64_t>(drawn) - 1, range.first, range.end() - 1);
}

std::int64_t sampling::draw_one(random_engine& engine, const choice& from) const {
  while (true) {
    const std::int64_t key = draw_any(engine, from);
    if (layout_.length(key) == length()) return key;
  }
}

/// Draws each of the pool's keys once, in random order; then draws them again, or from a new pool.
std::int64_t sampling::draw_from_pool(random_engine& engine) {
  const std::lock_guard lock(pool_mutex_);
  if (pool_place_ == pool_.size()) {
    if (pool_.empty() || pool_uses_ == asked_.reuse) {
      pool_.resize(static_cast<std::size_t>(asked_.pool_size));
      std::ranges::generate(pool_, [&] { return draw_one(engine, all_); });
      pool_uses_ = 0;
    } else {
      std::ranges::shuffle(pool_, engine);
    }
    pool_place_ = 0;
    ++pool_uses_;
  }
  return pool_[pool_place_++];
}

void sampling::draw(std::span<std::int64_t> keys, random_engine& engine, std::unordered_set<std::int64_t>& drawn) {
  for (std::int64_t& key : keys) {
    const choice& from = source(drawn.size());
    key = asked_.scheme == SYNCYTE_KV_POOL ? draw_from_pool(engine) : draw_one(engine, from);
    if (asked_.with_replacement == 0)
      while (!drawn.insert(key).second) key = draw_one(engine, from);
  }
}

}  // namespace syncyte::kv
