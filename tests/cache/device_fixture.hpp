// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Regions on devices in test programs. Processes use the driver after they are forked only: the test's own process
// never does.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "../memory/processes.hpp"
#include "cache/region.hpp"
#include "cache/rendezvous.hpp"
#include "memory/device.hpp"
#include "no_more_files.hpp"

namespace syncyte::test {

constexpr std::uint64_t device_page = std::uint64_t{2} << 20;

/// Runs a function in a forked process; returns 0 if none of its expectations has failed.
template <class Function>
pid_t start_checks(Function&& function) {
  return start_process([&] {
    function();
    return testing::Test::HasFailure() ? 1 : 0;
  });
}
template <class Function>
int run_checks(Function&& function) {
  return wait_process(start_checks(std::forward<Function>(function)));
}

/// Writes bytes of a value to device memory, complete on return.
inline void fill(void* data, int device, std::size_t bytes, char value) {
  std::vector<char> values(bytes, value);
  memory::copy_now({data, SYNCYTE_MEMORY_CUDA, device}, {values.data(), SYNCYTE_MEMORY_HOST, 0}, bytes);
}

/// Bytes of device memory.
inline std::string read(void* data, int device, std::size_t bytes) {
  std::string result(bytes, '?');
  memory::copy_now({result.data(), SYNCYTE_MEMORY_HOST, 0}, {data, SYNCYTE_MEMORY_CUDA, device}, bytes);
  return result;
}

/// Ranges, memory and mappings that this process has not given back to the stand-in; 0 with another driver.
inline std::size_t held_by_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  using counter = void (*)(std::size_t*, std::size_t*, std::size_t*);
  const auto count = driver == nullptr ? nullptr : reinterpret_cast<counter>(dlsym(driver, "standin_count"));
  std::size_t reserved = 0, allocated = 0, mapped = 0;
  if (count != nullptr) count(&reserved, &allocated, &mapped);
  return reserved + allocated + mapped;
}

/// A folder for sockets.
class device_fixture : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cache-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  cache::rendezvous place(double seconds = 20) const {
    return {.name = "", .folder = folder_.string(), .nonce = {3, 4}, .seconds = seconds};
  }
  static std::shared_ptr<cache::region> allocate(cache::region_sizes sizes, int device = 0) {
    return cache::region::allocate(sizes, SYNCYTE_MEMORY_CUDA, device);
  }

  std::filesystem::path folder_;
};

}  // namespace syncyte::test
