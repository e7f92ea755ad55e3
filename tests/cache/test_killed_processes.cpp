// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <string>

#include "../memory/processes.hpp"
#include "../memory/status.hpp"
#include "cache/heap.hpp"
#include "cache/rendezvous.hpp"
#include "cache/slices.hpp"
#include "region_files.hpp"

namespace {

using namespace syncyte;
using cache::region;
using test::outcome;
namespace fs = std::filesystem;

constexpr std::int64_t unit = cache::heap::unit;

/// Counters in shared memory: each process counts its rounds, which shows that it still works.
struct progress {
  std::atomic<std::int64_t> rounds[3];
  std::atomic<bool> stop;
};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

/// True if /dev/shm has new names of Syncyte that stay. Jobs that run at the same time have names of MPI and UCX there,
/// and names of Syncyte for a moment.
bool has_new_names(const std::set<std::string>& before) {
  std::set<std::string> added;
  for (const auto& name : names_in("/dev/shm"))
    if (!before.contains(name) && name.find("syncyte") != std::string::npos) added.insert(name);
  for (int look = 0; look < 500 && !added.empty(); ++look) {
    usleep(10000);
    const auto now = names_in("/dev/shm");
    std::erase_if(added, [&](const auto& name) { return !now.contains(name); });
  }
  return !added.empty();
}

/// A controller with two workers, as in PipeSwitch. The controller sends its region to both workers. Then each process
/// inserts its own slice, writes it, checks it and clears, again and again.
class cache_processes : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "cache-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    void* const shared = mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    progress_ = new (shared) progress{};
  }
  void TearDown() override {
    munmap(progress_, sizeof(progress));
    fs::remove_all(folder_);
  }

  cache::rendezvous place(double seconds = 20) const {
    return {.name = "", .folder = folder_.string(), .nonce = {}, .seconds = seconds};
  }

  int work(const std::shared_ptr<region>& from, int number) const {
    while (!progress_->stop) {
      insert(from, number * 8 * unit, 8 * unit);
      const auto value = static_cast<int>(progress_->rounds[number] % 251);
      auto* const block = static_cast<unsigned char*>(cache::acquire(4 * unit));
      std::memset(block, value, 4 * unit);
      for (int each = 0; each < 4 * unit; ++each)
        if (block[each] != value) return 1;
      cache::release(block);
      cache::clear();
      ++progress_->rounds[number];
    }
    return 0;
  }

  pid_t start_controller() const {
    return test::start_process([this] {
      const auto made = region::allocate({32 * unit, 32 * unit});
      for (int each = 0; each < 2; ++each)
        if (outcome([&] { send(made->files(), place(1)); }).first == SYNCYTE_ERR_BUSY) return 2;  // a timeout is fine
      return work(made, 0);
    });
  }

  pid_t start_worker(int number) const {
    return test::start_process([this, number] {
      std::shared_ptr<region> received;
      const auto [status, text] = outcome([&] { received = region::attach(receive(place(1.5))); });
      return status == SYNCYTE_ERR_TIMEOUT ? 0 : status != SYNCYTE_SUCCESS ? 3 : work(received, number);
    });
  }

  fs::path folder_;
  progress* progress_ = nullptr;
};

TEST_F(cache_processes, the_others_go_on_when_one_is_killed) {
  const auto before = names_in("/dev/shm");
  std::mt19937 random(11);
  int working = 0;
  for (int round = 0; round < 30; ++round) {
    progress_->stop = false;
    pid_t processes[3] = {start_controller(), start_worker(1), start_worker(2)};
    usleep(random() % 30000);
    const int victim = static_cast<int>(random() % 3);
    kill(processes[victim], SIGKILL);
    EXPECT_EQ(test::wait_process(processes[victim]), -SIGKILL);
    // Processes that have the region continue. A worker whose controller died before it sent the region gets a timeout.
    for (int each = 0; each < 3; ++each) {
      const std::int64_t seen = progress_->rounds[each];
      if (each == victim || seen == 0) continue;
      ++working;
      for (int look = 0; look < 5000 && progress_->rounds[each] == seen; ++look) usleep(1000);
      EXPECT_GT(progress_->rounds[each], seen) << "process " << each << ", round " << round;
    }
    progress_->stop = true;
    for (int each = 0; each < 3; ++each) {
      if (each == victim) continue;
      EXPECT_EQ(test::wait_process(processes[each]), 0) << "process " << each << ", round " << round;
    }
    for (auto& each : progress_->rounds) each = 0;
  }
  EXPECT_GE(working, 10);  // of at most 60; the others had no region yet
  EXPECT_FALSE(has_new_names(before));
  // After the next start the folder is empty.
  progress_->stop = true;
  pid_t next[3] = {start_controller(), start_worker(1), start_worker(2)};
  for (const pid_t each : next) EXPECT_EQ(test::wait_process(each), 0);
  EXPECT_TRUE(names_in(folder_).empty());
}

TEST_F(cache_processes, cycles_leave_no_page_and_no_descriptor) {
  const auto made = region::allocate({64 * unit, 64 * unit});
  const auto cycle = [&] {
    insert(made, 0, 64 * unit);
    void* blocks[8];
    for (void*& each : blocks) each = cache::acquire(3 * unit);
    for (void* const each : blocks) cache::release(each);
    cache::clear();
    region::attach(test::files_of(*made));
  };
  const auto descriptors = [] { return names_in("/proc/self/fd").size(); };
  const auto mapped = [] {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    long pages = -1;
    EXPECT_EQ(std::fscanf(file, "%ld", &pages), 1);
    std::fclose(file);
    return pages;
  };
  for (int round = 0; round < 10; ++round) cycle();
  const auto open_before = descriptors();
  const auto mapped_before = mapped();
  for (int round = 0; round < 1000; ++round) cycle();
  EXPECT_EQ(descriptors(), open_before);
  EXPECT_EQ(mapped(), mapped_before);
}

}  // namespace
