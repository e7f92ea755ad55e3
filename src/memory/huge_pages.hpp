// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace syncyte::memory {

/// Makes fresh, zeroed memory resident on the calling thread's NUMA node, in huge pages where they fit and are
/// available. The owner of the range calls it before any other process touches the range. Existing contents are kept.
/// Best effort: never fails. SYNCYTE_HUGE_PAGES=on|off (default on) chooses whether huge pages are requested.
void touch_and_collapse(std::byte* begin, std::size_t bytes);

/// Whether SYNCYTE_HUGE_PAGES is on.
bool huge_pages_wanted();

}  // namespace syncyte::memory
