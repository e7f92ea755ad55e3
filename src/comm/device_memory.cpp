// SPDX-License-Identifier: BSD-3-Clause
#include "comm/device_memory.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "comm/communicator.hpp"
#include "memory/mapping.hpp"
#include "mpi/small_collectives.hpp"
#include "topology/shared_descriptor.hpp"

namespace syncyte::comm {
namespace {

/// Bytes that a rank asks for, and the device that it uses.
struct demand {
  std::uint64_t bytes;
  std::uint64_t page_bytes;
  memory::device_id device;
};

/// Consecutive pages of a range that lie on one rank's device, in bytes.
struct page_run {
  std::size_t offset;
  std::size_t bytes;
};

/// The ranks' parts in pages of the largest of their sizes.
struct page_plan {
  std::vector<std::size_t> offsets{0};  // of the parts, and their end
  std::size_t page_bytes = 1;

  explicit page_plan(const std::vector<demand>& demands) {
    for (const demand& each : demands) {
      std::size_t end = 0;
      base::require(!__builtin_add_overflow(offsets.back(), each.bytes, &end) && end < (std::size_t{1} << 62),
                    SYNCYTE_ERR_MEMORY, "the node's ranks together ask for more than 2^62 bytes of device memory");
      offsets.push_back(end);
      page_bytes = std::max<std::size_t>(page_bytes, each.page_bytes);
    }
  }

  std::size_t bytes() const { return memory::round_up(offsets.back(), page_bytes); }
  /// The pages whose first byte belongs to a rank.
  page_run pages_of(std::size_t rank) const {
    const std::size_t begin = memory::round_up(offsets[rank], page_bytes);
    return {begin, memory::round_up(offsets[rank + 1], page_bytes) - begin};
  }
};

/// Throws if a device that this process sees is out of reach of one of its own. One that it does not see may be in
/// reach: mapping its memory shows that. `devices`: of the node's ranks.
void require_peers(int device, const std::vector<memory::device_id>& devices) {
  memory::device_system& system = memory::cuda_system();
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const int other = system.find(devices[rank]);
    base::require(other < 0 || system.is_peer(device, other), SYNCYTE_ERR_UNSUPPORTED,
                  "device {} ({}) cannot access the memory of {}, which rank {} of the node uses", device,
                  memory::text_of(system.id(device)), memory::text_of(devices[rank]), rank);
  }
}

/// 1 for each pair of ranks of which this process knows that atomic operations of the first one's device on the second
/// one's memory work. A process sees some of the devices.
std::vector<std::uint64_t> known_atomics(const std::vector<demand>& demands) {
  memory::device_system& system = memory::cuda_system();
  std::vector<int> numbers;
  for (const demand& each : demands) numbers.push_back(system.find(each.device));
  std::vector<std::uint64_t> result;
  for (std::size_t a = 0; a < numbers.size(); ++a)
    for (std::size_t b = 0; b < numbers.size(); ++b)
      result.push_back(demands[a].device == demands[b].device ||
                       (numbers[a] >= 0 && numbers[b] >= 0 && system.has_atomics(numbers[a], numbers[b])));
  return result;
}

/// Whether for each pair some rank knows that atomic operations work. Collective over the node.
bool agree_on_atomics(std::vector<std::uint64_t> known, MPI_Comm node) {
  mpi::allreduce(known, MPI_MAX, node);
  return std::ranges::find(known, 0u) == known.end();
}

}  // namespace

std::shared_ptr<device_memory> device_memory::allocate(collective_call& call, int device, std::size_t bytes,
                                                       const char* what) {
  memory::device_system& system = memory::cuda_system();
  const topology::node_group& node = call.comm().node();
  demand mine{bytes, 0, {}};
  call.attempt([&] {
    mine.page_bytes = system.page_bytes(device);
    mine.device = system.id(device);
  });
  call.agree();
  const std::vector<demand> demands = mpi::allgather(mine, node.comm);
  const auto place = static_cast<std::size_t>(node.rank);
  std::shared_ptr<device_memory> result(new device_memory);
  std::optional<page_plan> plan;
  std::vector<std::uint64_t> atomics;
  memory::descriptor file;
  call.attempt([&] {
    plan.emplace(demands);
    for (const demand& each : demands) result->devices_.push_back(each.device);
    require_peers(device, result->devices_);
    atomics = known_atomics(demands);
    result->device_ = device;
    result->local_offset_ = plan->offsets[place];
    if (plan->bytes() == 0) return;
    memory::explain(what, device, [&] {
      result->range_ = system.reserve(device, plan->bytes());
      result->data_ = result->range_->data();
      const page_run own = plan->pages_of(place);
      if (own.bytes == 0) return;
      file = result->range_->create(own.offset, own.bytes);
      result->use_.emplace(memory::device_use{mine.device, own.bytes, what});
    });
  });
  call.agree();
  result->has_atomics_ = agree_on_atomics(atomics, node.comm);
  // A rank's file is closed before the next one is given: a process has two at most.
  for (int owner = 0; owner < node.size; ++owner) {
    topology::descriptor_attempt given = topology::share_descriptor(node.comm, owner, file);
    call.attempt([&] {
      if (given.error) throw *given.error;
      if (!given.file) return;
      const page_run pages = plan->pages_of(static_cast<std::size_t>(owner));
      const std::string step = fmt::format("{}: mapping the memory of {}, which rank {} of the node uses, for {}", what,
                                           memory::text_of(result->devices_[static_cast<std::size_t>(owner)]), owner,
                                           memory::text_of(mine.device));
      memory::explain(step, device, [&] { result->range_->map(pages.offset, pages.bytes, given.file); });
    });
  }
  call.agree();
  return result;
}

std::shared_ptr<device_memory> device_memory::wrap(int device, std::byte* data) {
  std::shared_ptr<device_memory> result(new device_memory);
  result->device_ = device;
  result->data_ = data;
  result->has_atomics_ = true;
  return result;
}

void device_memory::allow(int device) const {
  if (device == device_ || data_ == nullptr) return;
  base::require(range_ != nullptr, SYNCYTE_ERR_UNSUPPORTED,
                "device {} may not access the wrapped memory of device {}; expected a tensor with memory of its own",
                device, device_);
  require_peers(device, devices_);
  range_->allow(device);
}

}  // namespace syncyte::comm
