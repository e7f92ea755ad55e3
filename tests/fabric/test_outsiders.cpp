// SPDX-License-Identifier: BSD-3-Clause
// Programs of other users that connect to a rank's ports: random bytes, and messages of UCX without the rank's key.
// Each rank starts an outsider, a program that is told all that a rank's messages show, but the key.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../memory/processes.hpp"
#include "../tensor/tensor_world.hpp"
#include "outsider.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
using namespace std::chrono_literals;

constexpr std::int64_t rows_each = 16;

/// Inodes of this process's sockets.
std::set<std::string> own_sockets() {
  std::set<std::string> inodes;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string link = std::filesystem::read_symlink(each.path(), ignored).string();
    if (link.starts_with("socket:[")) inodes.insert(link.substr(8, link.size() - 9));
  }
  return inodes;
}

/// Addresses at which this process listens for TCP connections.
std::vector<sockaddr_in> listening_ports() {
  const std::set<std::string> own = own_sockets();
  std::vector<sockaddr_in> found;
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, retries, user, timeout, inode;
    words >> number >> local >> remote >> state >> queues >> timer >> retries >> user >> timeout >> inode;
    if (state != "0A" || !own.contains(inode)) continue;
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = static_cast<in_addr_t>(std::stoul(local.substr(0, 8), nullptr, 16));
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoul(local.substr(9), nullptr, 16)));
    found.push_back(address);
  }
  return found;
}

std::size_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  return 0;
}

/// UCX 1.20 finds no way from a process to another over the device `lo`: it looks for a route to the identity of the
/// machine, which stands where others have an address (openucx/ucx#11202).
bool ucx_connects_over_lo() {
  void* const loaded = ::dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD);
  using get_version = void (*)(unsigned*, unsigned*, unsigned*);
  unsigned major = 0, minor = 0, patch = 0;
  reinterpret_cast<get_version>(::dlsym(loaded, "ucp_get_version"))(&major, &minor, &patch);
  ::dlclose(loaded);
  return major != 1 || minor != 20;
}

/// `before`: ports that were not UCX's.
target describe_this_rank(const fabric::engine& engine, const std::vector<sockaddr_in>& before) {
  target told;
  std::vector<std::uint64_t> processes(static_cast<std::size_t>(ranks()));
  told.process = engine.process();
  MPI_Allgather(&told.process, 1, MPI_UINT64_T, processes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  told.other_process = processes[static_cast<std::size_t>((rank() + 1) % ranks())];
  told.communicator = world().id();
  const std::string address = engine.address();
  told.address_bytes = address.size();
  address.copy(told.address.data(), told.address.size());
  for (const sockaddr_in& each : listening_ports()) {
    const auto is_same = [&](const sockaddr_in& other) { return other.sin_port == each.sin_port; };
    if (std::ranges::none_of(before, is_same)) told.ports.at(told.port_count++) = each;
  }
  return told;
}

TEST(outsiders, do_no_harm) {
  world();
  const std::vector<sockaddr_in> others = listening_ports();
  std::string reason;
  fabric::engine* const engine = fabric::process_engine(reason);
  ASSERT_NE(engine, nullptr) << reason;
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows_each * ranks(), 1});
  fill<std::int64_t>(*tensor);
  const target told = describe_this_rank(*engine, others);
  EXPECT_GT(told.port_count, 0u);
  for (std::size_t i = 0; i < told.port_count && on_one_node(); ++i)
    EXPECT_EQ(told.ports[i].sin_addr.s_addr, htonl(INADDR_LOOPBACK)) << "other hosts can connect";
  if (on_one_node() && !ucx_connects_over_lo())
    GTEST_SKIP() << "UCX 1.20 cannot send the messages of an outsider over lo";
  const char* const program = std::getenv("SYNCYTE_TEST_OUTSIDER");
  ASSERT_NE(program, nullptr) << "names the program fabric_outsider; CTest sets it";
  int pipe[2] = {};
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const pid_t outsider = start_process([&] {
    ::dup2(pipe[0], STDIN_FILENO);
    return ::execl(program, program, nullptr);
  });
  ::close(pipe[0]);
  const std::size_t before = resident_kilobytes();
  ASSERT_EQ(::write(pipe[1], &told, sizeof told), static_cast<ssize_t>(sizeof told));
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (engine->refused() < messages && std::chrono::steady_clock::now() < end) {
    EXPECT_EQ(read_all<std::int64_t>(*tensor), filled_table<std::int64_t>(rows_each * ranks()));
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(engine->refused(), messages);
  EXPECT_LT(resident_kilobytes(), before + (16 << 10)) << "before: " << before;
  ::close(pipe[1]);
  EXPECT_EQ(wait_process(outsider), 0);
  barrier();
  EXPECT_EQ(read_all<std::int64_t>(*tensor), filled_table<std::int64_t>(rows_each * ranks()));
  barrier();
}

}  // namespace
