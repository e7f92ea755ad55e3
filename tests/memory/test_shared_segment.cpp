// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "memory/shared_segment.hpp"
#include "processes.hpp"
#include "status.hpp"

namespace {

using namespace syncyte;
using memory::segment;
using memory::sharing;
using std::chrono::milliseconds;
using test::run_process;
using test::start_process;
using test::wait_process;

constexpr std::size_t megabyte = 1 << 20;

/// Syncyte's names in a folder in which segments may leave files.
std::set<std::string> our_names(const std::filesystem::path& folder) {
  std::set<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("syncyte-")) result.insert(name);
  }
  return result;
}

unsigned char at(const segment& memory, std::size_t place) { return static_cast<unsigned char>(memory.data()[place]); }

class shared_segment : public testing::TestWithParam<sharing> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("segment-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
    scope_.emplace("TMPDIR", folder_.c_str());
    shm_before_ = our_names("/dev/shm");
  }
  void TearDown() override {
    EXPECT_EQ(new_in_shm(), std::set<std::string>{});
    EXPECT_TRUE(our_names(folder_).empty());
    std::filesystem::remove_all(folder_);
  }

  /// Names in /dev/shm that are new and stay. Those of tests that run at the same time disappear after a moment.
  std::set<std::string> new_in_shm() const {
    std::set<std::string> added;
    for (int look = 0; look < 100; ++look) {
      added = our_names("/dev/shm");
      std::erase_if(added, [&](const auto& name) { return shm_before_.contains(name); });
      if (added.empty()) break;
      usleep(10000);
    }
    return added;
  }

  std::filesystem::path folder_;
  std::optional<test::environment_scope> scope_;
  std::set<std::string> shm_before_;
};

TEST_P(shared_segment, starts_zeroed_and_aligned_to_huge_pages) {
  const segment memory = segment::create(3 * megabyte + 5, GetParam());
  EXPECT_EQ(memory.size(), 3 * megabyte + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % (2 * megabyte), 0u);
  EXPECT_TRUE(std::all_of(memory.data(), memory.data() + memory.size(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST_P(shared_segment, carries_stores_both_ways) {
  segment leader = segment::create(5 * megabyte, GetParam());
  const memory::ticket ticket = leader.ticket();
  leader.data()[0] = std::byte{11};
  leader.data()[5 * megabyte - 1] = std::byte{22};
  const pid_t other = start_process([&] {
    const segment mine = segment::attach(ticket);
    const bool seen = at(mine, 0) == 11 && at(mine, 5 * megabyte - 1) == 22;
    mine.data()[megabyte] = std::byte{33};
    const bool aligned = reinterpret_cast<std::uintptr_t>(mine.data()) % (2 * megabyte) == 0;
    return seen && aligned && mine.size() == 5 * megabyte ? 0 : 1;
  });
  EXPECT_EQ(leader.serve(1, milliseconds(10000)), 1);
  EXPECT_EQ(wait_process(other), 0);
  leader.finish();
  EXPECT_EQ(at(leader, megabyte), 33);
}

TEST_P(shared_segment, serves_several_processes) {
  segment leader = segment::create(4096, GetParam());
  std::vector<pid_t> others;
  for (int place = 1; place <= 4; ++place) {
    others.push_back(start_process([&] {
      const segment mine = segment::attach(leader.ticket());
      mine.data()[place] = static_cast<std::byte>(place);
      return 0;
    }));
  }
  EXPECT_EQ(leader.serve(4, milliseconds(10000)), 4);
  for (const pid_t other : others) EXPECT_EQ(wait_process(other), 0);
  leader.finish();
  for (std::size_t place = 1; place <= 4; ++place) EXPECT_EQ(at(leader, place), place);
}

/// The kernel ends the process in the middle of the creation; TearDown looks for names.
TEST_P(shared_segment, leaves_nothing_when_its_leader_is_killed_while_it_makes_it) {
  const int code = run_process([] {
    const rlimit limit{megabyte, megabyte};
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 && segment::create(8 * megabyte, GetParam()) ? 0 : 1;
  });
  EXPECT_EQ(code, -SIGXFSZ);
}

TEST_P(shared_segment, may_hold_no_bytes) {
  segment leader = segment::create(0, GetParam());
  EXPECT_EQ(leader.size(), 0u);
  EXPECT_NE(leader.data(), nullptr);
  const pid_t other = start_process([&] { return segment::attach(leader.ticket()).size() == 0 ? 0 : 1; });
  leader.serve(1, milliseconds(10000));
  EXPECT_EQ(wait_process(other), 0);
}

TEST_P(shared_segment, may_pass_four_gigabytes) {
  if (GetParam() == sharing::shm) GTEST_SKIP() << "takes 5 GiB of /dev/shm, which is reserved there";
  const std::size_t bytes = (std::size_t{5} << 30) + 123;
  segment leader = segment::create(bytes, GetParam());
  leader.data()[bytes - 1] = std::byte{44};
  const pid_t other = start_process([&] { return at(segment::attach(leader.ticket()), bytes - 1) == 44 ? 0 : 1; });
  leader.serve(1, milliseconds(10000));
  EXPECT_EQ(wait_process(other), 0);
}

TEST_P(shared_segment, leaves_no_name_after_finish) {
  segment leader = segment::create(4096, GetParam());
  leader.finish();
  EXPECT_EQ(new_in_shm(), std::set<std::string>{});
  EXPECT_TRUE(our_names(folder_).empty());
  leader.data()[0] = std::byte{1};  // the memory stays mapped
  EXPECT_EQ(run_process([&] {
              return test::outcome([&] { segment::attach(leader.ticket()); }).first == SYNCYTE_ERR_UNSUPPORTED ? 0 : 1;
            }),
            0);
}

TEST_P(shared_segment, leaves_no_name_when_dropped_unfinished) {
  segment leader = segment::create(4096, GetParam());
  leader = segment();
  EXPECT_EQ(new_in_shm(), std::set<std::string>{});
  EXPECT_TRUE(our_names(folder_).empty());
}

TEST_P(shared_segment, keeps_its_name_when_a_forked_process_drops_a_copy) {
  segment leader = segment::create(4096, GetParam());
  ASSERT_EQ(run_process([&] {
              leader = segment();
              return 0;
            }),
            0);
  const pid_t other = start_process([&] { return segment::attach(leader.ticket()).size() == 4096 ? 0 : 1; });
  leader.serve(1, milliseconds(10000));
  EXPECT_EQ(wait_process(other), 0);
}

TEST_P(shared_segment, outlives_the_leader) {
  int channel[2], answer[2];
  ASSERT_EQ(pipe(channel), 0);
  ASSERT_EQ(pipe(answer), 0);
  const pid_t leader = start_process([&] {
    segment mine = segment::create(4096, GetParam());
    mine.data()[7] = std::byte{77};
    if (write(channel[1], &mine.ticket(), sizeof(memory::ticket)) != sizeof(memory::ticket)) return 1;
    mine.serve(1, milliseconds(10000));
    char attached = 0;
    if (read(answer[0], &attached, 1) != 1) return 2;
    mine.finish();
    mine.data()[8] = std::byte{88};
    pause();
    return 0;
  });
  memory::ticket ticket{};
  ASSERT_EQ(read(channel[0], &ticket, sizeof(ticket)), static_cast<ssize_t>(sizeof(ticket)));
  const segment mine = segment::attach(ticket);
  ASSERT_EQ(write(answer[1], "a", 1), 1);
  while (std::atomic_ref(mine.data()[8]).load() == std::byte{0}) usleep(100);
  kill(leader, SIGKILL);
  EXPECT_EQ(wait_process(leader), -SIGKILL);
  EXPECT_EQ(at(mine, 7), 77);
  for (const int end : {channel[0], channel[1], answer[0], answer[1]}) close(end);
}

TEST_P(shared_segment, moves) {
  segment first = segment::create(4096, GetParam());
  std::byte* const data = first.data();
  segment second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_TRUE(second);
  EXPECT_FALSE(segment());
}

INSTANTIATE_TEST_SUITE_P(methods, shared_segment,
                         testing::Values(sharing::proc, sharing::socket, sharing::socket_file, sharing::shm),
                         [](const auto& instance) {
                           std::string name = memory::sharing_name(instance.param);
                           return name.substr(0, name.find(' ')) + (name.find(' ') == std::string::npos ? "" : "_file");
                         });

/// Kills a process that creates and frees segments in a loop, and checks that nothing is left.
class killed_in_a_loop : public shared_segment {};

TEST_P(killed_in_a_loop, leaves_nothing) {
  for (int round = 0; round < 12; ++round) {
    const pid_t victim = start_process([&]() -> int {
      for (;;) {
        segment mine = segment::create(4 * megabyte, GetParam());
        mine.data()[0] = std::byte{1};
        mine.finish();
      }
    });
    usleep(static_cast<useconds_t>(5000 + 700 * round));
    kill(victim, SIGKILL);
    ASSERT_EQ(wait_process(victim), -SIGKILL);
  }
  EXPECT_EQ(new_in_shm(), std::set<std::string>{});
  EXPECT_TRUE(our_names(folder_).empty());
}

INSTANTIATE_TEST_SUITE_P(methods, killed_in_a_loop, testing::Values(sharing::proc, sharing::socket),
                         [](const auto& instance) { return memory::sharing_name(instance.param); });

TEST(sharing_candidates, end_in_none_and_obey_the_variable) {
  using methods = std::vector<sharing>;
  const auto with = [](const char* value) {
    const test::environment_scope scope("SYNCYTE_SHM", value);
    return memory::sharing_candidates();
  };
  EXPECT_EQ(with(nullptr),
            (methods{sharing::proc, sharing::socket, sharing::socket_file, sharing::shm, sharing::none}));
  EXPECT_EQ(with("proc"), (methods{sharing::proc, sharing::none}));
  EXPECT_EQ(with("socket"), (methods{sharing::socket, sharing::socket_file, sharing::none}));
  EXPECT_EQ(with("shm"), (methods{sharing::shm, sharing::none}));
  EXPECT_EQ(with("none"), (methods{sharing::none}));
  const auto [status, message] = test::outcome([&] { with("posix"); });
  EXPECT_EQ(status, SYNCYTE_ERR_ARGUMENT);
  EXPECT_TRUE(test::contains(message, "SYNCYTE_SHM")) << message;
  EXPECT_TRUE(test::contains(message, "posix")) << message;
}

}  // namespace
