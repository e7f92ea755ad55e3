#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kv/key_layout.hpp"
#include "kv/key_range.hpp"
#include "syncyte/kv.h"

namespace syncyte::kv {

using random_engine = std::mt19937_64;

/// Throws SYNCYTE_ERR_ARGUMENT for a number given to a store, or to its workers; `store` is its name.
[[noreturn]] void reject(const std::string& store, std::string_view argument, std::int64_t value, std::string expected);

/// Draws keys at random, by the user's options, which it checks. It never draws a key whose vector has another length
/// than that of the range's first key. All workers of a process share it.
class sampling {
 public:
  /// Throws SYNCYTE_ERR_ARGUMENT, and SYNCYTE_ERR_UNSUPPORTED for the pool without replacement. `store` is its name.
  /// `local` has the keys at ranks of this node, in order.
  sampling(const key_layout& layout, const syncyte_kv_sampling_t& asked, std::span<const key_range> local,
           const std::string& store);

  std::int64_t length() const { return layout_.length(asked_.min_key); }
  std::int64_t seed() const { return asked_.seed; }
  /// Whether keys are drawn when they are pulled, not when the sample is prepared. Then local keys are drawn, as long
  /// as there are any.
  bool is_late() const { return asked_.scheme == SYNCYTE_KV_LOCAL; }
  /// Whether preparing a sample also signals intent for its keys.
  bool is_intended() const { return asked_.scheme == SYNCYTE_KV_PRELOC || asked_.scheme == SYNCYTE_KV_POOL; }
  /// Throws SYNCYTE_ERR_ARGUMENT if `count` exceeds the number of different keys and sampling is without replacement.
  void require_enough(std::int64_t count) const;

  /// Fills `keys`. `drawn` holds the sample's earlier keys; draw() adds the new ones if sampling is without
  /// replacement.
  void draw(std::span<std::int64_t> keys, random_engine& engine, std::unordered_set<std::int64_t>& drawn);

 private:
  /// Keys to draw from: parts of the range.
  struct choice {
    std::vector<key_range> ranges;
    std::vector<double> ends;    // sum of the probabilities' weights up to each range's end
    std::int64_t different = 0;  // keys that can be drawn; counted where it matters
  };

  choice choose(std::span<const key_range> ranges) const;
  double place(std::int64_t key) const;
  double weight(const key_range& range) const;
  std::int64_t count_different(std::span<const key_range> ranges) const;
  const choice& source(std::size_t drawn) const;
  std::int64_t draw_any(random_engine& engine, const choice& from) const;
  std::int64_t draw_one(random_engine& engine, const choice& from) const;
  std::int64_t draw_from_pool(random_engine& engine);

  key_layout layout_;
  syncyte_kv_sampling_t asked_;
  choice all_, local_;

  std::mutex pool_mutex_;
  std::vector<std::int64_t> pool_;
  std::size_t pool_place_ = 0;
  std::int64_t pool_uses_ = 0;
};

}  // namespace syncyte::kv
