// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/memory_kinds.hpp"

#include <atomic>
#include <cstdint>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "memory/device.hpp"
#include "mpi/small_collectives.hpp"

// An extension of MPI, declared in no standard header; null if the MPI library has none.
extern "C" [[gnu::weak]] int MPIX_Query_cuda_support();

namespace syncyte::mpi {
namespace {

bool mpi_takes_cuda() { return MPIX_Query_cuda_support != nullptr && MPIX_Query_cuda_support() == 1; }

bool is_cuda_aware() {
  static const bool result = [] {
    const auto choice = base::environment_choice(base::settings::cuda_aware);
    return choice ? *choice == base::settings::toggle::on : mpi_takes_cuda();
  }();
  return result;
}

bool takes_cuda() { return is_cuda_aware() && memory::cuda_backend().count() > 0; }

std::atomic<bool> any_rank_takes_devices{false};

}  // namespace

bool takes(syncyte_memory_t memory) {
  memory::backend_of(memory);  // throws for an unknown kind
  return memory == SYNCYTE_MEMORY_HOST || takes_cuda();
}

void agree_on_device_memory(MPI_Comm world) {
  any_rank_takes_devices = allreduce(static_cast<std::uint32_t>(is_cuda_aware()), MPI_MAX, world) != 0;
}

bool job_takes_device_memory() { return any_rank_takes_devices.load(std::memory_order_relaxed); }

const base::buffer& require_taken(const base::buffer& buffer) {
  if (buffer.memory() == SYNCYTE_MEMORY_HOST) return buffer;
  memory::require_device(buffer.memory(), buffer.device());
  base::require(takes(buffer.memory()), SYNCYTE_ERR_UNSUPPORTED,
                "{}: the MPI library does not take memory of CUDA devices; copy it to host memory first (or set "
                "SYNCYTE_CUDA_AWARE=on where the library does, but cannot be asked)",
                buffer.argument());
  return buffer;
}

}  // namespace syncyte::mpi
