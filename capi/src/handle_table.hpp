// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace syncyte::capi {

/// The last number that next_handle_number() returned. Lower ones belong to the world and self communicators.
/// Not 0, so that small integers and flags are never valid handles.
inline std::atomic<std::intptr_t> last_handle_number{0xC2};

/// A number that is unique among all handles of all types in this process, for its lifetime.
inline std::intptr_t next_handle_number() { return ++last_handle_number; }

/// Adds a tag to all later handle numbers: 29 bits of `job`, which differ between jobs. A handle in a graph that was
/// saved in another job then finds no object. Further calls do nothing.
inline void tag_handle_numbers(std::uint64_t job) {
  constexpr std::intptr_t tagged = std::intptr_t{1} << 61;
  const auto tag = static_cast<std::intptr_t>(job & ((std::uint64_t{1} << 29) - 1));
  std::intptr_t last = last_handle_number;
  while (last < tagged && !last_handle_number.compare_exchange_weak(last, tagged | tag << 32)) {
  }
}

/// Maps handles of one type to objects and reference counts. A handle is an integer id, passed as a pointer: it is
/// looked up and never dereferenced, so that a freed or foreign handle is an error and not a crash.
template <class Handle, class Object>
class handle_table {
 public:
  /// Each type has one table, which is never destroyed. It is locked while the process forks, because the child lacks
  /// the thread that would unlock it or complete a change. The child gets a new lock, because glibc's lock stores its
  /// writer's thread id, which differs in the child.
  explicit handle_table(const char* type_name) : type_name_(type_name) {
    the_only_one = this;
    ::pthread_atfork([] { the_only_one->mutex_.lock(); }, [] { the_only_one->mutex_.unlock(); },
                     [] { std::construct_at(&the_only_one->mutex_); });
  }

  Handle insert(std::shared_ptr<Object> object) { return insert_as(next_handle_number(), std::move(object)); }

  /// Adds a reference to the object, whose handles all have this number.
  Handle insert_as(std::intptr_t number, std::shared_ptr<Object> object) {
    const std::unique_lock lock(mutex_);
    ++entries_.try_emplace(number, entry{std::move(object), 0}).first->second.references;
    return reinterpret_cast<Handle>(number);
  }

  /// The object; throws SYNCYTE_ERR_HANDLE. `argument` is the parameter's name in messages.
  std::shared_ptr<Object> find(Handle handle, const char* argument) const {
    const std::shared_lock lock(mutex_);
    return at(entries_, handle, argument).object;
  }

  /// References that the handle has.
  std::int64_t references(Handle handle, const char* argument) const {
    const std::shared_lock lock(mutex_);
    return at(entries_, handle, argument).references;
  }

  /// All handles' numbers and objects.
  std::vector<std::pair<std::intptr_t, std::shared_ptr<Object>>> all() const {
    const std::shared_lock lock(mutex_);
    std::vector<std::pair<std::intptr_t, std::shared_ptr<Object>>> result;
    for (const auto& [number, each] : entries_) result.emplace_back(number, each.object);
    return result;
  }

  void retain(Handle handle, const char* argument) {
    const std::unique_lock lock(mutex_);
    ++at(entries_, handle, argument).references;
  }

  /// Drops a reference; the last one destroys the object, outside the lock.
  void release(Handle handle, const char* argument) {
    std::shared_ptr<Object> last;
    const std::unique_lock lock(mutex_);
    entry& found = at(entries_, handle, argument);
    if (--found.references > 0) return;
    last = std::move(found.object);
    entries_.erase(reinterpret_cast<std::intptr_t>(handle));
  }

  /// Releases the handle and sets it to null; a null handle is ignored.
  void destroy(Handle* handle, const char* argument) {
    base::expect(handle != nullptr, SYNCYTE_ERR_ARGUMENT, argument, "null", "the address of a handle");
    if (*handle == nullptr) return;
    release(*handle, argument);
    *handle = nullptr;
  }

 private:
  struct entry {
    std::shared_ptr<Object> object;
    std::int64_t references;
  };

  template <class Entries>
  auto& at(Entries& entries, Handle handle, const char* argument) const {
    base::expect(handle != nullptr, SYNCYTE_ERR_HANDLE, argument, "a null handle", "a {}", type_name_);
    const auto found = entries.find(reinterpret_cast<std::intptr_t>(handle));
    base::require(found != entries.end(), SYNCYTE_ERR_HANDLE, "{} is a handle that was freed, or not a {} of this job",
                  argument, type_name_);
    return found->second;
  }

  static inline handle_table* the_only_one = nullptr;

  const char* type_name_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::intptr_t, entry> entries_;
};

}  // namespace syncyte::capi
