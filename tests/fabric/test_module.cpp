#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "fabric/module.hpp"
#include "ucx_world.hpp"

namespace {

using namespace syncyte;

std::vector<void*> handlers() {
  std::vector<void*> all;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    all.push_back(reinterpret_cast<void*>(action.sa_sigaction));
  }
  return all;
}

/// The first bytes of functions of libc that UCX replaces to see memory come and go.
std::string code() {
  std::string bytes;
  for (const char* name : {"mmap", "munmap", "mremap", "madvise", "shmat", "shmdt", "sbrk", "brk", "malloc", "free"}) {
    bytes.append(static_cast<const char*>(dlsym(RTLD_NEXT, name)), 16);
  }
  return bytes;
}

TEST(module, leaves_signals_and_libc_as_they_are) {
  const auto before = handlers();
  const std::string code_before = code();
  test::checking_receiver received;
  const auto worker = test::ucx().make_worker(received);
  EXPECT_EQ(handlers(), before);
  EXPECT_EQ(code(), code_before);
}

TEST(module, a_missing_file_is_a_reason) {
  std::string reason;
  EXPECT_EQ(fabric::open_module("libsyncyte_none.so.0", reason), nullptr);
  EXPECT_NE(reason.find("libsyncyte_none.so.0"), std::string::npos) << reason;
}

TEST(module, a_library_without_the_function_is_a_reason) {
  std::string reason;
  EXPECT_EQ(fabric::open_module("libm.so.6", reason), nullptr);
  EXPECT_NE(reason.find(fabric::open_transport_name), std::string::npos) << reason;
}

}  // namespace
