// SPDX-License-Identifier: BSD-3-Clause
// A program that attacks a rank of test_outsiders: it reads from standard input what a rank's messages show, but for
// the key, and sends random bytes and messages of UCX until standard input is closed. As root it becomes another user.
#include "outsider.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>

#include "fabric/module.hpp"
#include "memory/descriptor.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
using namespace std::chrono_literals;

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

}  // namespace

/// The exit status tells what failed.
int main() {
  ::setenv("UCX_TLS", "tcp", 1);
  ::unsetenv("SYNCYTE_UCX_TLS");
  std::string reason;
  const auto ucx = fabric::open_module(fabric::ucx_module, reason);  // before it loses the right to read the file
  if (ucx == nullptr) return 1;
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)) return 2;
  ::prctl(PR_SET_DUMPABLE, 1);  // as if that user had started it: UCX reads /proc/self
  target to;
  if (std::fread(&to, sizeof to, 1, stdin) != 1) return 3;
  std::mt19937 random(7);
  for (std::size_t i = 0; i < to.port_count; ++i) send_random_bytes(to.ports[i], random);
  ignoring_receiver received;
  const auto worker = ucx->make_worker(received);
  const auto way = worker->connect({to.address.data(), to.address_bytes}, 1);
  send_messages(to, *way, random);
  ::fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  char end = 0;
  while (::read(STDIN_FILENO, &end, 1) != 0) worker->progress();
  return received.answers == 0 ? 0 : 4;
}
