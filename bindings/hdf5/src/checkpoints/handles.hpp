#pragma once

#include <memory>

#include "checkpoints/checkpoint.hpp"

namespace syncyte::hdf5 {

/// Handles of open checkpoints. Their numbers are never re-used, so that a closed handle is an error and not another
/// file. Thread-safe.
syncyte_checkpoint_t register_handle(std::shared_ptr<checkpoint> opened);
/// @throws error SYNCYTE_ERR_HANDLE
std::shared_ptr<checkpoint> lookup_handle(syncyte_checkpoint_t handle);
/// @throws error SYNCYTE_ERR_HANDLE
void forget_handle(syncyte_checkpoint_t handle);

}  // namespace syncyte::hdf5
