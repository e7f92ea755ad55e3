// SPDX-License-Identifier: BSD-3-Clause
#include "memory/handover.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/error.hpp"

namespace syncyte::memory {

namespace {

using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

const std::string given = "m";    // with the descriptor
const std::string taken = "t";    // the caller's acknowledgement
const std::string refused = "r";  // the answer to a caller with another nonce

std::string to_bytes(const nonce& secret) { return {reinterpret_cast<const char*>(secret.data()), sizeof(secret)}; }

/// A listener's answer: descriptors, or the reason why there are none.
struct answer {
  std::vector<descriptor> files;
  const char* failed_step = nullptr;
  int code = 0;  // errno
  bool is_refusal = false;
};

answer receive_answer(const descriptor& socket) {
  message got = receive_message(socket);
  answer result{{}, "receiving a descriptor", got.code != 0 ? got.code : EPROTO, got.bytes == refused};
  const bool is_whole = got.code == 0 && got.bytes == given && !got.files.empty();
  if (is_whole && send_message(socket, taken) == 0) result.files = std::move(got.files);
  return result;
}

/// Connects, shows the nonce and waits for the answer.
answer ask(const std::string& name, const nonce& secret, const std::function<bool()>& keeps_waiting) {
  const connection made = connect_to(name, keeps_waiting);
  if (!made.socket) return {{}, made.failed_step, made.code};
  if (const int code = send_message(made.socket, to_bytes(secret)); code != 0) return {{}, "sending", code};
  while (!wait_readable(made.socket, clock::now() + milliseconds(100)))
    if (!keeps_waiting()) return {{}, "waiting", ETIMEDOUT};
  return receive_answer(made.socket);
}

}  // namespace

bool hand_over(const descriptor& listener, std::span<const descriptor> files, const nonce& secret,
               milliseconds timeout) {
  if (!wait_readable(listener, clock::now() + timeout)) return false;
  const descriptor caller = accept_caller(listener);
  // A caller that sends nothing must not block the others. One that has connected may be slow on a busy machine.
  const auto has_spoken = [&] { return wait_readable(caller, clock::now() + milliseconds(1000)); };
  if (!caller || !has_spoken()) return false;
  const std::string shown = receive_message(caller).bytes;
  if (shown != to_bytes(secret)) {
    if (!shown.empty()) send_message(caller, refused);
    return false;
  }
  if (send_message(caller, given, files) != 0) return false;
  // The caller may have disconnected meanwhile.
  return has_spoken() && receive_message(caller).bytes == taken;
}

descriptor receive_from(const std::string& name, const nonce& secret, milliseconds timeout) {
  const auto deadline = clock::now() + timeout;
  const auto is_ahead = [&] { return clock::now() < deadline; };
  for (;;) {
    answer got = ask(name, secret, is_ahead);
    if (!got.files.empty()) return std::move(got.files.front());
    // The listener has not waited for this process, which may have been stopped meanwhile.
    const bool was_dropped = got.code == EPIPE || got.code == ECONNRESET;
    if (!was_dropped || !is_ahead()) fail_step(got.failed_step, name, got.code);
    std::this_thread::sleep_for(milliseconds(5));
  }
}

std::vector<descriptor> try_to_receive_from(const std::string& name, const nonce& secret,
                                            const std::function<bool()>& keeps_waiting) {
  answer got = ask(name, secret, keeps_waiting);
  if (got.is_refusal)
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = "nonce", .value = "another one", .expected = "the sender's"});
  // There is no listener yet, or it has served another process and ended.
  constexpr int absent[] = {EAGAIN, ENOENT, ECONNREFUSED, ECONNRESET, EPIPE, ETIMEDOUT, EPROTO};
  const bool is_absent = std::ranges::find(absent, got.code) != std::end(absent);
  if (got.files.empty() && !is_absent) fail_step(got.failed_step, name, got.code);
  return std::move(got.files);
}

}  // namespace syncyte::memory
