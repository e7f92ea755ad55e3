// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "memory/capacity.hpp"
#include "status.hpp"

namespace {

using namespace syncyte;
namespace fs = std::filesystem;

/// A folder with made-up /proc and /sys.
class capacity_tree : public testing::Test {
 protected:
  capacity_tree() : root_(fs::temp_directory_path() / ("capacity-" + std::to_string(getpid()))) {
    write("proc/meminfo", "MemTotal:  16000 kB\nMemFree:  1000 kB\nMemAvailable:   10000 kB\n");
  }
  ~capacity_tree() override { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  memory::capacity available() { return memory::available(root_); }

  fs::path root_;
};

TEST_F(capacity_tree, without_groups_it_is_what_the_machine_has) {
  EXPECT_EQ(available().bytes, 10000u * 1024);
  EXPECT_TRUE(test::contains(available().limit, "MemAvailable"));
  EXPECT_EQ(memory::total_bytes(root_), 16000u * 1024);
}

TEST_F(capacity_tree, without_anything_it_is_unlimited) {
  fs::remove(root_ / "proc/meminfo");
  EXPECT_EQ(available().bytes, std::numeric_limits<std::uint64_t>::max());
}

TEST_F(capacity_tree, version_2_counts_every_ancestor) {
  write("proc/self/cgroup", "0::/job/step/task\n");
  write("sys/fs/cgroup/job/step/task/memory.max", "max\n");
  write("sys/fs/cgroup/job/step/task/memory.current", "1000\n");
  write("sys/fs/cgroup/job/step/memory.max", "9000000\n");
  write("sys/fs/cgroup/job/step/memory.current", "1000000\n");
  EXPECT_EQ(available().bytes, 8000000u);
  write("sys/fs/cgroup/job/memory.max", "5000000\n");
  write("sys/fs/cgroup/job/memory.current", "2000000\n");
  EXPECT_EQ(available().bytes, 3000000u);
  EXPECT_TRUE(test::contains(available().limit, "job/memory.max")) << available().limit;
  EXPECT_EQ(memory::total_bytes(root_), 5000000u);
}

TEST_F(capacity_tree, page_cache_of_a_group_counts_as_free) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "5000000\n");
  write("sys/fs/cgroup/job/memory.current", "4000000\n");
  write("sys/fs/cgroup/job/memory.stat", "anon 1000000\nfile 3000000\ninactive_file 1500000\nactive_file 500000\n");
  EXPECT_EQ(available().bytes, 3000000u);
}

TEST_F(capacity_tree, a_group_that_is_full_leaves_nothing) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "5000000\n");
  write("sys/fs/cgroup/job/memory.current", "5100000\n");
  EXPECT_EQ(available().bytes, 0u);
}

TEST_F(capacity_tree, a_container_sees_its_group_at_the_mount) {
  write("proc/self/cgroup", "0::/system.slice/container-of-the-host\n");
  write("sys/fs/cgroup/memory.max", "7000000\n");
  write("sys/fs/cgroup/memory.current", "500000\n");
  EXPECT_EQ(available().bytes, 6500000u);
}

TEST_F(capacity_tree, processes_of_one_group_know_that_it_is_the_same) {
  EXPECT_EQ(available().group, 0u);  // the machine's memory limits
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/memory.max", "5000000\n");
  write("sys/fs/cgroup/job/step/memory.current", "0\n");
  const auto of_job = available().group;
  EXPECT_NE(of_job, 0u);
  write("proc/self/cgroup", "0::/job/other\n");  // another member of the group that limits
  EXPECT_EQ(available().group, of_job);
  write("sys/fs/cgroup/job/other/memory.max", "400000\n");
  EXPECT_NE(available().group, of_job);
  EXPECT_EQ(memory::machine_available(root_).bytes, 10000u * 1024);
}

TEST_F(capacity_tree, version_1_counts_its_memory_controller) {
  write("proc/self/cgroup", "12:pids:/job\n9:cpu,memory:/job/task\n1:name=systemd:/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "123456789\n");
  EXPECT_EQ(available().bytes, 10000u * 1024);
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4000000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3000000\n");
  write("sys/fs/cgroup/memory/job/memory.stat", "active_file 1\ntotal_inactive_file 200000\ntotal_active_file 50000\n");
  EXPECT_EQ(available().bytes, 1250000u);
}

TEST_F(capacity_tree, version_2_beside_version_1) {
  write("proc/self/cgroup", "4:memory:/\n0::/job\n");
  write("sys/fs/cgroup/unified/job/memory.max", "2000000\n");
  write("sys/fs/cgroup/unified/job/memory.current", "500000\n");
  EXPECT_EQ(available().bytes, 1500000u);
}

TEST_F(capacity_tree, damaged_files_are_passed_over) {
  write("proc/self/cgroup", "nonsense\n0::/job\n:\n");
  write("sys/fs/cgroup/job/memory.max", "");
  write("proc/meminfo", "MemAvailable\n\nMemAvailable: lots kB\n");
  EXPECT_EQ(available().bytes, std::numeric_limits<std::uint64_t>::max());
}

TEST_F(capacity_tree, a_refusal_says_what_was_wanted_and_what_there_is) {
  memory::require_available(10000 * 1024, "a tensor", root_);
  const auto [status, message] = test::outcome([&] { memory::require_available(10000 * 1024 + 1, "a tensor", root_); });
  EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
  for (const char* part : {"a tensor", "10240001", "10240000", "MemAvailable"})
    EXPECT_TRUE(test::contains(message, part)) << message;
}

TEST(capacity, of_this_machine_is_plausible) {
  EXPECT_GT(memory::available_bytes(), 1u << 20);
  EXPECT_GE(memory::total_bytes(), memory::available_bytes());
}

}  // namespace
