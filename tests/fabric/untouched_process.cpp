// SPDX-License-Identifier: BSD-3-Clause
// UCX leaves these unchanged in a process: signal handlers, the alternate signal stack, the code of
// libc, the environment. The program does not start MPI, which may have loaded UCX before.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "fabric/module.hpp"

namespace {

using namespace syncyte;

struct silent final : fabric::receiver {
  void on_message(const fabric::message_header&, std::span<const std::byte>) override { ++messages; }
  void on_broken(std::uint64_t) override {}
  int messages = 0;
};

std::vector<void*> handlers() {
  std::vector<void*> all;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    all.push_back(reinterpret_cast<void*>(action.sa_sigaction));
  }
  stack_t stack = {};
  sigaltstack(nullptr, &stack);
  all.push_back(stack.ss_sp);
  return all;
}

// UCX overwrites the first instructions of such functions to learn when memory comes and goes.
std::string code() {
  std::string bytes;
  for (const char* name : {"mmap", "munmap", "mremap", "madvise", "shmat", "shmdt", "sbrk", "brk", "malloc", "free"}) {
    bytes.append(static_cast<const char*>(dlsym(RTLD_DEFAULT, name)), 16);
  }
  return bytes;
}

std::string variables() {
  std::string all;
  for (char** variable = environ; *variable != nullptr; ++variable) all += std::string(*variable) + "\n";
  return all;
}

bool exchanges_a_message(fabric::transport& used) {
  silent target;
  const auto worker = used.make_worker(target);
  const auto link = worker->connect(worker->address(), 0);
  link->send(std::make_shared<fabric::message>(fabric::message_header{}, fabric::most_payload));
  for (int step = 0; step < 1000000 && target.messages == 0; ++step) worker->progress();
  return target.messages == 1;
}

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

}  // namespace

int main() {
  expect(dlopen("libucs.so.0", RTLD_NOW | RTLD_NOLOAD) == nullptr, "UCX is not loaded at first");
  const auto handlers_before = handlers();
  const auto code_before = code();
  const auto variables_before = variables();
  std::string reason;
  const auto opened = fabric::open_module(fabric::ucx_module, reason);
  if (opened == nullptr) {
    std::fprintf(stderr, "failed: %s\n", reason.c_str());
    return 1;
  }
  expect(dlopen("libucs.so.0", RTLD_NOW | RTLD_NOLOAD) != nullptr, "UCX is loaded");
  expect(exchanges_a_message(*opened), "a message arrives");
  expect(handlers() == handlers_before, "the signal handlers are the same");
  expect(code() == code_before, "the code of libc is the same");
  expect(variables() == variables_before, "the environment is the same");
  return failures;
}
