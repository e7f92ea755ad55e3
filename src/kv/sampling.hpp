#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "kv/key_layout.hpp"
#include "syncyte/kv.h"

namespace syncyte::kv {

using random_engine = std::mt19937_64;

/// The way in which keys are drawn, as a user has asked for it, checked. Keys that are not as long as the first one of
/// the range are never drawn. Used by all workers of a process.
class sampling {
 public:
  /// Throws SYNCYTE_ERR_ARGUMENT, and SYNCYTE_ERR_UNSUPPORTED for the pool without replacement. `store` is its name.
  sampling(const key_layout& layout, const syncyte_kv_sampling_t& asked, const std::string& store);

  std::int64_t length() const { return layout_.length(asked_.min_key); }
  std::int64_t seed() const { return asked_.seed; }
  /// Keys are drawn when they are pulled, not when they are prepared.
  bool is_late() const { return asked_.scheme == SYNCYTE_KV_LOCAL; }
  /// What is prepared is intended.
  bool is_intended() const { return asked_.scheme == SYNCYTE_KV_PRELOC || asked_.scheme == SYNCYTE_KV_POOL; }
  /// Throws SYNCYTE_ERR_ARGUMENT for more than there are different keys, without replacement.
  void require_enough(std::int64_t count) const;

  /// `drawn` are those of the same sample before; the new ones are added, where none may repeat.
  void draw(std::span<std::int64_t> keys, random_engine& engine, std::unordered_set<std::int64_t>& drawn);

 private:
  std::int64_t draw_any(random_engine& engine) const;
  std::int64_t draw_one(random_engine& engine) const;
  std::int64_t draw_from_pool(random_engine& engine);

  key_layout layout_;
  syncyte_kv_sampling_t asked_;
  std::int64_t different_ = 0;  // keys that can be drawn

  std::mutex pool_mutex_;
  std::vector<std::int64_t> pool_;
  std::size_t pool_place_ = 0;
  std::int64_t pool_uses_ = 0;
};

}  // namespace syncyte::kv
