// SPDX-License-Identifier: BSD-3-Clause
#include "cache/slices.hpp"

#include <fmt/ranges.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cache/heap.hpp"

namespace syncyte::cache {
namespace {

/// The thread that acquires blocks of a slice.
enum class owner {
  thread,        // the thread that has inserted it
  ended_thread,  // none: that thread has ended
  parent         // none in this forked child: the slice is its parent's
};

/// Part of a region with a heap of its bytes. One thread acquires blocks, any thread releases them.
class slice {
 public:
  slice(std::shared_ptr<region> from, std::uint64_t offset, std::uint64_t bytes)
      : region_(std::move(from)), begin_(region_->data() + offset), offset_(offset), bytes_(bytes), heap_(bytes) {}

  void* acquire(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto offset = heap_.acquire(bytes);
    if (!offset) [[unlikely]]
      refuse_size(bytes);
    return begin_ + *offset;
  }

  bool holds(const void* data) const { return data >= begin_ && data < begin_ + bytes_; }

  /// Releases the block at `data`; returns the number of blocks left. Throws if there is no block at `data`.
  std::uint64_t release(const void* data) {
    const std::lock_guard lock(mutex_);
    const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(data) - begin_);
    base::expect(heap_.release(offset), SYNCYTE_ERR_ARGUMENT, "data",
                 fmt::format("at offset {} of the shared cache", offset_ + offset), "the begin of a block in use");
    return heap_.used_blocks();
  }

  std::uint64_t used_blocks() {
    const std::lock_guard lock(mutex_);
    return heap_.used_blocks();
  }

  /// The first `most` blocks in use, as "offset (bytes)", with offsets in the region.
  std::vector<std::string> describe_used(std::size_t most) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> result;
    for (const auto& each : heap_.used(most))
      result.push_back(fmt::format("{} ({} bytes)", offset_ + each.offset, each.bytes));
    return result;
  }

  /// A parent's slice is compared by address: a forked child that receives the same region again maps it elsewhere, and
  /// may use the same bytes, as any other process may.
  bool overlaps(const region& other, std::uint64_t offset, std::uint64_t bytes) const {
    const bool is_same =
        taken_by == owner::parent ? other.data() == region_->data() : other.inode() == region_->inode();
    return is_same && offset < offset_ + bytes_ && offset_ < offset + bytes;
  }

  /// Locked while the process forks, so that the child's copy is consistent.
  std::mutex& mutex() { return mutex_; }

  /// Guarded by the lock of the list.
  owner taken_by = owner::thread;

  std::string describe() const { return fmt::format("[{}, {})", offset_, offset_ + bytes_); }

 private:
  [[noreturn]] void refuse_size(std::uint64_t bytes) const {
    base::fail(SYNCYTE_ERR_MEMORY,
               "{} bytes do not fit the shared cache's slice {}: {} of its {} bytes are free, {} of them in one piece; "
               "free tensors, or make the slice larger",
               bytes, describe(), heap_.free_bytes(), bytes_, heap_.largest_hole());
  }

  std::mutex mutex_;
  std::shared_ptr<region> region_;
  std::byte* begin_;
  std::uint64_t offset_;
  std::uint64_t bytes_;
  heap heap_;
};

constexpr std::size_t most_named = 5;  // blocks in a message

using slices = std::vector<std::shared_ptr<slice>>;

/// All slices of the process, including those with blocks in use of ended threads and of a parent process.
struct slice_list {
  std::mutex mutex;
  slices all;
};

slice_list& list();

/// The calling thread's slices. When the thread ends, slices with blocks in use stay in the list.
struct thread_slices {
  slices inserted;

  ~thread_slices();
  void forget();
};

thread_local thread_slices own;
thread_local slice* serving = nullptr;  // the last one; a plain pointer, so that it can be read while the thread ends

void lock_for_fork() {
  list().mutex.lock();
  for (const auto& each : list().all) each->mutex().lock();
}

void unlock_in_parent() {
  for (const auto& each : list().all) each->mutex().unlock();
  list().mutex.unlock();
}

/// Called in a forked child, which acquires no blocks of its parent's slices. Slices with blocks in use stay in the
/// list, so that the child can release its copies of the blocks.
void start_as_child() {
  std::construct_at(&list().mutex);
  for (const auto& each : list().all) {
    std::construct_at(&each->mutex());
    each->taken_by = owner::parent;
  }
  std::erase_if(list().all, [](const auto& each) { return each->used_blocks() == 0; });
  own.inserted.clear();
  serving = nullptr;
}

slice_list& list() {
  static slice_list* const the_list = [] {
    ::pthread_atfork(lock_for_fork, unlock_in_parent, start_as_child);
    return new slice_list;  // leaked: tensors may outlive static objects
  }();
  return *the_list;
}

/// The caller holds the lock.
void remove(const slice* gone) {
  std::erase_if(list().all, [&](const auto& each) { return each.get() == gone; });
}

void thread_slices::forget() {
  serving = nullptr;
  const slices gone = std::exchange(inserted, {});
  const std::lock_guard lock(list().mutex);
  for (const auto& each : gone) {
    each->taken_by = owner::ended_thread;
    if (each->used_blocks() == 0) remove(each.get());
  }
}

thread_slices::~thread_slices() {
  if (!inserted.empty()) forget();
}

/// The first slice that fits, or null. The caller holds the lock.
template <class Predicate>
std::shared_ptr<slice> find_slice(Predicate&& fits) {
  const auto found = std::ranges::find_if(list().all, [&](const auto& each) { return fits(*each); });
  return found == list().all.end() ? nullptr : *found;
}

std::shared_ptr<slice> slice_with(const void* data) {
  const std::lock_guard lock(list().mutex);
  return find_slice([&](const slice& each) { return each.holds(data); });
}

void check_range(const region& from, std::int64_t offset, std::int64_t bytes) {
  const auto whole = static_cast<std::int64_t>(from.bytes());
  constexpr auto unit = static_cast<std::int64_t>(heap::unit);
  base::expect(offset >= 0 && offset <= whole && offset % unit == 0, SYNCYTE_ERR_ARGUMENT, "offset", offset,
               "a multiple of {} from 0 to {}, the size of the cache", unit, whole);
  base::expect(bytes >= 1 && bytes <= whole - offset && bytes % unit == 0, SYNCYTE_ERR_ARGUMENT, "size", bytes,
               "a multiple of {0} from {0} to {1}, the rest of the cache from offset {2} on", unit, whole - offset,
               offset);
}

bool is_own(const slice& asked) {
  return std::ranges::any_of(own.inserted, [&](const auto& each) { return each.get() == &asked; });
}

[[noreturn]] void refuse_overlap(slice& other, std::uint64_t begin, std::uint64_t end) {
  std::string why = "which another thread of this process has inserted: that thread has to clear it first";
  if (is_own(other)) why = "which this thread has inserted: clear it first";
  if (other.taken_by != owner::thread)
    why = fmt::format("where tensors of {} live, at offset {}: drop them first",
                      other.taken_by == owner::parent ? "the parent process" : "a thread that has ended",
                      fmt::join(other.describe_used(most_named), ", "));
  base::fail(SYNCYTE_ERR_BUSY, "the slice [{}, {}) overlaps {}, {}", begin, end, other.describe(), why);
}

}  // namespace

void insert(std::shared_ptr<region> from, std::int64_t offset, std::int64_t bytes) {
  check_range(*from, offset, bytes);
  const auto begin = static_cast<std::uint64_t>(offset);
  const auto size = static_cast<std::uint64_t>(bytes);
  // Python may join a thread shortly before its slices are destroyed: wait a moment for a slice without blocks.
  const auto grace_period = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  std::unique_lock lock(list().mutex);
  while (const auto other = find_slice([&](const slice& each) { return each.overlaps(*from, begin, size); })) {
    const bool may_go = other->taken_by == owner::thread && other->used_blocks() == 0 && !is_own(*other);
    if (!may_go || std::chrono::steady_clock::now() > grace_period) refuse_overlap(*other, begin, begin + size);
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
  auto made = std::make_shared<slice>(std::move(from), begin, size);
  list().all.push_back(made);
  serving = made.get();
  own.inserted.push_back(std::move(made));
}

void clear() {
  std::uint64_t used = 0;
  std::vector<std::string> named;
  for (const auto& each : own.inserted) {
    used += each->used_blocks();
    const auto more = each->describe_used(most_named - named.size());
    named.insert(named.end(), more.begin(), more.end());
  }
  base::require(used == 0, SYNCYTE_ERR_BUSY,
                "{} still in this thread's slices of the shared cache, at offset {}{}; drop what refers to them first "
                "(gradients, optimizers, results, numpy views and tracebacks do too)",
                used == 1 ? "1 tensor is" : fmt::format("{} tensors are", used), fmt::join(named, ", "),
                used > named.size() ? ", ..." : "");
  if (!own.inserted.empty()) own.forget();
}

bool holds(const void* data) { return slice_with(data) != nullptr; }

void* acquire(std::uint64_t bytes) { return serving == nullptr ? nullptr : serving->acquire(bytes); }

void release(void* data) {
  if (data == nullptr) return;
  if (serving != nullptr && serving->holds(data)) {
    serving->release(data);
    return;
  }
  const auto found = slice_with(data);
  base::expect(found != nullptr, SYNCYTE_ERR_ARGUMENT, "data", fmt::ptr(data),
               "a pointer that cache_allocate() returned");
  if (found->release(data) > 0) return;
  const std::lock_guard lock(list().mutex);
  // Its thread may have acquired another block meanwhile, and ended.
  if (found->taken_by != owner::thread && found->used_blocks() == 0) remove(found.get());
}

}  // namespace syncyte::cache
