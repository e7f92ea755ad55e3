// SPDX-License-Identifier: BSD-3-Clause
#include "memory/huge_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/environment.hpp"
#include "memory/mapping.hpp"

#ifndef MADV_COLLAPSE  // Linux 6.1
#define MADV_COLLAPSE 25
#endif

namespace syncyte::memory {

namespace {

std::byte* align_down(std::byte* place, std::size_t unit) {
  return place - reinterpret_cast<std::uintptr_t>(place) % unit;
}

std::byte* align_up(std::byte* place, std::size_t unit) { return align_down(place + unit - 1, unit); }

/// Makes every page of the range resident. It adds zero atomically, so other processes may write there meanwhile.
void touch(std::byte* begin, std::byte* end) {
  const std::size_t page = small_page_bytes();
  for (std::byte* place = begin; place < end; place = align_down(place, page) + page)
    std::atomic_ref(*reinterpret_cast<std::uint8_t*>(place)).fetch_add(0, std::memory_order_relaxed);
}

/// Bytes collapsed by one call. Each call drains the processors' page lists, so a batch holds many huge pages; the
/// range is split so that a machine without free huge pages is detected early.
constexpr std::ptrdiff_t batch_bytes = 32 * static_cast<std::ptrdiff_t>(huge_page_bytes);

}  // namespace

bool huge_pages_wanted() { return base::environment_choice(base::settings::huge_pages) == base::settings::toggle::on; }

void touch_and_collapse(std::byte* begin, std::size_t bytes) {
  std::byte* const end = begin + bytes;
  std::byte* const first = align_up(begin, huge_page_bytes);
  std::byte* const last = align_down(end, huge_page_bytes);
  const bool collapses = huge_pages_wanted() && first < last;
  if (!collapses) return touch(begin, end);
  madvise(first, static_cast<std::size_t>(last - first), MADV_HUGEPAGE);
  touch(begin, first);
  bool works = true;
  for (std::byte* place = first; place < last; place += std::min(batch_bytes, last - place)) {
    std::byte* const stop = place + std::min(batch_bytes, last - place);
    // One touched page per huge page is enough: collapsing fills in the others without page faults.
    for (std::byte* huge = place; works && huge < stop; huge += huge_page_bytes) touch(huge, huge + 1);
    works = works && madvise(place, static_cast<std::size_t>(stop - place), MADV_COLLAPSE) == 0;
    if (!works) touch(place, stop);
  }
  touch(std::max(last, begin), end);
}

}  // namespace syncyte::memory
