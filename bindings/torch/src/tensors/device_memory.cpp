// torch.ops.syncyte.use_device_memory: whether MPI is given memory of devices.

#include "tensors/device_memory.hpp"

#include <c10/util/Exception.h>
#include <torch/library.h>

#include <atomic>

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

/// Values of the operator's argument.
enum class use : std::int64_t {
  never = 0,
  always = 1,
  where_mpi_says_so = 2,
  always_and_others = 3  ///< for tests: other devices too, whose memory is the host's
};

std::atomic<use> chosen{use::where_mpi_says_so};

/// Asked once: it does not change.
bool says_mpi() {
  static const bool result = [] {
    std::int32_t flag = 0;
    check(syncyte_mpi_takes(SYNCYTE_MEMORY_CUDA, &flag));
    return flag != 0;
  }();
  return result;
}

void choose(std::int64_t value) {
  TORCH_CHECK_VALUE(value >= 0 && value <= 3, "use is ", value, "; expected 0 to 3");
  chosen = static_cast<use>(value);
}

}  // namespace

bool mpi_takes(c10::DeviceType device) {
  const use now = chosen;
  if (device != c10::kCUDA) return now == use::always_and_others;
  return now == use::where_mpi_says_so ? says_mpi() : now != use::never;
}

}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("use_device_memory", syncyte::torch_binding::choose);
}
