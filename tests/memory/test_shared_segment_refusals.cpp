// SPDX-License-Identifier: BSD-3-Clause
// attach() must refuse memory that is not the leader's; the leader must refuse processes of other users.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include "memory/shared_segment.hpp"
#include "processes.hpp"
#include "status.hpp"

namespace {

using namespace syncyte;
using memory::segment;
using memory::sharing;
using memory::ticket;
using std::chrono::milliseconds;
using test::contains;
using test::outcome;
using test::run_process;
using test::start_process;
using test::wait_process;

constexpr uid_t nobody = 65534;

/// Exit code 0 if attaching is refused with a message that contains `part`.
int refused(const ticket& wanted, const std::string& part) {
  const auto [status, message] = outcome([&] { segment::attach(wanted, milliseconds(2000)); });
  if (status == SYNCYTE_ERR_UNSUPPORTED && contains(message, part)) return 0;
  fprintf(stderr, "status %d, message \"%s\" lacks \"%s\"\n", status, message.c_str(), part.c_str());
  return 1;
}

class refusals : public testing::TestWithParam<sharing> {
 protected:
  /// Attaches with a falsified ticket from another process.
  int attach_falsified(const std::function<void(ticket&)>& falsify, const std::string& part) {
    segment leader = segment::create(8192, GetParam());
    ticket wanted = leader.ticket();
    falsify(wanted);
    const pid_t other = start_process([&] { return refused(wanted, part); });
    leader.serve(1, milliseconds(300));
    return wait_process(other);
  }
};

TEST_P(refusals, another_inode) {
  EXPECT_EQ(attach_falsified([](ticket& t) { t.inode += 1; }, "another file"), 0);
}

TEST_P(refusals, another_device) {
  EXPECT_EQ(attach_falsified([](ticket& t) { t.device += 1; }, "another file"), 0);
}

TEST_P(refusals, another_size) {
  EXPECT_EQ(attach_falsified([](ticket& t) { t.size += 4096; }, "another file"), 0);
}

INSTANTIATE_TEST_SUITE_P(methods, refusals,
                         testing::Values(sharing::proc, sharing::socket, sharing::socket_file, sharing::shm),
                         [](const auto& instance) {
                           return "method" + std::to_string(static_cast<int>(instance.param));
                         });

/// In files that every process can open, only the nonce identifies the leader's memory.
TEST(refusals_of_files, another_nonce) {
  for (const auto method : {sharing::proc, sharing::shm}) {
    const segment leader = segment::create(8192, method);
    ticket wanted = leader.ticket();
    wanted.nonce[1] ^= 1;
    EXPECT_EQ(run_process([&] { return refused(wanted, "nonce"); }), 0);
  }
}

TEST(refusals_of_files, a_process_that_is_gone) {
  ticket wanted = segment::create(8192, sharing::proc).ticket();
  wanted.process = 2147483000;  // above the kernel's largest pid
  EXPECT_EQ(refused(wanted, "ENOENT"), 0);
}

TEST(refusals_of_files, a_descriptor_of_another_kind) {
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  ticket wanted = segment::create(8192, sharing::proc).ticket();
  wanted.process = getpid();
  wanted.descriptor = channel[1];  // as in another PID namespace, where the number is another process's
  EXPECT_EQ(refused(wanted, "another file"), 0);
  close(channel[0]);
  close(channel[1]);
}

TEST(refusals_of_files, no_shm_object_of_that_name) {
  segment leader = segment::create(8192, sharing::shm);
  leader.finish();
  EXPECT_EQ(refused(leader.ticket(), "ENOENT"), 0);
}

TEST(refusals_of_files, memory_that_is_not_shared) {
  const segment alone = segment::create(8192, sharing::none);
  EXPECT_EQ(alone.size(), 8192u);
  EXPECT_EQ(refused(alone.ticket(), "none"), 0);
}

TEST(refusals_of_files, another_user) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  for (const auto method : {sharing::proc, sharing::shm}) {
    const segment leader = segment::create(8192, method);
    EXPECT_EQ(run_process([&] { return setuid(nobody) == 0 ? refused(leader.ticket(), "EACCES") : 2; }), 0);
  }
}

TEST(refusals_of_sockets, a_caller_without_the_nonce_is_not_counted) {
  for (const auto method : {sharing::socket, sharing::socket_file}) {
    segment leader = segment::create(8192, method);
    ticket wanted = leader.ticket();
    wanted.nonce[0] ^= 1;
    const pid_t other = start_process([&] { return refused(wanted, "receiving"); });
    EXPECT_EQ(leader.serve(1, milliseconds(500)), 0);
    EXPECT_EQ(wait_process(other), 0);
    const pid_t friendly = start_process([&] { return segment::attach(leader.ticket()).size() == 8192 ? 0 : 1; });
    EXPECT_EQ(leader.serve(1, milliseconds(10000)), 1);  // may be called again
    EXPECT_EQ(wait_process(friendly), 0);
  }
}

TEST(refusals_of_sockets, a_caller_that_speaks_late_is_served) {
  segment leader = segment::create(8192, sharing::socket);
  const pid_t late = start_process([&] {
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    sockaddr_un there{.sun_family = AF_UNIX, .sun_path = {}};
    const std::string name = leader.ticket().name;
    std::copy(name.begin() + 1, name.end(), there.sun_path + 1);  // "@..." is an abstract name
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (connect(connection, reinterpret_cast<sockaddr*>(&there), length) != 0) return 1;
    std::this_thread::sleep_for(milliseconds(100));
    const memory::nonce& secret = leader.ticket().nonce;
    char given = 0;
    if (send(connection, &secret, sizeof(secret), MSG_NOSIGNAL) != sizeof(secret)) return 2;
    if (recv(connection, &given, 1, 0) != 1 || send(connection, "t", 1, MSG_NOSIGNAL) != 1) return 3;
    return 0;
  });
  const auto end = std::chrono::steady_clock::now() + milliseconds(10000);
  int served = 0;  // as the leader of a node calls it, until all ranks have attached
  while (served == 0 && std::chrono::steady_clock::now() < end) served = leader.serve(1, milliseconds(1));
  EXPECT_EQ(served, 1);
  EXPECT_EQ(wait_process(late), 0);
}

TEST(refusals_of_sockets, another_user) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  segment leader = segment::create(8192, sharing::socket);
  const pid_t other = start_process([&] { return setuid(nobody) == 0 ? refused(leader.ticket(), "user") : 2; });
  EXPECT_EQ(leader.serve(1, milliseconds(500)), 0);
  EXPECT_EQ(wait_process(other), 0);
  segment by_file = segment::create(8192, sharing::socket_file);
  EXPECT_EQ(run_process([&] { return setuid(nobody) == 0 ? refused(by_file.ticket(), "EACCES") : 2; }), 0);
}

TEST(refusals_of_sockets, another_network_namespace) {
  const segment leader = segment::create(8192, sharing::socket);
  const int code = run_process([&] {
    if (unshare(CLONE_NEWNET) != 0) return 77;
    return refused(leader.ticket(), "connecting");
  });
  if (code == 77) GTEST_SKIP() << "may not make a network namespace";
  EXPECT_EQ(code, 0);
}

TEST(refusals_of_sockets, a_folder_whose_path_is_too_long) {
  const std::string folder = "/tmp/" + std::string(120, 'x');
  const test::environment_scope scope("TMPDIR", folder.c_str());
  const auto [status, message] = outcome([] { segment::create(1, sharing::socket_file); });
  EXPECT_EQ(status, SYNCYTE_ERR_UNSUPPORTED);
  EXPECT_TRUE(contains(message, "TMPDIR")) << message;
}

TEST(refusals_of_sockets, serving_nobody_ends_in_time) {
  segment leader = segment::create(1, sharing::socket);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(leader.serve(2, milliseconds(200)), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(3000));
}

TEST(refusals_of_memory, more_than_there_is_address_space) {
  const auto [status, message] = outcome([] { segment::create(std::size_t{1} << 61, sharing::proc); });
  EXPECT_EQ(status, SYNCYTE_ERR_MEMORY) << message;
  EXPECT_EQ(outcome([] { segment::create(~std::size_t{0}, sharing::proc); }).first, SYNCYTE_ERR_MEMORY);
}

/// Mounts a private /dev/shm of 4 MiB for the calling process; false if that is not allowed.
bool has_small_shm() {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", "/dev/shm", "tmpfs", 0, "size=4m") == 0;
}

TEST(refusals_of_memory, more_than_a_small_dev_shm_has) {
  const int code = run_process([] {
    if (!has_small_shm()) return 77;
    const segment small = segment::create(1 << 20, sharing::shm);
    small.data()[small.size() - 1] = std::byte{1};
    const auto [status, message] = outcome([] {
      const segment large = segment::create(64 << 20, sharing::shm);
      large.data()[large.size() - 1] = std::byte{1};
      std::fill_n(large.data(), large.size(), std::byte{1});
    });
    return status == SYNCYTE_ERR_MEMORY && contains(message, "does not fit /dev/shm") ? 0 : 1;
  });
  if (code == 77) GTEST_SKIP() << "may not mount a small /dev/shm";
  EXPECT_EQ(code, 0);
}

TEST(refusals_of_memory, nobody_can_shrink_it) {
  const segment leader = segment::create(8192, sharing::proc);
  EXPECT_NE(ftruncate(leader.ticket().descriptor, 0), 0);
}

}  // namespace
