#include "memory/handover.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "memory/open_files.hpp"

namespace syncyte::memory {

namespace {

using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

[[noreturn]] void refuse(const char* step, const std::string& name, int code) {
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
  descriptor result(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!result) refuse("opening", name, errno);
  return result;
}

/// Whether the descriptor can be read from (or has a caller) before the deadline.
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

/// One message of a byte, with room for one descriptor beside it.
struct envelope {
  char byte = 'm';
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

descriptor receive_descriptor(int connection) {
  envelope message;
  if (recvmsg(connection, &message.header, MSG_CMSG_CLOEXEC) != 1) return {};
  const cmsghdr* attached = CMSG_FIRSTHDR(&message.header);
  if (attached == nullptr || attached->cmsg_type != SCM_RIGHTS || attached->cmsg_len != CMSG_LEN(sizeof(int)))
    return {};
  int number = -1;
  std::memcpy(&number, CMSG_DATA(attached), sizeof(int));
  return descriptor(number);
}

}  // namespace

descriptor listen_at(const std::string& name) {
  const address here(name);
  descriptor result = open_socket(name);
  if (bind(result.number(), here.get(), here.length) != 0) refuse("binding", name, errno);
  // Whoever may not open the file cannot connect; abstract names have no owner, so callers are checked as well.
  if (name.front() != '@') chmod(name.c_str(), S_IRUSR | S_IWUSR);
  if (listen(result.number(), SOMAXCONN) != 0) refuse("listening", name, errno);
  return result;
}

bool hand_over(const descriptor& listener, const descriptor& file, const nonce& secret, milliseconds timeout) {
  const auto deadline = clock::now() + timeout;
  if (!wait_readable(listener.number(), deadline)) return false;
  const descriptor connection(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection || !is_same_user(connection.number())) return false;
  nonce shown{};
  // A caller that says nothing must not hold up the others.
  if (!wait_readable(connection.number(), std::min(deadline, clock::now() + milliseconds(1000)))) return false;
  if (recv(connection.number(), &shown, sizeof(shown), 0) != sizeof(shown) || shown != secret) return false;
  return send_descriptor(connection.number(), file.number());
}

descriptor receive_from(const std::string& name, const nonce& secret, milliseconds timeout) {
  const address there(name);
  const descriptor connection = open_socket(name);
  int code = 0;
  do {
    code = connect(connection.number(), there.get(), there.length) == 0 ? 0 : errno;
  } while (code == EINTR);
  if (code != 0) refuse("connecting", name, code);
  if (!is_same_user(connection.number())) refuse("checking the user", name, EPERM);
  if (send(connection.number(), &secret, sizeof(secret), MSG_NOSIGNAL) != sizeof(secret))
    refuse("sending", name, errno);
  if (!wait_readable(connection.number(), clock::now() + timeout)) refuse("waiting", name, ETIMEDOUT);
  descriptor result = receive_descriptor(connection.number());
  if (!result) refuse("receiving a descriptor", name, EPROTO);
  return result;
}

}  // namespace syncyte::memory
