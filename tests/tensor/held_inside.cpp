// The last rank never releases one of the locks that operations hold for a moment. The others wait for it until the
// watchdog ends the job.

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "atomics/lock_table.hpp"
#include "collectives/collectives.hpp"
#include "comm/node_memory.hpp"
#include "lifecycle/lifecycle.hpp"
#include "runtime/roots.hpp"
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
