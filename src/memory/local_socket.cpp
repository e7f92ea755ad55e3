// SPDX-License-Identifier: BSD-3-Clause
#include "memory/local_socket.hpp"

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

// Non-blocking: otherwise connect() blocks when the listener's queue is full.
constexpr int kind = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

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
  descriptor result(::socket(AF_UNIX, kind, 0));
  if (!result) fail_step("opening", name, errno);
  return result;
}

bool is_same_user(const descriptor& socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

/// Connects; returns 0 or errno.
int try_to_connect(const descriptor& socket, const address& there) {
  int code = 0;
  do {
    code = connect(socket.number(), there.get(), there.length) == 0 ? 0 : errno;
  } while (code == EINTR);
  return code;
}

/// A message's header, with room for descriptors as ancillary data.
struct envelope {
  alignas(cmsghdr) char control[CMSG_SPACE(most_files * sizeof(int))] = {};
  iovec content;
  msghdr header{};

  envelope(char* bytes, std::size_t size) : content{bytes, size} {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
  }
  void make_room(std::size_t files) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(files * sizeof(int));
  }
};

void attach(msghdr& header, std::span<const descriptor> files) {
  cmsghdr* const attached = CMSG_FIRSTHDR(&header);
  attached->cmsg_level = SOL_SOCKET;
  attached->cmsg_type = SCM_RIGHTS;
  attached->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
  unsigned char* next = CMSG_DATA(attached);
  for (const descriptor& file : files) {
    const int number = file.number();
    std::memcpy(next, &number, sizeof(int));
    next += sizeof(int);
  }
}

std::vector<descriptor> attached_files(const msghdr& header) {
  std::vector<descriptor> result;
  const cmsghdr* const attached = CMSG_FIRSTHDR(&header);
  if (attached == nullptr || attached->cmsg_type != SCM_RIGHTS) return result;
  const unsigned char* const first = CMSG_DATA(attached);
  for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= attached->cmsg_len; at += sizeof(int)) {
    int number = -1;
    std::memcpy(&number, first + at, sizeof(int));
    result.emplace_back(number);
  }
  return result;
}

}  // namespace

void fail_step(const char* step, const std::string& name, int code) {
  check_open_files(fmt::format("{} of socket {}", step, name), code);
  base::fail(SYNCYTE_ERR_UNSUPPORTED, "{} of socket {} failed: {}", step, name, base::errno_text(code));
}

descriptor listen_at(const std::string& name) {
  const address here(name);
  descriptor result = open_socket(name);
  // The file's permissions keep other users from connecting. Abstract names have none, so callers are checked as well.
  if (fchmod(result.number(), S_IRUSR | S_IWUSR) != 0) fail_step("protecting", name, errno);
  if (bind(result.number(), here.get(), here.length) != 0) fail_step("binding", name, errno);
  if (listen(result.number(), SOMAXCONN) != 0) fail_step("listening", name, errno);
  return result;
}

bool is_listened_at(const std::string& name) {
  const descriptor socket = open_socket(name);
  const int code = try_to_connect(socket, address(name));
  return code != ECONNREFUSED && code != ENOENT;
}

descriptor accept_caller(const descriptor& listener) {
  descriptor socket(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) check_open_files("accepting at a socket", errno);
  return socket && is_same_user(socket) ? std::move(socket) : descriptor();
}

connection connect_to(const std::string& name, const std::function<bool()>& keeps_waiting) {
  const address there(name);
  connection result{open_socket(name), "connecting"};
  result.code = try_to_connect(result.socket, there);
  for (; result.code == EAGAIN && keeps_waiting(); result.code = try_to_connect(result.socket, there))
    std::this_thread::sleep_for(milliseconds(5));  // the listener's queue is full
  if (result.code == 0 && !is_same_user(result.socket)) return {{}, "checking the user", EPERM};
  if (result.code != 0) result.socket.close();
  return result;
}

std::pair<descriptor, descriptor> connected_pair() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, kind, 0, ends) != 0) fail_step("opening", "(a pair)", errno);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

int send_message(const descriptor& socket, const std::string& bytes, std::span<const descriptor> files) {
  envelope message(const_cast<char*>(bytes.data()), bytes.size());
  if (!files.empty()) {
    message.make_room(files.size());
    attach(message.header, files);
  }
  const ssize_t sent = sendmsg(socket.number(), &message.header, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == static_cast<ssize_t>(bytes.size()) ? 0 : sent < 0 ? errno : EMSGSIZE;
}

message receive_message(const descriptor& socket) {
  message result;
  result.bytes.resize(longest_message);
  envelope received(result.bytes.data(), result.bytes.size());
  received.make_room(most_files);
  const auto receive = [&] { return recvmsg(socket.number(), &received.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT); };
  ssize_t size = receive();
  while (size < 0 && errno == EINTR) size = receive();
  // The other end has gone without reading all messages; its own come after this error.
  if (size < 0 && errno == ECONNRESET) size = receive();
  result.code = size < 0 ? errno : 0;
  result.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (size <= 0) return result;
  result.files = attached_files(received.header);
  if ((received.header.msg_flags & MSG_CTRUNC) != 0) result.code = EMFILE;  // this process has too many open files
  if ((received.header.msg_flags & MSG_TRUNC) != 0) result.code = EMSGSIZE;
  return result;
}

bool wait_readable(const descriptor& socket, clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock::now());
    pollfd entry{socket.number(), POLLIN, 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::clamp<long>(left.count(), 0, 1L << 30)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace syncyte::memory
