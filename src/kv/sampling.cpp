// SPDX-License-Identifier: BSD-3-Clause
#include "kv/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.hpp"

namespace syncyte::kv {

void reject(const std::string& store, std::string_view argument, std::int64_t value, std::string expected) {
  base::refuse(SYNCYTE_ERR_ARGUMENT, {.object = store,
                                      .argument = std::string(argument),
                                      .value = fmt::format("{}", value),
                                      .expected = std::move(expected)});
}

namespace {

/// Draws by trial take four trials on average at most.
constexpr double least_share = 0.25;
/// Keys that are looked at for a local one.
constexpr int most_misses = 256;

constexpr std::int64_t most_shared_keys = std::int64_t{1} << 28;  // of 8 bytes each

void check(std::int64_t keys, const syncyte_store_sampling_t& asked, const std::string& store) {
  namespace known = base::known;
  if (!known::store_scheme::contains(asked.scheme))
    reject(store, "options->scheme", asked.scheme, known::store_scheme::text);
  if (!known::store_distribution::contains(asked.distribution))
    reject(store, "options->distribution", asked.distribution, known::store_distribution::text);
  if (asked.min_key < 0 || asked.min_key >= keys)
    reject(store, "options->min_key", asked.min_key, fmt::format("0 to {}", keys - 1));
  if (asked.max_key <= asked.min_key || asked.max_key > keys)
    reject(store, "options->max_key", asked.max_key, fmt::format("{} to {}", asked.min_key + 1, keys));
  if (asked.shared_keys < 1 || asked.shared_keys > most_shared_keys)
    reject(store, "options->shared_keys", asked.shared_keys, fmt::format("1 to {}", most_shared_keys));
  if (asked.with_replacement != 0 && asked.with_replacement != 1)
    reject(store, "options->with_replacement", asked.with_replacement, "0 or 1");
  if (asked.reuse < 1) reject(store, "options->reuse", asked.reuse, "1 or more");
  if (asked.scheme == SYNCYTE_STORE_SHARED && asked.with_replacement == 0)
    base::refuse(SYNCYTE_ERR_UNSUPPORTED, {.object = store,
                                           .argument = "options->with_replacement",
                                           .value = "0 and options->scheme SYNCYTE_STORE_SHARED",
                                           .expected = "a shared set only with replacement"});
}

}  // namespace

sampling::sampling(key_facts keys, const syncyte_store_sampling_t& asked, const std::string& store)
    : keys_(std::move(keys)), asked_(asked) {
  check(keys_.count, asked, store);
  length_ = keys_.length(asked.min_key);
  different_ = asked.max_key - asked.min_key;
  if (!keys_.have_one_length) list_rare_keys();
}

/// Lists the keys that can be drawn, and their weights, if most draws of the range are other keys.
void sampling::list_rare_keys() {
  double all = 0, eligible = 0;
  different_ = 0;
  for (std::int64_t key = asked_.min_key; key < asked_.max_key; ++key) {
    all += weight(key);
    if (!is_eligible(key)) continue;
    eligible += weight(key);
    ++different_;
  }
  if (eligible >= least_share * all) return;
  double sum = 0;
  for (std::int64_t key = asked_.min_key; key < asked_.max_key; ++key) {
    if (!is_eligible(key)) continue;
    rare_.push_back(key);
    ends_.push_back(sum += weight(key));
  }
}

/// Proportional to the probability of a key. The n-th one of the range, n from 1, has the probability
/// log((n + 1) / n) / log(keys + 1) in a log-uniform distribution.
double sampling::weight(std::int64_t key) const {
  if (asked_.distribution == SYNCYTE_STORE_UNIFORM) return 1;
  return std::log1p(1 / static_cast<double>(key - asked_.min_key + 1));
}

void sampling::require_enough(std::int64_t count) const {
  if (asked_.with_replacement == 0 && count > different_)
    reject("", "count", count, fmt::format("at most {}, as many as can be drawn without replacement", different_));
}

std::int64_t sampling::draw_of_range(random_engine& engine) const {
  if (asked_.distribution == SYNCYTE_STORE_UNIFORM)
    return std::uniform_int_distribution(asked_.min_key, asked_.max_key - 1)(engine);
  const double share = std::uniform_real_distribution(0.0, 1.0)(engine);
  const double place = std::exp(share * std::log1p(static_cast<double>(asked_.max_key - asked_.min_key)));
  return std::clamp(asked_.min_key + static_cast<std::int64_t>(place) - 1, asked_.min_key, asked_.max_key - 1);
}

std::int64_t sampling::draw_one(random_engine& engine) const {
  if (!rare_.empty()) {
    const double share = std::uniform_real_distribution(0.0, ends_.back())(engine);
    const auto above = std::ranges::upper_bound(ends_, share);
    return rare_[std::min(static_cast<std::size_t>(above - ends_.begin()), rare_.size() - 1)];
  }
  while (true) {
    const std::int64_t key = draw_of_range(engine);
    if (is_eligible(key)) return key;
  }
}

/// The key, or the next one above it, that is local, can be drawn, and is not in the sample.
std::optional<std::int64_t> sampling::local_from(std::int64_t key, const distinct_keys& before) const {
  for (int misses = 0; misses <= most_misses; ++misses) {
    if (keys_.is_local(key) && is_eligible(key) && !before.drawn.contains(key)) return key;
    if (++key == asked_.max_key) key = asked_.min_key;
  }
  return std::nullopt;
}

/// A key, or a local one near it. It may be in the sample if no key near it is free.
std::int64_t sampling::draw_near(random_engine& engine, const distinct_keys& before) const {
  const std::int64_t key = draw_one(engine);
  return is_late() && keys_.is_local ? local_from(key, before).value_or(key) : key;
}

/// Puts all keys that are not in the sample in the order in which draws one after another would find them: the order of
/// waiting times that are exponentially distributed with the keys' weights as rates.
void sampling::order_rest(random_engine& engine, distinct_keys& before) const {
  std::vector<std::pair<double, std::int64_t>> times;
  for (std::int64_t key = asked_.min_key; key < asked_.max_key; ++key)
    if (is_eligible(key) && !before.drawn.contains(key))
      times.emplace_back(std::exponential_distribution(weight(key))(engine), key);
  std::ranges::sort(times, std::greater());
  for (const auto& [time, key] : times) before.rest.push_back(key);
  before.has_rest = true;
}

/// A key that is not in the sample. Draws are repeated until there were more repetitions than keys; then the rest is
/// put in order, so that the work for all keys is bounded.
std::int64_t sampling::draw_new(random_engine& engine, distinct_keys& before) const {
  std::int64_t key = draw_near(engine, before);
  for (; before.drawn.contains(key) && !before.has_rest; key = draw_near(engine, before))
    if (++before.repeated > asked_.max_key - asked_.min_key) order_rest(engine, before);
  while (before.drawn.contains(key)) {
    key = before.rest.back();
    before.rest.pop_back();
  }
  before.drawn.insert(key);
  return key;
}

/// Draws each key of the shared set once, in random order; then draws them again, or makes a new set.
std::int64_t sampling::draw_shared(random_engine& engine) {
  const std::lock_guard lock(shared_mutex_);
  if (shared_place_ == shared_.size()) {
    if (shared_.empty() || shared_uses_ == asked_.reuse) {
      shared_.resize(static_cast<std::size_t>(asked_.shared_keys));
      std::ranges::generate(shared_, [&] { return draw_one(engine); });
      shared_uses_ = 0;
    } else {
      std::ranges::shuffle(shared_, engine);
    }
    shared_place_ = 0;
    ++shared_uses_;
  }
  return shared_[shared_place_++];
}

void sampling::draw(std::span<std::int64_t> keys, random_engine& engine, distinct_keys& before) {
  for (std::int64_t& key : keys)
    if (asked_.with_replacement == 0)
      key = draw_new(engine, before);
    else
      key = asked_.scheme == SYNCYTE_STORE_SHARED ? draw_shared(engine) : draw_near(engine, before);
}

}  // namespace syncyte::kv
