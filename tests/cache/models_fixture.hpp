// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../memory/processes.hpp"
#include "../memory/status.hpp"
#include "base/buffer.hpp"
#include "cache/model.hpp"
#include "cache/models.hpp"
#include "cache/publication.hpp"

namespace syncyte::test {

inline constexpr std::uint64_t mib = std::uint64_t{1} << 20;

/// Numbers that a model holds, each tensor its own.
inline std::vector<std::int32_t> numbers(std::size_t count, std::int32_t first) {
  std::vector<std::int32_t> result(count);
  for (std::size_t at = 0; at < count; ++at) result[at] = first + static_cast<std::int32_t>(at);
  return result;
}

inline syncyte_buffer_t buffer_of(std::vector<std::int32_t>& values) {
  return base::make_buffer(values.data(), SYNCYTE_INT32, std::vector{static_cast<std::int64_t>(values.size())});
}

/// A buffer without an address.
inline syncyte_buffer_t shape_of(std::size_t count) {
  return base::make_buffer(nullptr, SYNCYTE_INT32, std::vector{static_cast<std::int64_t>(count)});
}

/// Publishes a model of one tensor "x".
inline void publish(const std::shared_ptr<cache::models>& models, const std::string& name,
                    std::vector<std::int32_t> values, bool has_checksums = false) {
  cache::publication made(models, name, has_checksums);
  const syncyte_buffer_t buffer = buffer_of(values);
  made.add("x", &buffer);
  made.finish();
}

inline std::int32_t* data_of(cache::model& model, const std::string& tensor) {
  const auto& found = model.layout().tensors()[model.layout().find(tensor)];
  model.wait(found.group);
  return reinterpret_cast<std::int32_t*>(model.data(found));
}

/// Ids of the processes that have bound a model; {-1} if there is none of this name.
inline std::vector<pid_t> holders_of(cache::models& models, const std::string& name) {
  std::vector<pid_t> result{-1};
  (void)outcome([&] {
    for (std::uint64_t number = 0;; ++number) {
      const cache::model_info& each = models.listed(number);
      if (each.name == name) result = each.holders;
    }
  });
  return result;
}

/// Waits up to 10 s until a condition holds.
template <class Condition>
bool becomes_true(Condition&& condition) {
  for (int look = 0; look < 5000; ++look) {
    if (condition()) return true;
    usleep(2000);
  }
  return false;
}

/// A folder for sockets.
class models_test : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "models-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  cache::rendezvous place(double seconds = 20, memory::nonce nonce = {1, 2}) const {
    return {.name = "models", .folder = folder_.string(), .nonce = nonce, .seconds = seconds};
  }
  std::shared_ptr<cache::models> served(std::uint64_t budget = 0) const {
    auto made = cache::models::create({budget});
    made->serve(place());
    return made;
  }

  std::filesystem::path folder_;
};

}  // namespace syncyte::test
