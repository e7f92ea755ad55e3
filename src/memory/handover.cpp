// SPDX-License-Identifier: BSD-3-Clause
#include "memory/handover.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error.hpp"

namespace syncyte::memory {

namespace {

using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

[[noreturn]] void fail_step(const char* step, const std::string& name, int code) {
  check_open_files(fmt::format("{} of socket {}", step, name), code);
  base::fail(SYNCYTE_ERR_UNSUPPORTED, "{} of socket {} failed: {}", step, name, base::errno_text(code));
}

struct address {
  sockaddr_un where{};
  socklen_t length = 0;

  explicit address(const std::string& name) {
    base::require(name.size() > 1 && name.size() < sizeof(where.sun_path), SYNCYTE_ERR_UNSUPPORTED,
                  "the socket's name {} is longer than {} bytes; set TMPDIR to a shorter path", name,
                  sizeof(where.sun_path) - 1);
    where.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), where.sun_path);
    if (name.front() == '@') where.sun_path[0] = '\0';
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (name.front() == '@' ? 0 : 1));
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&where); }
};

descriptor open_socket(const std::string& name) {
  // Non-blocking: otherwise connect() blocks when the listener's queue is full.
  descriptor result(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!result) fail_step("opening", name, errno);
  return result;
}

/// Waits until the descriptor is readable (or has a caller); false if the deadline passes first.
bool wait_readable(int number, clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock::now());
    pollfd entry{number, POLLIN, 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::clamp<long>(left.count(), 0, 1L << 30)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool is_same_user(int connection) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

constexpr char given = 'm';
constexpr char taken = 't';    // the caller's acknowledgement
constexpr char refused = 'r';  // the answer to a caller with another nonce

/// A message of one byte, with room for one descriptor as ancillary data.
struct envelope {
  char byte = given;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec content{&byte, 1};
  msghdr header{};

  envelope() {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }
};

bool send_descriptor(int connection, int number) {
  envelope message;
  cmsghdr* attached = CMSG_FIRSTHDR(&message.header);
  attached->cmsg_level = SOL_SOCKET;
  attached->cmsg_type = SCM_RIGHTS;
  attached->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(attached), &number, sizeof(int));
  return sendmsg(connection, &message.header, MSG_NOSIGNAL) == 1;
}

/// A listener's answer: a descriptor, or the reason why there is none.
struct answer {
  descriptor file;
  const char* failed_step = nullptr;
  int code = 0;  // errno
  bool is_refusal = false;
};

answer receive_answer(int connection) {
  envelope message;
  const ssize_t bytes = recvmsg(connection, &message.header, MSG_CMSG_CLOEXEC);
  answer result{{}, "receiving a descriptor", bytes < 0 ? errno : EPROTO, bytes == 1 && message.byte == refused};
  if (bytes != 1) return result;
  if ((message.header.msg_flags & MSG_CTRUNC) != 0) result.code = EMFILE;  // this process has too many open files
  const cmsghdr* attached = CMSG_FIRSTHDR(&message.header);
  if (attached == nullptr || attached->cmsg_type != SCM_RIGHTS || attached->cmsg_len != CMSG_LEN(sizeof(int)))
    return result;
  int number = -1;
  std::memcpy(&number, CMSG_DATA(attached), sizeof(int));
  descriptor file(number);
  if (send(connection, &taken, sizeof(taken), MSG_NOSIGNAL) == sizeof(taken)) result.file = std::move(file);
  return result;
}

/// Connects; returns 0 or errno.
int connect_to(const descriptor& connection, const address& there) {
  int code = 0;
  do {
    code = connect(connection.number(), there.get(), there.length) == 0 ? 0 : errno;
  } while (code == EINTR);
  return code;
}

/// Connects, shows the nonce and waits for the answer.
answer ask(const std::string& name, const nonce& secret, const std::function<bool()>& keeps_waiting) {
  const address there(name);
  const descriptor connection = open_socket(name);
  int code = connect_to(connection, there);
  for (; code == EAGAIN && keeps_waiting(); code = connect_to(connection, there))
    std::this_thread::sleep_for(milliseconds(5));  // the listener's queue is full
  if (code != 0) return {{}, "connecting", code};
  if (!is_same_user(connection.number())) return {{}, "checking the user", EPERM};
  if (send(connection.number(), &secret, sizeof(secret), MSG_NOSIGNAL) != sizeof(secret)) return {{}, "sending", errno};
  while (!wait_readable(connection.number(), clock::now() + milliseconds(100)))
    if (!keeps_waiting()) return {{}, "waiting", ETIMEDOUT};
  return receive_answer(connection.number());
}

}  // namespace

descriptor listen_at(const std::string& name) {
  const address here(name);
  descriptor result = open_socket(name);
  // The file's permissions keep other users from connecting. Abstract names have none, so callers are checked as well.
  if (fchmod(result.number(), S_IRUSR | S_IWUSR) != 0) fail_step("protecting", name, errno);
  if (bind(result.number(), here.get(), here.length) != 0) fail_step("binding", name, errno);
  if (listen(result.number(), SOMAXCONN) != 0) fail_step("listening", name, errno);
  return result;
}

bool hand_over(const descriptor& listener, const descriptor& file, const nonce& secret, milliseconds timeout) {
  if (!wait_readable(listener.number(), clock::now() + timeout)) return false;
  const descriptor connection(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) check_open_files("accepting at a socket", errno);
  if (!connection || !is_same_user(connection.number())) return false;
  nonce shown{};
  // A caller that sends nothing must not block the others. One that has connected may be slow on a busy machine.
  const auto grace_period = [] { return clock::now() + milliseconds(1000); };
  if (!wait_readable(connection.number(), grace_period())) return false;
  const bool has_spoken = recv(connection.number(), &shown, sizeof(shown), 0) == sizeof(shown);
  if (has_spoken && shown != secret) send(connection.number(), &refused, sizeof(refused), MSG_NOSIGNAL);
  if (!has_spoken || shown != secret || !send_descriptor(connection.number(), file.number())) return false;
  // The caller may have disconnected meanwhile.
  char said = 0;
  return wait_readable(connection.number(), grace_period()) && recv(connection.number(), &said, 1, 0) == 1 &&
         said == taken;
}

descriptor receive_from(const std::string& name, const nonce& secret, milliseconds timeout) {
  const auto deadline = clock::now() + timeout;
  const auto is_ahead = [&] { return clock::now() < deadline; };
  for (;;) {
    answer got = ask(name, secret, is_ahead);
    if (got.file) return std::move(got.file);
    // The listener has not waited for this process, which may have been stopped meanwhile.
    const bool was_dropped = got.code == EPIPE || got.code == ECONNRESET;
    if (!was_dropped || !is_ahead()) fail_step(got.failed_step, name, got.code);
    std::this_thread::sleep_for(milliseconds(5));
  }
}

descriptor try_to_receive_from(const std::string& name, const nonce& secret,
                               const std::function<bool()>& keeps_waiting) {
  answer got = ask(name, secret, keeps_waiting);
  if (got.is_refusal)
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = "nonce", .value = "another one", .expected = "the sender's"});
  // There is no listener yet, or it has served another process and ended.
  constexpr int absent[] = {EAGAIN, ENOENT, ECONNREFUSED, ECONNRESET, EPIPE, ETIMEDOUT, EPROTO};
  if (!got.file && std::ranges::find(absent, got.code) == std::end(absent)) fail_step(got.failed_step, name, got.code);
  return std::move(got.file);
}

bool is_listened_at(const std::string& name) {
  const descriptor connection = open_socket(name);
  const int code = connect_to(connection, address(name));
  return code != ECONNREFUSED && code != ENOENT;
}

}  // namespace syncyte::memory
