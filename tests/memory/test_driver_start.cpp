// SPDX-License-Identifier: BSD-3-Clause
// Starting the driver, and its refusals, on the stand-in. Each case runs in a process of its own, because a driver
// starts once in a process.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "memory/device.hpp"
#include "memory/driver/library.hpp"
#include "status.hpp"

namespace {

using namespace syncyte;
using memory::driver::count_devices;
using memory::driver::started;

/// Runs a function in a forked child, and returns its text.
std::string in_child(const std::function<std::string()>& speak) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = speak();
    const bool is_written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(is_written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string result;
  char bytes[512];
  for (ssize_t count = 0; (count = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    result.append(bytes, static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? result : "the child has failed";
}

using settings = std::map<std::string, std::string>;

std::string with(const settings& variables, const std::function<std::string()>& speak) {
  return in_child([&] {
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    return speak();
  });
}

std::string use_device() {
  const auto [status, message] = test::outcome([] {
    void* const data = memory::acquire(100, SYNCYTE_MEMORY_CUDA, 0);
    memory::release(data);
  });
  return status == SYNCYTE_SUCCESS ? "fine" : message;
}

TEST(driver_start, devices_are_counted_without_it) {
  const auto count = [] { return std::to_string(count_devices()); };
  EXPECT_EQ(with({}, count), "2");
  EXPECT_EQ(with({{"STANDIN_DEVICES", "5"}}, count), "5");
  for (const auto& [listed, expected] :
       std::map<std::string, std::string>{{"1", "1"},
                                          {"1, 0", "2"},
                                          {"", "0"},
                                          {"-1", "0"},
                                          {"1,1", "0"},
                                          {"0,7,1", "1"},
                                          {"GPU-53000000-0000-0000-0000-000000000001", "1"},
                                          {"GPU-53", "0"},
                                          {"GPU-9", "0"}})
    EXPECT_EQ(with({{"CUDA_VISIBLE_DEVICES", listed}}, count), expected) << listed;
  const auto count_and_fork = [&] {
    const std::string counted = count();
    return counted + in_child(use_device);
  };
  EXPECT_EQ(with({}, count_and_fork), "2fine");
}

TEST(driver_start, devices_are_counted_by_the_driver_without_nvml) {
  EXPECT_EQ(with({{"STANDIN_NO_NVML", "1"}}, [] { return std::to_string(count_devices()); }), "2");
}

TEST(driver_start, refusals_have_its_words) {
  EXPECT_EQ(with({{"STANDIN_VERSION", "11080"}}, use_device),
            "CUDA: the NVIDIA driver is of CUDA 11.8; expected 12.0 or later");
  EXPECT_EQ(with({{"CUDA_VISIBLE_DEVICES", ""}}, use_device),
            "there is no CUDA device: no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE)");
  EXPECT_EQ(with({{"STANDIN_FAIL", "cuMemAlloc:1"}}, use_device),
            "CUDA: cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (CUDA_ERROR_OUT_OF_MEMORY)");
}

TEST(driver_start, a_child_that_is_forked_later_says_so) {
  const std::string expected = "a process that is forked after its parent has used CUDA cannot use it";
  const auto use_and_fork = [] {
    const std::string own = use_device();
    return own + ", " + in_child(use_device);
  };
  EXPECT_EQ(with({}, use_and_fork), "fine, there is no CUDA device: " + expected);
  const auto start_and_fork = [] {
    started();
    return in_child([] { return test::outcome([] { started(); }).second; });
  };
  EXPECT_EQ(with({}, start_and_fork), expected);
}

TEST(driver_start, an_error_that_stays_names_the_function_that_met_it) {
  const auto meet = [] {
    memory::device_backend& backend = memory::cuda_backend();
    std::string bytes(8, 'a');
    void* const stream = backend.create_stream(0);
    const auto first = test::outcome([&] {
      backend.copy({reinterpret_cast<void*>(backend.allocate(0, 8)), SYNCYTE_MEMORY_CUDA, 0},
                   {static_cast<char*>(backend.allocate(0, 8)) + (std::size_t{1} << 30), SYNCYTE_MEMORY_CUDA, 0}, 8,
                   stream);
      backend.synchronize(0, stream);
    });
    const auto later = test::outcome([&] { backend.allocate(0, 8); });
    return first.second + "\n" + later.second;
  };
  const std::string name = "CUDA_ERROR_ILLEGAL_ADDRESS (CUDA_ERROR_ILLEGAL_ADDRESS)";
  EXPECT_EQ(with({}, meet), "CUDA: cuStreamSynchronize failed: " + name + "\nCUDA: cuMemAlloc failed: " + name +
                                " (first met by cuStreamSynchronize)");
}

}  // namespace
