// SPDX-License-Identifier: BSD-3-Clause
#include "memory/device_uses.hpp"

#include <pthread.h>

#include <mutex>
#include <utility>

namespace syncyte::memory {
namespace {

struct use_list {
  std::mutex mutex;
  std::list<device_use> uses;
};

use_list& all() {
  static use_list* const list = [] {
    constexpr auto unlock = [] { all().mutex.unlock(); };
    ::pthread_atfork([] { all().mutex.lock(); }, unlock, unlock);  // a child lacks the thread that holds the lock
    return new use_list;                                           // leaked: objects may live until the process' end
  }();
  return *list;
}

}  // namespace

listed_use::listed_use(device_use use) {
  const std::lock_guard lock(all().mutex);
  place_ = all().uses.insert(all().uses.end(), std::move(use));
}

listed_use::~listed_use() {
  const std::lock_guard lock(all().mutex);
  all().uses.erase(place_);
}

std::vector<device_use> device_uses() {
  const std::lock_guard lock(all().mutex);
  return {all().uses.begin(), all().uses.end()};
}

}  // namespace syncyte::memory
