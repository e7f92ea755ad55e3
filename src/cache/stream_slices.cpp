// SPDX-License-Identifier: BSD-3-Clause
#include "cache/stream_slices.hpp"

#include <fmt/ranges.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cache/slice.hpp"
#include "memory/device.hpp"
#include "memory/device_system.hpp"

namespace syncyte::cache {
namespace {

/// A slice that belongs to a stream. Not thread-safe.
class stream_slice final : public slice {
 public:
  stream_slice(std::shared_ptr<region> from, void* stream, std::int64_t offset, std::int64_t bytes, bool may_overlap)
      : slice(std::move(from), offset, bytes), stream_(stream), may_overlap_(may_overlap) {}

  /// Released blocks whose streams are done become free first. A full slice waits for the others.
  void* acquire_after_others(std::uint64_t bytes) {
    free_done(false);
    if (void* const found = try_acquire(bytes)) return found;
    free_done(true);
    return acquire(bytes);
  }

  void record(const void* data, void* other) {
    require_block(data);
    if (other != stream_) users_[data].insert(other);
  }

  void release_after_others(const void* data) {
    const auto is_it = [&](const waiting& each) { return each.data == data; };
    base::expect(std::ranges::none_of(waiting_, is_it), SYNCYTE_ERR_ARGUMENT, "data", fmt::ptr(data),
                 "a block that has not been released");
    const auto found = users_.find(data);
    if (found == users_.end()) {
      release(data);
      return;
    }
    waiting_.push_back({data, events_on(found->second)});
    users_.erase(found);
  }

  /// Offsets in the region of the released blocks that other streams still use.
  std::vector<std::string> describe_waiting() {
    free_done(false);
    std::vector<std::string> result;
    for (const waiting& each : waiting_)
      result.push_back(fmt::to_string(static_cast<const std::byte*>(each.data) - of().data()));
    return result;
  }

  bool overlaps(const stream_slice& other) const { return of().inode() == other.of().inode() && meets(other); }
  bool may_overlap(const stream_slice& other) const {
    return stream_ != other.stream_ && may_overlap_ && other.may_overlap_;
  }

 private:
  using event_list = std::vector<std::unique_ptr<memory::device_event>>;

  /// A released block, with an event on each of the other streams that used it.
  struct waiting {
    const void* data;
    event_list events;
  };

  /// An event behind the work of each stream; none if that fails: then the device's work is over.
  event_list events_on(const std::set<void*>& streams) const {
    const int device = of().device();
    event_list result;
    try {
      for (void* const stream : streams) {
        result.push_back(memory::cuda_system().make_event(device));
        result.back()->record(stream);
      }
    } catch (const base::error&) {
      memory::cuda_backend().finish(device);  // a device that has failed does nothing more
      result.clear();
    }
    return result;
  }

  static bool are_over(const event_list& of, bool waits) {
    return std::ranges::all_of(of, [&](const auto& event) {
      if (waits) event->wait();
      return event->is_done();
    });
  }

  /// Frees the released blocks whose events are over; waits for the events if told to. After an error of an event the
  /// other blocks wait as before.
  void free_done(bool waits) {
    for (auto each = waiting_.begin(); each != waiting_.end();) {
      if (!are_over(each->events, waits)) {
        ++each;
        continue;
      }
      release(each->data);
      each = waiting_.erase(each);
    }
  }

  void* stream_;
  bool may_overlap_;
  std::map<const void*, std::set<void*>> users_;  // other streams that use a block
  std::vector<waiting> waiting_;
};

using slices = std::vector<std::unique_ptr<stream_slice>>;

struct all_streams {
  std::mutex mutex;  // guards the map and its slices
  std::map<device_stream, slices> of;
  std::atomic<std::size_t> count{0};  // of streams with slices: most programs have none
};

all_streams& all() {
  static all_streams* const everything = [] {
    ::pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); }, [] { std::construct_at(&all().mutex); });
    return new all_streams;  // leaked: tensors may outlive static objects
  }();
  return *everything;
}

/// The slices of a stream; null if it has none. The caller holds the lock.
slices* find_slices(const device_stream& asked) {
  const auto found = all().of.find(asked);
  return found == all().of.end() ? nullptr : &found->second;
}

/// The slice of a stream with a block. The caller holds the lock.
stream_slice& slice_with(const device_stream& of, const void* data) {
  if (slices* const its = find_slices(of))
    for (const auto& each : *its)
      if (each->holds(data)) return *each;
  base::refuse(
      SYNCYTE_ERR_ARGUMENT,
      {.argument = "data", .value = fmt::to_string(fmt::ptr(data)), .expected = "a block of the stream's slices"});
}

/// The caller holds the lock.
void refuse_overlaps(const stream_slice& wanted) {
  for (const auto& [stream, inserted] : all().of)
    for (const auto& other : inserted)
      base::require(!wanted.overlaps(*other) || wanted.may_overlap(*other), SYNCYTE_ERR_BUSY,
                    "the slice {} overlaps {}, which a stream of this process has: clear that stream first",
                    wanted.describe(), other->describe());
}

}  // namespace

void insert_on_stream(std::shared_ptr<region> from, void* stream, std::int64_t offset, std::int64_t bytes,
                      bool may_overlap) {
  base::require(from->memory() == SYNCYTE_MEMORY_CUDA, SYNCYTE_ERR_UNSUPPORTED,
                "the shared cache is in host memory, where slices belong to threads: use cache_insert");
  memory::require_device(SYNCYTE_MEMORY_CUDA, from->device());
  const device_stream place{from->device(), stream};
  auto made = std::make_unique<stream_slice>(std::move(from), stream, offset, bytes, may_overlap);
  const std::lock_guard lock(all().mutex);
  refuse_overlaps(*made);
  all().of[place].push_back(std::move(made));
  all().count = all().of.size();
}

void clear_stream(const device_stream& of) {
  if (!has_slice(of)) return;
  memory::cuda_backend().synchronize(of.device, of.stream);
  const std::lock_guard lock(all().mutex);
  slices* const its = find_slices(of);
  if (its == nullptr) return;
  std::vector<slice*> inserted;
  for (const auto& each : *its) {
    const auto waiting = each->describe_waiting();
    base::require(
        waiting.empty(), SYNCYTE_ERR_BUSY,
        "other streams still use freed memory of this stream's slices of the shared cache, at offset {}; wait "
        "for their work first",
        fmt::join(waiting, ", "));
    inserted.push_back(each.get());
  }
  require_unused(inserted, "this stream's");
  all().of.erase(of);
  all().count = all().of.size();
}

bool has_slice(const device_stream& asked) {
  if (all().count == 0) return false;
  const std::lock_guard lock(all().mutex);
  return find_slices(asked) != nullptr;
}

void* acquire_on_stream(const device_stream& of, std::uint64_t bytes) {
  if (all().count == 0) return nullptr;
  const std::lock_guard lock(all().mutex);
  slices* const its = find_slices(of);
  return its == nullptr ? nullptr : its->back()->acquire_after_others(bytes);
}

void record_stream(const device_stream& of, const void* data, void* other) {
  const std::lock_guard lock(all().mutex);
  slice_with(of, data).record(data, other);
}

void release_on_stream(const device_stream& of, void* data) {
  if (data == nullptr) return;
  const std::lock_guard lock(all().mutex);
  slice_with(of, data).release_after_others(data);
}

bool is_in_stream_slice(const void* data) {
  if (all().count == 0) return false;
  const std::lock_guard lock(all().mutex);
  return std::ranges::any_of(all().of, [&](const auto& its) {
    return std::ranges::any_of(its.second, [&](const auto& each) { return each->holds(data); });
  });
}

}  // namespace syncyte::cache
