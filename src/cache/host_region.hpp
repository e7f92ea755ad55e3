// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cache/region_memory.hpp"

namespace syncyte::cache {

/// Regions in host memory: one memfd, with the header and the bytes of both parts.
std::unique_ptr<region_maker> host_maker();

/// Maps a region of another process. Throws SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_MEMORY.
std::unique_ptr<region_memory> attach_on_host(std::vector<memory::descriptor> files, const region_header& found);

}  // namespace syncyte::cache
