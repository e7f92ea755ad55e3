// SPDX-License-Identifier: BSD-3-Clause
#include "board.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace syncyte::test {
namespace {

constexpr int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
board_slot* signal_slot = nullptr;
struct sigaction previous_actions[NSIG];

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

void copy_text(char* to, std::size_t capacity, const std::string& text) {
  const std::size_t bytes = text.size() < capacity - 1 ? text.size() : capacity - 1;
  std::memcpy(to, text.data(), bytes);
  to[bytes] = '\0';
}

extern "C" void note_fatal_signal(int number, siginfo_t* info, void*) {
  // A child that a test has forked shares the board but is not the rank.
  if (signal_slot != nullptr && signal_slot->pid == static_cast<std::uint32_t>(getpid())) {
    signal_slot->signal = static_cast<std::uint32_t>(number);
  }
  sigaction(number, &previous_actions[number], nullptr);
  // On return a fault occurs again, with its address, in the previous handler; other signals are sent again.
  if (info->si_code <= 0) raise(number);
}

extern "C" void print_backtrace(int) {
  void* frames[48];
  const int count = backtrace(frames, 48);
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

}  // namespace

board::board(int rank) {
  const char* path = std::getenv("SYNCYTE_TEST_BOARD");
  if (path != nullptr) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
      void* page = mmap(nullptr, sizeof(board_slot), PROT_READ | PROT_WRITE, MAP_SHARED, file,
                        static_cast<off_t>(rank) * static_cast<off_t>(sizeof(board_slot)));
      if (page != MAP_FAILED) mapping_ = page;
      close(file);
    }
    if (mapping_ == nullptr) std::perror("SYNCYTE_TEST_BOARD");
  }
  if (mapping_ != nullptr) slot_ = static_cast<board_slot*>(mapping_);
  slot_->pid = static_cast<std::uint32_t>(getpid());
  idle();
}

board::~board() {
  signal_slot = nullptr;
  if (mapping_ != nullptr) munmap(mapping_, sizeof(board_slot));
}

void board::enter(rank_state state) {
  std::atomic_thread_fence(std::memory_order_release);
  slot_->state = state;
}

void board::begin(const std::string& test) {
  slot_->failed = 0;
  slot_->message[0] = '\0';
  slot_->since_ns = now_ns();
  copy_text(slot_->test, sizeof(slot_->test), test);
  enter(rank_state::running);
}

void board::fail(const std::string& message) {
  if (slot_->failed == 0) copy_text(slot_->message, sizeof(slot_->message), message);
  slot_->failed = 1;
}

void board::arrive() { enter(rank_state::arrived); }

void board::idle() {
  slot_->since_ns = now_ns();
  enter(rank_state::idle);
}

void board::end() {
  slot_->since_ns = now_ns();
  enter(rank_state::ended);
}

void board::abort(int code) {
  slot_->abort_code = code;
  slot_->aborted = 1;
}

void board::watch_signals() {
  signal_slot = slot_;
  struct sigaction action{};
  action.sa_sigaction = note_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : fatal_signals) sigaction(number, &action, &previous_actions[number]);
  void* warm_up[1];
  backtrace(warm_up, 1);  // loads libgcc now: the handler must not allocate
  struct sigaction report{};
  report.sa_handler = print_backtrace;
  report.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &report, nullptr);
}

}  // namespace syncyte::test
