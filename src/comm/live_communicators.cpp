#include "comm/live_communicators.hpp"

#include <pthread.h>

#include <mutex>
#include <unordered_set>

namespace syncyte::comm {
namespace {

struct live_table {
  std::mutex mutex;
  std::unordered_set<communicator*> all;
};

live_table& table() {
  static auto* const the_table = [] {
    auto* const made = new live_table;  // leaked: communicators may go with static objects
    const auto unlock = [] { table().mutex.unlock(); };
    // A child has no watchdog's thread that would unlock it.
    ::pthread_atfork([] { table().mutex.lock(); }, unlock, unlock);
    return made;
  }();
  return *the_table;
}

}  // namespace

void enter_live(communicator& comm) {
  const std::lock_guard lock(table().mutex);
  table().all.insert(&comm);
}

void leave_live(communicator& comm) noexcept {
  const std::lock_guard lock(table().mutex);
  table().all.erase(&comm);
}

void visit_live(const std::function<void(communicator&)>& visit) {
  const std::lock_guard lock(table().mutex);
  for (communicator* each : table().all) visit(*each);
}

}  // namespace syncyte::comm
