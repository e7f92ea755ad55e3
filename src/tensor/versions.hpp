// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "syncyte/base.h"

namespace syncyte::tensor {

class whole_tensor;

/// The versions of a field, in a ring of slots. Every rank that owns points publishes each version; it is complete when
/// all have. Version v lies in slot v mod slots. The newest complete version is not overwritten if there are two slots
/// or more: a rank begins version v when version v - slots + 1 is complete. It does not wait for readers: a reader sees
/// by a counter whether a slot was begun again while it read, and then reads a newer one.
class versions {
 public:
  /// Collective.
  static std::unique_ptr<versions> create(const whole_tensor& of, std::int64_t slots, const std::string& name);

  /// Publishes this rank's arrays, one for each block, as the next version. Thread-safe; throws as
  /// syncyte_tensor_publish().
  void publish(whole_tensor& of, std::span<const syncyte_buffer_t> arrays, std::int64_t step);

  /// Reads a box of the newest version, once it has this step or a later one; returns its step.
  std::int64_t take(whole_tensor& of, std::int64_t at_least, base::array_argument<std::int64_t> lower, double timeout,
                    const syncyte_buffer_t* output) const;

 private:
  versions(std::shared_ptr<whole_tensor> counters, std::int64_t slots, std::int64_t publishers, int first_publisher)
      : counters_(std::move(counters)),
        slots_(slots),
        publishers_(publishers),
        first_publisher_(first_publisher),
        steps_(static_cast<std::size_t>(slots), no_step) {}

  static constexpr std::int64_t no_step = INT64_MIN;

  // Elements of the counters.
  static constexpr std::int64_t complete = 0;  // number of complete versions
  static constexpr std::int64_t of_first = 1;  // number of versions that the first publisher has published
  static constexpr std::int64_t of_each_slot = 3;
  std::int64_t first_of(std::int64_t version) const { return 2 + version % slots_ * of_each_slot; }
  std::int64_t begun(std::int64_t version) const { return first_of(version); }     // of all ranks, in all rounds
  std::int64_t done(std::int64_t version) const { return first_of(version) + 1; }  // likewise
  std::int64_t step(std::int64_t version) const { return first_of(version) + 2; }

  /// The counter begun() has this value once all ranks have begun a version, and done() once they have done it.
  std::int64_t all_of(std::int64_t version) const { return (version / slots_ + 1) * publishers_; }
  /// Whether no rank has begun to overwrite a complete version.
  bool is_intact(std::int64_t version) const;
  [[noreturn]] void fail_late(const whole_tensor& of, std::int64_t at_least, double timeout) const;
  void wait_for_others() const;
  void agree_on_step(std::int64_t mine);
  void copy_blocks(whole_tensor& of, std::span<const base::buffer> arrays, std::int64_t version) const;

  std::shared_ptr<whole_tensor> counters_;
  std::int64_t slots_;
  std::int64_t publishers_;  // ranks that own points
  int first_publisher_;      // the first of them; it has the counters
  std::mutex mutex_;         // guards the members below
  std::int64_t next_ = 0;    // version that this rank publishes next
  std::int64_t last_step_ = no_step;
  bool has_begun_ = false;           // next_, and has not ended it because of an error
  std::vector<std::int64_t> steps_;  // of this rank's last version in each slot
};

}  // namespace syncyte::tensor
