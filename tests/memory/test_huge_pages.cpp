// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "memory/huge_pages.hpp"
#include "memory/mapping.hpp"
#include "memory/shared_segment.hpp"
#include "processes.hpp"

namespace {

using namespace syncyte;
using memory::huge_page_bytes;
using memory::segment;
using memory::sharing;

/// Whether every page of the range is resident.
bool is_resident(std::byte* begin, std::size_t bytes) {
  const std::size_t page = memory::small_page_bytes();
  std::byte* const first = begin - reinterpret_cast<std::uintptr_t>(begin) % page;
  const auto length = static_cast<std::size_t>(begin + bytes - first);
  std::vector<unsigned char> pages((length + page - 1) / page);
  if (mincore(first, length, pages.data()) != 0) return false;
  for (const unsigned char state : pages)
    if ((state & 1u) == 0) return false;
  return true;
}

/// Kilobytes of a mapping that are in huge pages of shared memory.
long huge_kilobytes(const std::byte* begin) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(begin);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0, last = 0;
    if (sscanf(line.c_str(), "%lx-%lx ", &first, &last) == 2) inside = first <= wanted && wanted < last;
    if (inside && line.starts_with("ShmemPmdMapped:")) return std::stol(line.substr(15));
  }
  return -1;
}

TEST(touch_and_collapse, makes_all_pages_resident_and_keeps_contents) {
  for (const char* variable : {"on", "off"}) {
    const test::environment_scope scope("SYNCYTE_HUGE_PAGES", variable);
    const segment memory = segment::create(4 * huge_page_bytes + 12345, sharing::proc);
    memory.data()[huge_page_bytes + 17] = std::byte{42};
    std::byte* const begin = memory.data() + 1000;  // not aligned
    const std::size_t bytes = memory.size() - 1000;
    EXPECT_FALSE(is_resident(begin, bytes));
    memory::touch_and_collapse(begin, bytes);
    EXPECT_TRUE(is_resident(begin, bytes)) << variable;
    EXPECT_EQ(memory.data()[huge_page_bytes + 17], std::byte{42});
    EXPECT_EQ(memory.data()[huge_page_bytes + 18], std::byte{0});
  }
}

TEST(touch_and_collapse, touches_only_its_range) {
  const segment memory = segment::create(64 * 4096, sharing::proc);
  memory::touch_and_collapse(memory.data() + 8 * 4096, 8 * 4096);
  EXPECT_FALSE(is_resident(memory.data(), 4096));
  EXPECT_TRUE(is_resident(memory.data() + 8 * 4096, 8 * 4096));
  EXPECT_FALSE(is_resident(memory.data() + 32 * 4096, 4096));
}

TEST(touch_and_collapse, takes_empty_and_tiny_ranges) {
  const segment memory = segment::create(4096, sharing::proc);
  memory::touch_and_collapse(memory.data(), 0);
  memory::touch_and_collapse(nullptr, 0);
  memory::touch_and_collapse(memory.data() + 100, 1);
  EXPECT_TRUE(is_resident(memory.data(), 4096));
}

TEST(touch_and_collapse, gives_huge_pages_where_the_kernel_has_them) {
  const segment probe = segment::create(huge_page_bytes, sharing::proc);
  probe.data()[0] = std::byte{1};
  if (madvise(probe.data(), huge_page_bytes, 25) != 0) GTEST_SKIP() << "this kernel does not collapse pages";
  const segment memory = segment::create(8 * huge_page_bytes, sharing::proc);
  memory::touch_and_collapse(memory.data(), memory.size());
  EXPECT_GE(huge_kilobytes(memory.data()), 4 * 2048) << "most of the eight huge pages";
  const test::environment_scope scope("SYNCYTE_HUGE_PAGES", "off");
  const segment small = segment::create(8 * huge_page_bytes, sharing::proc);
  memory::touch_and_collapse(small.data(), small.size());
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string text;
  std::getline(setting, text);
  if (text.find("[always]") == std::string::npos) {
    EXPECT_EQ(huge_kilobytes(small.data()), 0);
  }
}

TEST(touch_and_collapse, loses_no_store_of_others) {
  const segment memory = segment::create(8 * huge_page_bytes, sharing::proc);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&, writer] {
      for (std::size_t place = static_cast<std::size_t>(writer); place < memory.size(); place += 2048)
        memory.data()[place] = static_cast<std::byte>(place / 2048 % 251 + 1);
    });
  }
  memory::touch_and_collapse(memory.data(), memory.size());
  for (auto& writer : writers) writer.join();
  for (std::size_t place = 0; place < memory.size(); place += 2048)
    ASSERT_EQ(memory.data()[place], static_cast<std::byte>(place / 2048 % 251 + 1)) << place;
}

}  // namespace
