// SPDX-License-Identifier: BSD-3-Clause
// /dev/shm, which UCX uses: too little of it, and files that killed processes have left there. Each test runs in a
// process that sees a /dev/shm of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "../memory/processes.hpp"
#include "fabric/engine.hpp"
#include "fabric/module.hpp"
#include "memory/descriptor.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
namespace fs = std::filesystem;

constexpr int not_allowed = 77;

/// Runs a function in a process whose /dev/shm is a new tmpfs of this size. Its result is empty, or what is wrong.
void with_own_shm(const char* size, const std::function<std::string()>& run) {
  const int status = run_process([&] {
    const bool is_mounted = ::unshare(CLONE_NEWNS) == 0 &&
                            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                            ::mount("tmpfs", "/dev/shm", "tmpfs", 0, (std::string("size=") + size).c_str()) == 0;
    if (!is_mounted) return not_allowed;
    const std::string wrong = run();
    if (!wrong.empty()) std::fprintf(stderr, "wrong: %s\n", wrong.c_str());
    return wrong.empty() ? 0 : 1;
  });
  if (status == not_allowed) GTEST_SKIP() << "needs the right to mount";
  EXPECT_EQ(status, 0);
}

class ignoring_receiver final : public fabric::receiver {
 public:
  void on_message(const fabric::message_header&, std::span<const std::byte>) override { ++messages; }
  void on_broken(std::uint64_t) override {}
  int messages = 0;
};

std::unique_ptr<fabric::transport> open_ucx() {
  std::string reason;
  auto opened = fabric::open_module(fabric::ucx_module, reason);
  if (opened == nullptr) throw std::runtime_error(reason);
  return opened;
}

/// The error of making so many workers; empty if there is none.
std::string error_of_workers(int count) {
  try {
    const auto ucx = open_ucx();
    ignoring_receiver received;
    std::vector<std::unique_ptr<fabric::worker>> made;
    for (int i = 0; i < count; ++i) made.push_back(ucx->make_worker(received));
    const auto way = made.front()->connect(made.back()->address(), 1);
    way->send(std::make_shared<fabric::message>(fabric::message_header{}, 100));
    while (received.messages == 0)
      for (const auto& each : made) each->progress();
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

bool names_memory(const std::string& text) {
  return text.find("/dev/shm") != std::string::npos && text.find("SYNCYTE_UCX_TLS=^posix") != std::string::npos;
}

TEST(small_memory, two_workers_take_what_there_is) {
  with_own_shm("16m", [] { return error_of_workers(2); });
  with_own_shm("16m", [] {
    const std::string error = error_of_workers(3);
    return names_memory(error) ? "" : "the error is " + error;
  });
  with_own_shm("256m", [] { return error_of_workers(17); });
}

TEST(small_memory, without_room_the_error_names_the_setting) {
  with_own_shm("2m", [] {
    const std::string error = error_of_workers(1);
    return names_memory(error) ? "" : "the error is " + error;
  });
  with_own_shm("2m", [] {
    ::setenv("SYNCYTE_UCX_TLS", "^posix", 1);
    return error_of_workers(17);
  });
}

TEST(small_memory, processes_that_look_at_the_same_time_name_the_setting) {
  with_own_shm("8m", [] {  // enough for each alone
    std::vector<pid_t> processes;
    for (int i = 0; i < 5; ++i)
      processes.push_back(start_process([] {
        const std::string error = error_of_workers(1);
        if (!error.empty() && !names_memory(error)) std::fprintf(stderr, "the error is %s\n", error.c_str());
        return error.empty() || names_memory(error) ? 0 : 1;
      }));
    int wrong = 0;
    for (const pid_t process : processes) wrong += wait_process(process);
    return wrong == 0 ? "" : "an error does not name the memory";
  });
}

TEST(small_memory, a_folder_that_cannot_be_written_is_named) {
  with_own_shm("64m", [] {
    ::mount("none", "/dev/shm", nullptr, MS_REMOUNT | MS_RDONLY, nullptr);
    const std::string error = error_of_workers(1);
    const bool says_so = names_memory(error) && error.find("cannot be written (Read-only") != std::string::npos;
    return says_so ? "" : "the error is " + error;
  });
}

TEST(small_memory, threads_share_callers) {
  with_own_shm("24m", [] {
    fabric::engine engine(open_ucx());
    std::deque<fabric::exchange> exchanges;
    for (int i = 0; i < 16; ++i) exchanges.emplace_back(engine);
    return "";
  });
}

memory::descriptor make_file(const fs::path& path, bool is_old = true) {
  memory::descriptor file(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  [[maybe_unused]] const int resized = ::ftruncate(file.number(), 4096);
  const timespec times[2] = {{0, UTIME_OMIT}, {std::time(nullptr) - (is_old ? 60 : 0), 0}};
  ::futimens(file.number(), times);
  return file;
}

TEST(small_memory, abandoned_files_are_removed) {
  with_own_shm("64m", [] {
    const fs::path shm = "/dev/shm";
    make_file(shm / "ucx_shm_posix_1");
    make_file(shm / "ucx_shm_posix_2a");
    make_file(shm / "ucx_shm_posix_new", false);
    make_file(shm / "another");
    make_file(shm / "ucx_shm_posix_nobodys");
    if (::chown((shm / "ucx_shm_posix_nobodys").c_str(), 65534, 65534) != 0) return std::string("chown failed");
    fs::create_symlink(shm / "another", shm / "ucx_shm_posix_link");
    const memory::descriptor open = make_file(shm / "ucx_shm_posix_open");
    memory::descriptor mapped = make_file(shm / "ucx_shm_posix_mapped");
    ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.number(), 0);
    mapped.close();
    open_ucx();
    std::set<std::string> left;
    for (const auto& each : fs::directory_iterator(shm)) left.insert(each.path().filename());
    std::string wrong;
    for (const char* const gone : {"ucx_shm_posix_1", "ucx_shm_posix_2a"})
      if (left.erase(gone) != 0) wrong += std::string(" left: ") + gone;
    return left.size() == 6 ? wrong : wrong + " removed too many";
  });
}

}  // namespace
