// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "syncyte/store.h"

namespace syncyte::kv {

using random_engine = std::mt19937_64;

/// Throws SYNCYTE_ERR_ARGUMENT for a number given to a store, or to its workers; `store` is its name.
[[noreturn]] void reject(const std::string& store, std::string_view argument, std::int64_t value, std::string expected);

/// Draws keys at random, by the user's options, which it checks. All keys that it draws have as many values as the
/// range's first key. All workers of a process share it.
class sampling {
 public:
  /// The store's keys.
  struct key_facts {
    std::int64_t count = 0;
    bool have_one_length = true;
    std::function<std::int64_t(std::int64_t)> length;  ///< number of a key's values
    std::function<bool(std::int64_t)> is_local;        ///< of a key; null: local keys are not preferred
  };

  /// Throws SYNCYTE_ERR_ARGUMENT, and SYNCYTE_ERR_UNSUPPORTED for a shared set without replacement. `store` is its
  /// name.
  sampling(key_facts keys, const syncyte_store_sampling_t& asked, const std::string& store);

  std::int64_t length() const { return length_; }
  std::int64_t seed() const { return asked_.seed; }
  /// Whether keys are drawn when they are pulled, not when the sample is prepared. Then local keys are preferred.
  bool is_late() const { return asked_.scheme == SYNCYTE_STORE_LOCAL; }
  /// Whether preparing a sample also signals intent for its keys.
  bool is_intended() const { return asked_.scheme == SYNCYTE_STORE_INTENDED || asked_.scheme == SYNCYTE_STORE_SHARED; }
  /// Throws SYNCYTE_ERR_ARGUMENT if `count` exceeds the number of different keys and sampling is without replacement.
  void require_enough(std::int64_t count) const;

  /// The keys of a sample without replacement.
  struct distinct_keys {
    std::unordered_set<std::int64_t> drawn;
    std::int64_t repeated = 0;       // draws of keys that had been drawn
    bool has_rest = false;           // `rest` has been made
    std::vector<std::int64_t> rest;  // keys in the order in which they will be drawn, the next one last
  };

  /// Fills `keys`, the next ones of a sample whose earlier keys are in `before`, if it is without replacement.
  void draw(std::span<std::int64_t> keys, random_engine& engine, distinct_keys& before);

 private:
  void list_rare_keys();
  bool is_eligible(std::int64_t key) const { return keys_.have_one_length || keys_.length(key) == length_; }
  double weight(std::int64_t key) const;
  std::int64_t draw_of_range(random_engine& engine) const;
  std::int64_t draw_one(random_engine& engine) const;
  std::optional<std::int64_t> local_from(std::int64_t key, const distinct_keys& before) const;
  std::int64_t draw_near(random_engine& engine, const distinct_keys& before) const;
  void order_rest(random_engine& engine, distinct_keys& before) const;
  std::int64_t draw_new(random_engine& engine, distinct_keys& before) const;
  std::int64_t draw_shared(random_engine& engine);

  key_facts keys_;
  syncyte_store_sampling_t asked_;
  std::int64_t length_ = 0;
  std::int64_t different_ = 0;      // keys that can be drawn
  std::vector<std::int64_t> rare_;  // all keys that can be drawn, if these are few; otherwise empty
  std::vector<double> ends_;        // sums of their weights

  std::mutex shared_mutex_;
  std::vector<std::int64_t> shared_;
  std::size_t shared_place_ = 0;
  std::int64_t shared_uses_ = 0;
};

}  // namespace syncyte::kv
