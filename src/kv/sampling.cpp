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

sampling::sampling(const key_layout& layout, const syncyte_kv_sampling_t& asked, const std::string& store)
    : layout_(layout), asked_(asked) {
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
  if (asked.with_replacement == 0)
    for (std::int64_t key = asked.min_key; key < asked.max_key; ++key) different_ += layout.length(key) == length();
}

void sampling::require_enough(std::int64_t count) const {
  if (asked_.with_replacement == 0 && count > different_)
    reject("", "count", count, fmt::format("at most {}, as many as can be drawn without replacement", different_));
}

std::int64_t sampling::draw_any(random_engine& engine) const {
  if (asked_.distribution == SYNCYTE_KV_UNIFORM)
    return std::uniform_int_distribution(asked_.min_key, asked_.max_key - 1)(engine);
  // The n-th key of the range, n from 1, has the probability log((n + 1) / n) / log(keys + 1).
  const auto range = static_cast<double>(asked_.max_key - asked_.min_key);
  const double drawn = std::exp(std::uniform_real_distribution(0.0, 1.0)(engine) * std::log(range + 1));
  return std::min(asked_.min_key + static_cast<std::int64_t>(drawn) - 1, asked_.max_key - 1);
}

std::int64_t sampling::draw_one(random_engine& engine) const {
  while (true) {
    const std::int64_t key = draw_any(engine);
    if (layout_.length(key) == length()) return key;
  }
}

/// Draws each of the pool's keys once, in random order; then draws them again, or from a new pool.
std::int64_t sampling::draw_from_pool(random_engine& engine) {
  const std::lock_guard lock(pool_mutex_);
  if (pool_place_ == pool_.size()) {
    if (pool_.empty() || pool_uses_ == asked_.reuse) {
      pool_.resize(static_cast<std::size_t>(asked_.pool_size));
      std::ranges::generate(pool_, [&] { return draw_one(engine); });
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
    key = asked_.scheme == SYNCYTE_KV_POOL ? draw_from_pool(engine) : draw_one(engine);
    if (asked_.with_replacement == 0)
      while (!drawn.insert(key).second) key = draw_one(engine);
  }
}

}  // namespace syncyte::kv
