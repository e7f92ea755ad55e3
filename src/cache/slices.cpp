#include "cache/slices.hpp"

#include <fmt/ranges.h>
#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cache/heap.hpp"

namespace syncyte::cache {
namespace {

/// Part of a region, and which of its bytes are used. One thread acquires, any thread releases.
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

  /// Blocks that are left; throws if there is none at `data`.
  std::uint64_t release(const void* data) {
    const std::lock_guard lock(mutex_);
    const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(data) - begin_);
    base::require(heap_.release(offset), SYNCYTE_ERR_ARGUMENT,
                  "data is a pointer to offset {} of the shared cache, where no block begins, or which was given back",
                  offset_ + offset);
    return heap_.used_blocks();
  }

  std::uint64_t used_blocks() {
    const std::lock_guard lock(mutex_);
    return heap_.used_blocks();
  }

  /// The first blocks that are used, as "offset (bytes)", offsets counted in the region.
  std::vector<std::string> describe_used(std::size_t most) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> result;
    for (const auto& each : heap_.used(most))
      result.push_back(fmt::format("{} ({} bytes)", offset_ + each.offset, each.bytes));
    return result;
  }

  bool overlaps(const region& other, std::uint64_t offset, std::uint64_t bytes) const {
    return other.inode() == region_->inode() && offset < offset_ + bytes_ && offset_ < offset + bytes;
  }

  /// No thread takes memory from it any longer. The list's lock guards this.
  bool is_left_behind = false;

  std::string describe() const { return fmt::format("[{}, {})", offset_, offset_ + bytes_); }

 private:
  [[noreturn]] void refuse_size(std::uint64_t bytes) const {
    base::fail(SYNCYTE_ERR_MEMORY,
               "{} bytes do not fit the shared cache's slice {}: {} of its {} bytes are free, {} of them in one piece",
               bytes, describe(), heap_.free_bytes(), bytes_, heap_.largest_hole());
  }

  std::mutex mutex_;
  std::shared_ptr<region> region_;
  std::byte* begin_;
  std::uint64_t offset_;
  std::uint64_t bytes_;
  heap heap_;
};

using slices = std::vector<std::shared_ptr<slice>>;

/// All slices of the process, of threads that have ended too.
struct slice_list {
  std::mutex mutex;
  slices all;
  bool is_childs = false;  // some blocks may be the parent's
};

slice_list& list();

/// The calling thread's slices. Blocks that are left when it ends keep theirs in the list.
struct thread_slices {
  slices inserted;

  ~thread_slices();
  void forget();
};

thread_local thread_slices own;
thread_local slice* serving = nullptr;  // the last of them; trivial, so that it can be asked after the thread's end

/// The child has none of its parent's slices. Their memory stays mapped: tensors of the parent may be used.
void start_as_child() {
  std::construct_at(&list().mutex);
  new slices(std::exchange(list().all, {}));  // leaked, for the parent's blocks to stay
  list().is_childs = true;
  own.inserted.clear();
  serving = nullptr;
}

slice_list& list() {
  static slice_list* const the_list = [] {
    ::pthread_atfork([] { list().mutex.lock(); }, [] { list().mutex.unlock(); }, start_as_child);
    return new slice_list;  // leaked: tensors may outlive static objects
  }();
  return *the_list;
}

/// The lock is the caller's.
void remove(const slice* gone) {
  std::erase_if(list().all, [&](const auto& each) { return each.get() == gone; });
}

void thread_slices::forget() {
  serving = nullptr;
  const slices gone = std::exchange(inserted, {});
  const std::lock_guard lock(list().mutex);
  for (const auto& each : gone) {
    each->is_left_behind = true;
    if (each->used_blocks() == 0) remove(each.get());
  }
}

thread_slices::~thread_slices() {
  if (!inserted.empty()) forget();
}

std::shared_ptr<slice> find_slice(const void* data) {
  const std::lock_guard lock(list().mutex);
  const auto found = std::ranges::find_if(list().all, [&](const auto& each) { return each->holds(data); });
  return found == list().all.end() ? nullptr : *found;
}

void remove_if_left_behind(const slice& used) {
  const std::lock_guard lock(list().mutex);
  if (used.is_left_behind) remove(&used);
}

void check_range(const region& from, std::int64_t offset, std::int64_t bytes) {
  const auto whole = static_cast<std::int64_t>(from.bytes());
  if (offset < 0 || offset > whole || offset % static_cast<std::int64_t>(heap::unit) != 0)
    base::refuse(SYNCYTE_ERR_ARGUMENT,
                 {.argument = "offset",
                  .value = std::to_string(offset),
                  .expected = fmt::format("a multiple of {} from 0 to {}, the size of the cache", heap::unit, whole)});
  if (bytes < 1 || bytes > whole - offset || bytes % static_cast<std::int64_t>(heap::unit) != 0)
    base::refuse(SYNCYTE_ERR_ARGUMENT,
                 {.argument = "bytes",
                  .value = std::to_string(bytes),
                  .expected = fmt::format("a multiple of {} from {} to {}, what the cache has from offset {} on",
                                          heap::unit, heap::unit, whole - offset, offset)});
}

}  // namespace

void insert(std::shared_ptr<region> from, std::int64_t offset, std::int64_t bytes) {
  check_range(*from, offset, bytes);
  const auto begin = static_cast<std::uint64_t>(offset);
  const auto size = static_cast<std::uint64_t>(bytes);
  const std::lock_guard lock(list().mutex);
  for (const auto& each : list().all)
    base::require(!each->overlaps(*from, begin, size), SYNCYTE_ERR_BUSY,
                  "the slice [{}, {}) overlaps {}, which a thread of this process has inserted; clear that one first",
                  begin, begin + size, each->describe());
  auto made = std::make_shared<slice>(std::move(from), begin, size);
  list().all.push_back(made);
  serving = made.get();
  own.inserted.push_back(std::move(made));
}

void clear() {
  constexpr std::size_t most_named = 5;
  std::uint64_t used = 0;
  std::vector<std::string> named;
  for (const auto& each : own.inserted) {
    used += each->used_blocks();
    const auto more = each->describe_used(most_named - named.size());
    named.insert(named.end(), more.begin(), more.end());
  }
  base::require(
      used == 0, SYNCYTE_ERR_BUSY,
      "{} tensors or other blocks are still in this thread's slices of the shared cache, at offset {}{}; drop "
      "them first",
      used, fmt::join(named, ", "), used > named.size() ? ", ..." : "");
  if (!own.inserted.empty()) own.forget();
}

void* acquire(std::uint64_t bytes) { return serving == nullptr ? nullptr : serving->acquire(bytes); }

void release(void* data) {
  if (data == nullptr) return;
  if (serving != nullptr && serving->holds(data)) {
    serving->release(data);
    return;
  }
  auto found = find_slice(data);
  if (!found && list().is_childs) return;  // the parent's
  base::require(found != nullptr, SYNCYTE_ERR_ARGUMENT, "data is no pointer that cache_acquire() gave");
  if (found->release(data) == 0) remove_if_left_behind(*found);
}

}  // namespace syncyte::cache
