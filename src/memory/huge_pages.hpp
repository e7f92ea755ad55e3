#pragma once

#include <cstddef>

namespace syncyte::memory {

/// Makes fresh, zeroed memory resident near the calling thread, in huge pages where they fit and can be had. To be
/// called by the owner of the range before anybody else touches it. What is there already keeps its contents. Best
/// effort: never fails. SYNCYTE_HUGE_PAGES=on|off (default on) chooses whether huge pages are asked for.
void touch_and_collapse(std::byte* begin, std::size_t bytes);

/// Whether SYNCYTE_HUGE_PAGES lets us ask for huge pages.
bool huge_pages_wanted();

}  // namespace syncyte::memory
