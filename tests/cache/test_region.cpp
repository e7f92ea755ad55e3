// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

#include "../memory/processes.hpp"
#include "../memory/status.hpp"
#include "cache/region.hpp"
#include "memory/capacity.hpp"
#include "memory/device.hpp"
#include "memory/huge_pages.hpp"
#include "region_files.hpp"
#include "watchdog/interrupts.hpp"

namespace {

using namespace syncyte;
using cache::region;
using test::contains;
using test::environment_scope;
using test::outcome;

constexpr std::uint64_t page = 4096;

std::vector<memory::descriptor> one_file(memory::descriptor file) {
  std::vector<memory::descriptor> files;
  files.push_back(std::move(file));
  return files;
}

TEST(cache_region, two_mappings_show_the_same_bytes) {
  const auto first = region::allocate({page + 1, 5});
  EXPECT_EQ(first->sizes().parameters, 2 * page);
  EXPECT_EQ(first->sizes().computation, page);
  const auto second = region::attach(test::files_of(*first));
  EXPECT_EQ(second->bytes(), 3 * page);
  EXPECT_EQ(second->inode(), first->inode());
  EXPECT_NE(second->data(), first->data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first->data()) % memory::huge_page_bytes, 0u);
  EXPECT_EQ(first->data()[3 * page - 1], std::byte{0});
  first->data()[3 * page - 1] = std::byte{7};
  EXPECT_EQ(second->data()[3 * page - 1], std::byte{7});
}

TEST(cache_region, default_sizes_fit_the_machine) {
  const auto made = region::allocate({});
  const auto defaults = region::default_sizes();
  EXPECT_LE(made->bytes(), memory::available_bytes() + page);
  EXPECT_LE(made->sizes().parameters, defaults.parameters);
  const double share = static_cast<double>(made->sizes().parameters) / static_cast<double>(made->bytes());
  EXPECT_NEAR(share, 1.0 / 2.0, 0.001);
}

TEST(cache_region, default_sizes_take_what_chosen_ones_leave) {
  const std::uint64_t most = memory::available_bytes() / 10 * 9;
  const auto made = region::allocate({most, 0});
  EXPECT_GE(made->sizes().parameters, most);
  EXPECT_LE(made->sizes().computation, memory::available_bytes() / 10 + (std::uint64_t{64} << 20));
}

TEST(cache_region, the_environment_chooses_sizes) {
  const environment_scope parameters("SYNCYTE_CACHE_PARAMETER_BYTES", "64K");
  const environment_scope computation("SYNCYTE_CACHE_COMPUTATION_BYTES", "1M");
  EXPECT_EQ(region::allocate({})->sizes().parameters, 64u << 10);
  EXPECT_EQ(region::allocate({page, 0})->sizes().parameters, page);
  EXPECT_EQ(region::allocate({page, 0})->sizes().computation, 1u << 20);
  const environment_scope wrong("SYNCYTE_CACHE_PARAMETER_BYTES", "many");
  const auto [status, text] = outcome([] { region::allocate({}); });
  EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(contains(text, "SYNCYTE_CACHE_PARAMETER_BYTES")) << text;
  const environment_scope huge("SYNCYTE_CACHE_PARAMETER_BYTES", "8000000000G");
  EXPECT_TRUE(contains(outcome([] { region::allocate({}); }).second, "SYNCYTE_CACHE_PARAMETER_BYTES is 8589934592"));
}

TEST(cache_region, touch_asks_for_interrupts) {
  const auto made = region::allocate({std::uint64_t{160} << 20, page});
  int calls = 0;
  watchdog::set_interrupt_function(
      [](void* seen) { return static_cast<std::int32_t>(++*static_cast<int*>(seen) == 3); }, &calls);
  const auto [status, text] = outcome([&] { made->touch(page, 150 << 20); });
  watchdog::set_interrupt_function(nullptr, nullptr);
  EXPECT_EQ(status, SYNCYTE_ERR_INTERRUPTED) << text;
  EXPECT_EQ(calls, 3);
}

TEST(cache_region, chosen_sizes_that_the_machine_has_not_are_an_error) {
  for (const std::uint64_t bytes : {memory::total_bytes() * 2, std::uint64_t{1} << 62, UINT64_MAX}) {
    const auto [status, text] = outcome([&] { region::allocate({bytes, page}); });
    EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
    EXPECT_TRUE(contains(text, "parameter_bytes")) << text;
    EXPECT_EQ(outcome([&] { region::allocate({0, bytes}); }).first, SYNCYTE_ERR_MEMORY);
  }
}

TEST(cache_region, touch_keeps_contents_and_its_range) {
  const auto made = region::allocate({8 << 20, page});
  made->data()[5] = std::byte{9};
  made->touch(0, static_cast<std::int64_t>(made->bytes()));
  EXPECT_EQ(made->data()[5], std::byte{9});
  unsigned char resident[1] = {};
  ASSERT_EQ(mincore(made->data() + (4 << 20), page, resident), 0);
  EXPECT_EQ(resident[0] & 1, 1);
  made->touch(static_cast<std::int64_t>(made->bytes()), 0);
  const auto [status, text] = outcome([&] { made->touch(page, static_cast<std::int64_t>(made->bytes())); });
  EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(contains(text, "size is")) << text;
  EXPECT_TRUE(contains(outcome([&] { made->touch(-1, 0); }).second, "offset is -1"));
}

TEST(cache_region, nobody_can_shrink_it) {
  const auto made = region::allocate({page, page});
  EXPECT_NE(ftruncate(made->files().front().number(), page), 0);
}

memory::descriptor sealed(std::uint64_t bytes, const void* content, std::size_t content_bytes) {
  memory::descriptor file = memory::open_memfd("not-a-cache");
  EXPECT_EQ(ftruncate(file.number(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(pwrite(file.number(), content, content_bytes, 0), static_cast<ssize_t>(content_bytes));
  memory::seal_size(file);
  return file;
}

TEST(cache_region, foreign_files_are_refused) {
  memory::descriptor unsealed = memory::open_memfd("not-a-cache");
  const auto expect = [](memory::descriptor file, syncyte_status_t status, const char* part) {
    const auto [found, text] = outcome([&] { region::attach(one_file(std::move(file))); });
    EXPECT_EQ(found, status) << text;
    EXPECT_TRUE(contains(text, part)) << text;
  };
  expect(std::move(unsealed), SYNCYTE_ERR_FORMAT, "not sealed");
  expect(memory::descriptor(open("/dev/null", O_RDWR | O_CLOEXEC)), SYNCYTE_ERR_FORMAT, "not sealed");
  expect(sealed(3, "abc", 3), SYNCYTE_ERR_FORMAT, "shorter than a header");
  char header[sizeof(cache::region_header)] = {};
  expect(sealed(page, header, sizeof(header)), SYNCYTE_ERR_FORMAT, "another header");

  const auto made = region::allocate({page, page});
  ASSERT_EQ(pread(made->files().front().number(), header, sizeof(header), 0), static_cast<ssize_t>(sizeof(header)));
  expect(sealed(page, header, sizeof(header)), SYNCYTE_ERR_FORMAT, "its size differs from the sizes in its header");
  cache::region_header unended{.version = cache::region_header::on_host, .sizes = {page, page}};
  unended.framework.fill('x');
  expect(unended.make_file(page), SYNCYTE_ERR_FORMAT, "its framework's name has no end");
  header[16] = 2;
  expect(sealed(page, header, sizeof(header)), SYNCYTE_ERR_VERSION, "layout 2; expected 3 or 4");
}

TEST(cache_region, a_process_without_devices_has_regions_on_the_host_only) {
  if (memory::cuda_backend().count() > 0) GTEST_SKIP() << "the machine has devices";
  const auto expect = [](const auto& work, const std::string& part) {
    const auto [status, text] = outcome(work);
    EXPECT_EQ(status, SYNCYTE_ERR_UNSUPPORTED) << text;
    EXPECT_TRUE(contains(text, part) && contains(text, memory::cuda_backend().why_none())) << text;
  };
  expect([] { region::allocate({page, page}, SYNCYTE_MEMORY_CUDA); }, "there is no CUDA device: ");
  const cache::region_header other{.version = cache::region_header::on_device, .sizes = {page, page}};
  expect([&] { region::attach(one_file(other.make_file(page))); },
         "the shared cache that was received is on GPU-00000000-0000-0000-0000-000000000000: ");
  EXPECT_EQ(outcome([] { region::allocate({page, page}, SYNCYTE_MEMORY_HOST, -2); }).first, SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(outcome([] { region::allocate({page, page}, 7); }).first, SYNCYTE_ERR_ARGUMENT);
}

}  // namespace
