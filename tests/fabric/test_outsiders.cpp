// Programs of other users that connect to a rank's ports: random bytes, and messages of UCX without the rank's key.
// Each rank has an outsider, a process that is forked before the rank opens its fabric and, as root, becomes another
// user. It is told all that a rank's messages show, but the key.
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../memory/processes.hpp"
#include "../tensor/tensor_world.hpp"
#include "fabric/module.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
using namespace std::chrono_literals;

constexpr std::int64_t rows_each = 16;
constexpr int hellos = 30, deaths = 10, requests = 10, large = 100, messages = hellos + deaths + requests + large;

/// Facts that an outsider may know of a rank.
struct target {
  std::uint64_t process = 0;
  std::uint64_t other_process = 0;  // of the next rank
  std::uint64_t communicator = 0;
  std::size_t address_bytes = 0;
  std::array<char, 4096> address{};
  std::size_t port_count = 0;
  std::array<sockaddr_in, 64> ports{};
};

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

void send_random_bytes(const sockaddr_in& to, std::mt19937& random) {
  for (const std::size_t bytes : {1, 8, 100, 10000, 1000000}) {
    const memory::descriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(connection.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
    std::string content(bytes, '\0');
    for (char& each : content) each = static_cast<char>(random());
    std::this_thread::sleep_for(5ms);
    [[maybe_unused]] const auto sent = ::send(connection.number(), content.data(), bytes, MSG_NOSIGNAL);
    std::this_thread::sleep_for(5ms);
  }
}

/// Sends what would end the rank, or take its memory, if it were believed.
void send_messages(const target& to, fabric::link& way, std::mt19937& random) {
  const auto send = [&](fabric::message_header header, std::size_t bytes) {
    header.sender = to.other_process;
    auto made = std::make_shared<fabric::message>(header, bytes);
    for (std::byte& each : made->payload()) each = static_cast<std::byte>(random());
    way.send(std::move(made));
  };
  using enum fabric::message_kind;
  for (std::uint32_t i = 0; i < hellos; ++i) send({.number = 1 + i, .session = i, .kind = hello}, 20 + 10 * i);
  for (int i = 0; i < deaths; ++i) send({.kind = i % 2 == 0 ? death : heartbeat, .arguments = {to.other_process}}, 0);
  for (std::uint64_t i = 1; i <= requests; ++i)
    send({.number = i,
          .communicator = to.communicator,
          .object = 1,
          .kind = request,
          .operation = 2,
          .changes = 1,
          .arguments = {0, 8}},
         8);
  for (std::uint32_t i = 0; i < large; ++i)
    send({.number = 2 + i, .session = i, .kind = i % 2 == 0 ? hello : request}, fabric::most_payload);
}

class ignoring_receiver final : public fabric::receiver {
 public:
  void on_message(const fabric::message_header&, std::span<const std::byte>) override { ++answers; }
  void on_broken(std::uint64_t) override {}
  int answers = 0;
};

/// The outsider: attacks the process that it reads of, until that closes the pipe. The exit status tells what failed.
int attack(int pipe) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::unsetenv("SYNCYTE_UCX_TLS");
  std::string reason;
  const auto ucx = fabric::open_module(fabric::ucx_module, reason);  // before it loses the right to read the file
  if (ucx == nullptr) return 1;
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)) return 2;
  target to;
  if (::read(pipe, &to, sizeof to) != sizeof to) return 3;
  std::mt19937 random(7);
  for (std::size_t i = 0; i < to.port_count; ++i) send_random_bytes(to.ports[i], random);
  ignoring_receiver received;
  const auto worker = ucx->make_worker(received);
  const auto way = worker->connect({to.address.data(), to.address_bytes}, 1);
  send_messages(to, *way, random);
  ::fcntl(pipe, F_SETFL, O_NONBLOCK);
  char end = 0;
  while (::read(pipe, &end, 1) != 0) worker->progress();
  return received.answers == 0 ? 0 : 4;
}

std::size_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  return 0;
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

TEST(Outsiders, DoNoHarm) {
  int pipe[2] = {};
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const pid_t outsider = start_process([&] {
    ::close(pipe[1]);
    return attack(pipe[0]);
  });
  ::close(pipe[0]);
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
