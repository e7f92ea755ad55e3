// SPDX-License-Identifier: BSD-3-Clause
// The last rank never releases one of the locks that operations hold for a moment, or its process is stopped and does
// not answer an access. The others wait for it until the watchdog ends the job.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "access/started.hpp"
#include "atomics/lock_table.hpp"
#include "collectives/collectives.hpp"
#include "comm/node_memory.hpp"
#include "lifecycle/lifecycle.hpp"
#include "runtime/roots.hpp"
#include "tensor/box_operations.hpp"
#include "tensor/counter_operations.hpp"
#include "window/part_header.hpp"
#include "window/remote_mutex.hpp"

namespace {

using namespace syncyte;

/// The last rank takes the lock first.
template <class Take>
void hold_and_wait(comm::communicator& world, Take&& take) {
  const bool is_last = world.rank() == world.size() - 1;
  if (is_last) take();
  collectives::barrier(world);
  if (!is_last) take();
  std::this_thread::sleep_for(std::chrono::seconds(25));
}

/// The others access until one access finds the last rank stopped.
template <class Access>
void stop_and_access(comm::communicator& world, Access&& access) {
  const bool is_last = world.rank() == world.size() - 1;
  collectives::barrier(world);
  while (!is_last) access();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the others have left the barrier
  if (std::system("kill -STOP $PPID; sleep 20; kill -CONT $PPID") != 0) std::perror("kill");
}

int access_tensor(const std::shared_ptr<comm::communicator>& world, bool is_box) {
  const std::int64_t extent = world->size(), last = extent - 1, count = 1;
  const auto numbers = tensor::whole_tensor::create(world, SYNCYTE_INT64, 1, &extent, {});
  std::int64_t one = 1;
  const syncyte_buffer_t source = base::make_buffer(&one, SYNCYTE_INT64, {&count, 1});
  const base::array_argument<std::int64_t> lower{&last, 1};
  stop_and_access(*world, [&] {
    if (is_box)
      access::run<tensor::accumulate_box>(*numbers, lower, &source, nullptr, SYNCYTE_OP_MAX);
    else
      access::run<tensor::fetch_add>(*numbers, last, one, nullptr);
  });
  return 1;
}

std::shared_ptr<comm::node_memory> locks_memory(comm::communicator& world) {
  comm::collective_call call(world, "test", comm::collective_call::always_agrees);
  call.agree();
  return comm::node_memory::allocate(call, 1 << 16, "locks");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  lifecycle::start(3);
  const auto world = runtime::world();
  if (which == "box" || which == "counter") return access_tensor(world, which == "box");
  if (which == "mutex") {
    window::remote_mutex mutex(*world);
    mutex.create();
    hold_and_wait(*world, [&] { mutex.lock(0); });
    return 0;
  }
  const auto memory = locks_memory(*world);
  std::byte* const first = memory->part(0).data();
  const auto is_alive = [](int) { return true; };
  atomics::lock_table rows({reinterpret_cast<std::uint64_t*>(first), 8}, world->node().rank, is_alive, "parameters");
  if (which == "row") hold_and_wait(*world, [&] { rows.lock(3); });
  if (which == "element")
    hold_and_wait(*world, [&] {
      window::element_locks(*reinterpret_cast<window::part_header*>(first), world->node(), "parts").lock(0);
    });
  return 1;
}
