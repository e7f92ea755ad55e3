// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cache/region_memory.hpp"

namespace syncyte::cache {

/// Regions in a device's memory: a memfd with the header, then the memory of each part.
/// Throws SYNCYTE_ERR_UNSUPPORTED if the device cannot share memory between processes.
std::unique_ptr<region_maker> device_maker(int device);

/// Maps a region of another process. Throws SYNCYTE_ERR_FORMAT; SYNCYTE_ERR_UNSUPPORTED if this process does not see
/// its device; SYNCYTE_ERR_MEMORY.
std::unique_ptr<region_memory> attach_on_device(std::vector<memory::descriptor> files, const region_header& found);

}  // namespace syncyte::cache
