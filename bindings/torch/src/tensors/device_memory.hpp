#pragma once

#include <c10/core/Device.h>

namespace syncyte::torch_binding {

/// Whether MPI may be given the memory of such a device: CUDA's where the library takes it, unless
/// torch.ops.syncyte.use_device_memory says otherwise.
bool mpi_takes(c10::DeviceType device);

}  // namespace syncyte::torch_binding
