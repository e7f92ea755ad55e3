// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

#include "waiting_child.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using mpi::process_watch;
using test::waiting_child;

/// Sets the number of files that this process may open during the object's lifetime.
class most_files {
 public:
  explicit most_files(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{most, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~most_files() { setrlimit(RLIMIT_NOFILE, &before_); }
  most_files(const most_files&) = delete;
  most_files& operator=(const most_files&) = delete;

 private:
  rlimit before_{};
};

/// The ranks that have ended, once they are so many or ten seconds have passed.
std::vector<int> wait_for(process_watch& watch, std::size_t count) {
  std::vector<int> ended = watch.take_ended();
  for (int i = 0; i < 1000 && ended.size() < count; ++i) {
    std::this_thread::sleep_for(10ms);
    std::ranges::copy(watch.take_ended(), std::back_inserter(ended));
  }
  std::ranges::sort(ended);
  return ended;
}

std::vector<int> numbers(int count) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i) result.push_back(i);
  return result;
}

/// Takes all descriptors that this process may still open.
std::vector<memory::descriptor> take_descriptors() {
  std::vector<memory::descriptor> taken;
  do taken.emplace_back(::open("/", O_PATH | O_CLOEXEC));
  while (taken.back());
  return taken;
}

TEST(process_watch, takes_a_quarter_of_the_descriptors) {
  const most_files limited(256);
  const waiting_child other, living;
  process_watch watch;
  watch.add(other.as_ranks(100));
  watch.add({{1000, living.process()}, {1001, {}}});  // the process of 1001 is not known
  EXPECT_EQ(watch.descriptors(), 0);                  // none is open before it looks
  EXPECT_TRUE(watch.take_ended().empty());
  EXPECT_EQ(watch.descriptors(), 64);
  other.kill();
  EXPECT_EQ(wait_for(watch, 100), numbers(100));
  EXPECT_TRUE(watch.take_ended().empty());
  EXPECT_FALSE(watch.is_empty());
}

TEST(process_watch, reads_states_with_its_last_descriptor) {
  const waiting_child other, living;
  process_watch watch;
  watch.add(other.as_ranks(3));
  watch.add({{1000, living.process()}});
  const most_files limited(256);
  const auto taken = take_descriptors();
  EXPECT_TRUE(watch.take_ended().empty());
  EXPECT_EQ(watch.descriptors(), 0);
  other.kill();
  EXPECT_EQ(wait_for(watch, 3), numbers(3));
  EXPECT_FALSE(watch.is_empty());
}

TEST(process_watch, reads_states_if_it_may_no_longer_poll_so_many_descriptors) {
  const waiting_child other;
  process_watch watch;
  watch.add(other.as_ranks(200));
  const most_files before(1024);
  EXPECT_TRUE(watch.take_ended().empty());
  EXPECT_EQ(watch.descriptors(), 200);
  const most_files limited(190);
  other.kill();
  EXPECT_EQ(wait_for(watch, 200), numbers(200));
}

TEST(process_watch, finds_processes_that_have_ended_before) {
  process_watch watch;
  mpi::process_id reused = mpi::this_process();
  reused.start_time -= 1;  // another process had this number
  const waiting_child zombie;
  const auto as_zombie = zombie.process();
  zombie.kill();
  mpi::process_id ended;
  {
    const waiting_child other;
    ended = other.process();
  }
  watch.add({{0, reused}, {1, as_zombie}, {2, ended}, {3, mpi::this_process()}});
  EXPECT_EQ(wait_for(watch, 3), numbers(3));
  EXPECT_EQ(watch.descriptors(), 1);
}

/// Lets pidfd_open fail in this process, for ever.
void refuse_pidfd(unsigned code) {
  const sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{4, const_cast<sock_filter*>(steps)};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0 ||
      ::syscall(SYS_pidfd_open, ::getpid(), 0) >= 0 || errno != static_cast<int>(code))
    throw std::runtime_error("pidfd_open is not refused");
}

TEST(process_watch, reads_states_where_the_system_has_no_descriptors_of_processes) {
  for (const unsigned code : {ENOSYS, EPERM, EMFILE, ENFILE}) {
    const pid_t child = test::fork_to([&] {
      refuse_pidfd(code);
      const waiting_child other, living;
      process_watch watch;
      watch.add(other.as_ranks(3));
      watch.add({{1000, living.process()}});
      bool is_right = watch.take_ended().empty() && watch.descriptors() == 0;
      other.kill();
      is_right = wait_for(watch, 3) == numbers(3) && !watch.is_empty() && is_right;
      if (!is_right) throw std::runtime_error("wrong");
    });
    EXPECT_EQ(test::exit_code(child), 0) << code;
  }
}

}  // namespace
