// SPDX-License-Identifier: BSD-3-Clause
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <syncyte/syncyte.hpp>

#include "expect.hpp"

namespace {

using syncyte::test::expect_error;

constexpr std::int64_t unit = 512;

TEST(cache, allocates_blocks_in_the_slice) {
  const syncyte::cache shared(syncyte::cache_sizes{8 * unit, 16 * unit});
  EXPECT_EQ(shared.sizes().parameter_bytes, 8 * unit);
  EXPECT_EQ(shared.data().size(), static_cast<std::size_t>(24 * unit));
  EXPECT_EQ(syncyte::cache::allocate(1), nullptr) << "no slice is inserted";
  shared.insert(8 * unit, 16 * unit);
  void* const block = syncyte::cache::allocate(100);
  EXPECT_EQ(block, shared.data().data() + 8 * unit);
  EXPECT_TRUE(syncyte::cache::holds(block));
  EXPECT_FALSE(syncyte::cache::holds(&unit));
  expect_error(syncyte::status::busy, {"4096"}, [] { syncyte::cache::clear(); });
  syncyte::cache::free(block);
  syncyte::cache::clear();
  shared.touch(0, 24 * unit);
  expect_error(syncyte::status::argument, {"offset"}, [&] { shared.insert(1, unit); });
}

TEST(cache, is_for_the_framework_that_it_was_made_for) {
  const syncyte::cache shared(
      syncyte::cache_sizes{.parameter_bytes = unit, .computation_bytes = unit, .framework = "torch 2.15.0"});
  shared.check_framework("torch 2.15.0");
  expect_error(syncyte::status::version, {"torch 2.15.0", "torch 2.6.0"},
               [&] { shared.check_framework("torch 2.6.0"); });
}

TEST(cache, passes_between_processes) {
  std::string folder = "cxx-cache-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const syncyte::cache_rendezvous where{.name = "cxx", .folder = folder, .nonce = {1, 2}};
  const pid_t child = fork();
  if (child == 0) {
    try {
      const syncyte::cache received = syncyte::cache::receive(where);
      std::ranges::fill(received.data().first(unit), std::byte{7});
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  const syncyte::cache shared(syncyte::cache_sizes{unit, unit});
  shared.send(where);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shared.data()[unit - 1], std::byte{7});
  expect_error(syncyte::status::timeout, {"cxx"}, [&] {
    syncyte::cache_rendezvous soon = where;
    soon.timeout = 0.1;
    shared.send(soon);
  });
  std::filesystem::remove_all(folder);
}

}  // namespace
