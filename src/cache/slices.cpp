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
#include "cache/slice.hpp"

namespace syncyte::cache {
namespace {

/// The thread that acquires blocks of a slice.
enum class owner {
  thread,        // the thread that has inserted it
  ended_thread,  // none: that thread has ended
  parent         // none in this forked child: the slice is its parent's
};

/// Part of a region, from which one thread acquires blocks.
class thread_slice final : public slice {
 public:
  using slice::slice;

  /// A parent's slice is compared by address: a forked child that receives the same region again maps it elsewhere, and
  /// may use the same bytes, as any other process may.
  bool overlaps(const slice& other) const {
    const bool is_same = taken_by == owner::parent ? other.of().data() == of().data()  //
                                                   : other.of().inode() == of().inode();
    return is_same && meets(other);
  }

  /// Guarded by the lock of the list.
  owner taken_by = owner::thread;
};

using slices = std::vector<std::shared_ptr<thread_slice>>;

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
thread_local thread_slice* serving =
    nullptr;  // the last one; a plain pointer, so that it can be read while the thread ends

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
void remove(const thread_slice* gone) {
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
std::shared_ptr<thread_slice> find_slice(Predicate&& fits) {
  const auto found = std::ranges::find_if(list().all, [&](const auto& each) { return fits(*each); });
  return found == list().all.end() ? nullptr : *found;
}

std::shared_ptr<thread_slice> slice_with(const void* data) {
  const std::lock_guard lock(list().mutex);
  return find_slice([&](const thread_slice& each) { return each.holds(data); });
}

bool is_own(const thread_slice& asked) {
  return std::ranges::any_of(own.inserted, [&](const auto& each) { return each.get() == &asked; });
}

[[noreturn]] void refuse_overlap(const slice& wanted, thread_slice& other) {
  std::string why = "which another thread of this process has inserted: that thread has to clear it first";
  if (is_own(other)) why = "which this thread has inserted: clear it first";
  if (other.taken_by != owner::thread)
    why = fmt::format("where tensors of {} live, at offset {}: drop them first",
                      other.taken_by == owner::parent ? "the parent process" : "a thread that has ended",
                      fmt::join(other.describe_used(most_named), ", "));
  base::fail(SYNCYTE_ERR_BUSY, "the slice {} overlaps {}, {}", wanted.describe(), other.describe(), why);
}

}  // namespace

void insert(std::shared_ptr<region> from, std::int64_t offset, std::int64_t bytes) {
  base::require(from->memory() == SYNCYTE_MEMORY_HOST, SYNCYTE_ERR_UNSUPPORTED,
                "the shared cache is on device {}, where slices belong to streams: use cache_insert_on_stream",
                from->device());
  auto made = std::make_shared<thread_slice>(std::move(from), offset, bytes);
  // Python may join a thread shortly before its slices are destroyed: wait a moment for a slice without blocks.
  const auto grace_period = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  std::unique_lock lock(list().mutex);
  while (const auto other = find_slice([&](const thread_slice& each) { return each.overlaps(*made); })) {
    const bool may_go = other->taken_by == owner::thread && other->used_blocks() == 0 && !is_own(*other);
    if (!may_go || std::chrono::steady_clock::now() > grace_period) refuse_overlap(*made, *other);
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
  list().all.push_back(made);
  serving = made.get();
  own.inserted.push_back(std::move(made));
}

void expect_clear() {
  std::vector<slice*> inserted;
  for (const auto& each : own.inserted) inserted.push_back(each.get());
  require_unused(inserted, "this thread's");
}

void clear() {
  expect_clear();
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
