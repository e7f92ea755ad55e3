// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "access/started.hpp"
#include "fabric/engine.hpp"
#include "kv/distinct_keys.hpp"
#include "kv/operations.hpp"
#include "kv/store.hpp"

namespace syncyte::kv {

/// Values that an operation in flight uses, and the stream that it is in: it keeps both.
struct kept_values {
  kept_values(std::shared_ptr<fabric::stream> stream, std::int64_t count)
      : in(std::move(stream)), values(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count))) {}

  std::shared_ptr<fabric::stream> in;
  std::unique_ptr<float[]> values;
};

/// A list of keys that is pulled ahead: its distinct keys, their values, and the changes that the worker has made since
/// the pull began, which are applied when the values are here. One thread at a time.
class prefetched_keys {
 public:
  enum class state { in_flight, here, failed };
  /// The values that a pull gets: those of the whole list, or of its distinct keys.
  enum class form { list, distinct };

  prefetched_keys(const store& of, std::span<const std::int64_t> list, std::shared_ptr<fabric::stream> in);

  std::span<const std::int64_t> list() const { return list_; }
  const distinct_keys& distinct() const { return distinct_; }
  /// The number of synchronizations of the store when the pull began.
  std::uint64_t began_after() const { return began_after_; }

  /// The room for the values of the distinct keys, until the end of the pull.
  const std::shared_ptr<kept_values>& room() const { return room_; }
  void set_operation(std::shared_ptr<access::started> started) { pull_ = std::move(started); }
  const std::shared_ptr<access::started>& operation() const { return pull_; }

  state look();
  /// Waits; false: the pull has failed.
  bool await_values();

  /// Records a change, which the worker has started after the pull; `places`: where the values of each of `keys` begin.
  /// False: it cannot, so these values must not be used any more.
  bool change(const struct operation& what, std::span<const std::int64_t> keys, std::span<const std::int64_t> places,
              const float* values);

  /// Gives the values, which are here.
  void copy(form which, float* to);

 private:
  struct changes {
    const struct operation* what;
    std::vector<std::int64_t> keys = {};  // places among the distinct keys
    std::vector<float> values = {};
  };

  void apply_changes();
  std::span<float> values_of(std::int64_t place) const;

  std::vector<std::int64_t> list_;
  distinct_keys distinct_;
  std::vector<std::int64_t> places_;  // where the values of each distinct key begin, and the end of the last
  std::uint64_t began_after_;
  std::shared_ptr<kept_values> room_;
  std::shared_ptr<access::started> pull_;
  std::vector<changes> later_;
  std::size_t later_values_ = 0;  // in later_
};

}  // namespace syncyte::kv
