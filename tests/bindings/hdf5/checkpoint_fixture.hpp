// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "syncyte.h"
#include "syncyte/checkpoint.h"

namespace syncyte::test {

/// A communicator that the destructor destroys.
class communicator {
 public:
  communicator() = default;
  explicit communicator(syncyte_comm_t handle) : handle_(handle) {}
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator() { syncyte_comm_destroy(&handle_); }

  static syncyte_comm_t world() {
    EXPECT_EQ(syncyte_init(nullptr), SYNCYTE_SUCCESS) << syncyte_last_error();
    syncyte_comm_t handle = nullptr;
    EXPECT_EQ(syncyte_comm_world(&handle), SYNCYTE_SUCCESS) << syncyte_last_error();
    return handle;
  }

  /// Communicator of the first `count` ranks; null on the others.
  static syncyte_comm_t first(syncyte_comm_t of, int count) {
    std::int32_t rank = 0;
    syncyte_comm_rank(of, &rank);
    syncyte_comm_t handle = nullptr;
    EXPECT_EQ(syncyte_comm_split(of, rank < count ? 0 : -1, rank, nullptr, &handle), SYNCYTE_SUCCESS)
        << syncyte_last_error();
    return handle;
  }

  syncyte_comm_t get() const { return handle_; }

 private:
  syncyte_comm_t handle_ = nullptr;
};

/// A tensor of this rank, in memory of its own.
struct tensor {
  std::string key;
  syncyte_dtype_t dtype;
  std::vector<std::int64_t> shape;
  syncyte_entry_kind_t kind;
  std::vector<unsigned char> bytes;
  syncyte_buffer_t described{};  ///< for entry()

  tensor(std::string name, syncyte_dtype_t type, std::vector<std::int64_t> extents,
         syncyte_entry_kind_t how = SYNCYTE_ENTRY_REPLICATED)
      : key(std::move(name)), dtype(type), shape(std::move(extents)), kind(how) {
    std::int64_t size = 0;
    syncyte_dtype_size(dtype, &size);
    for (const std::int64_t extent : shape) size *= extent;
    bytes.resize(static_cast<std::size_t>(size));
  }

  std::size_t row_bytes() const {
    std::int64_t size = 0;
    syncyte_dtype_size(dtype, &size);
    for (std::size_t d = 1; d < shape.size(); ++d) size *= shape[d];
    return static_cast<std::size_t>(size);
  }

  syncyte_buffer_t buffer() {
    syncyte_buffer_t result{};
    EXPECT_EQ(syncyte_buffer_init(bytes.data(), dtype, static_cast<std::int32_t>(shape.size()), shape.data(), &result),
              SYNCYTE_SUCCESS)
        << syncyte_last_error();
    return result;
  }

  /// Valid while the tensor stays where it is.
  syncyte_checkpoint_entry_t entry() {
    described = buffer();
    return {sizeof(syncyte_checkpoint_entry_t), key.c_str(), &described, kind, 0};
  }

  /// Fills the tensor with bytes that depend only on the key and on the place in the global tensor.
  void fill(std::int64_t first_row = 0) {
    const std::size_t begin = static_cast<std::size_t>(first_row) * row_bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = expected(begin + i);
  }

  unsigned char expected(std::size_t place) const {
    std::uint64_t mixed = (place + 1) * 0x9E3779B97F4A7C15U ^ std::hash<std::string>{}(key);
    mixed ^= mixed >> 29;
    const auto value = static_cast<unsigned char>(mixed * 0xBF58476D1CE4E5B9U >> 56);
    return dtype == SYNCYTE_BOOL ? value & 1U : value;
  }

  /// True if every byte is the one that fill() writes.
  ::testing::AssertionResult filled(std::int64_t first_row = 0) const {
    const std::size_t begin = static_cast<std::size_t>(first_row) * row_bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] != expected(begin + i))
        return ::testing::AssertionFailure() << "key '" << key << "': byte " << begin + i << " differs";
    return ::testing::AssertionSuccess();
  }
};

inline std::vector<syncyte_checkpoint_entry_t> entries_of(std::vector<tensor>& tensors) {
  std::vector<syncyte_checkpoint_entry_t> entries;
  for (tensor& one : tensors) entries.push_back(one.entry());
  return entries;
}

inline syncyte_status_t save(syncyte_comm_t comm, const std::string& path, std::vector<tensor>& tensors,
                             const syncyte_checkpoint_options_t* options = nullptr) {
  auto entries = entries_of(tensors);
  return syncyte_checkpoint_save(comm, path.c_str(), static_cast<std::int64_t>(entries.size()), entries.data(),
                                 options);
}

inline syncyte_status_t load(syncyte_comm_t comm, const std::string& path, std::vector<tensor>& tensors) {
  auto entries = entries_of(tensors);
  return syncyte_checkpoint_load(comm, path.c_str(), static_cast<std::int64_t>(entries.size()), entries.data(),
                                 nullptr);
}

inline syncyte_checkpoint_options_t blocks_of(std::size_t bytes, std::int64_t step = 0) {
  return {sizeof(syncyte_checkpoint_options_t), static_cast<std::int64_t>(bytes), step, nullptr};
}

/// Begin and end of an uneven share of `rows` rows: rank r's share is proportional to r % 3, so some ranks have none.
inline std::pair<std::int64_t, std::int64_t> share(std::int64_t rows, int rank, int size) {
  std::int64_t total = 0;
  for (int r = 0; r < size; ++r) total += r % 3;
  if (total == 0) return rank == 0 ? std::pair{std::int64_t{0}, rows} : std::pair{rows, rows};
  std::int64_t before = 0;
  for (int r = 0; r < rank; ++r) before += r % 3;
  return {rows * before / total, rows * (before + rank % 3) / total};
}

/// Fixture on the communicator of all ranks; each test writes the file <name of the test>.h5.
class hdf5_checkpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    syncyte_comm_rank(world(), &rank_);
    syncyte_comm_size(world(), &size_);
    path_ = std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".h5";
  }

  void TearDown() override { syncyte_comm_barrier(world()); }

  syncyte_comm_t world() const { return world_.get(); }

  communicator world_{communicator::world()};
  std::int32_t rank_ = 0;
  std::int32_t size_ = 0;
  std::string path_;
};

#define EXPECT_OK(call) EXPECT_EQ((call), SYNCYTE_SUCCESS) << syncyte_last_error()
#define ASSERT_OK(call) ASSERT_EQ((call), SYNCYTE_SUCCESS) << syncyte_last_error()

/// Expects that the call fails with this status, and that the message contains the text.
#define EXPECT_FAILS(call, status, text)                                                                \
  do {                                                                                                  \
    EXPECT_EQ((call), (status)) << syncyte_last_error();                                                \
    EXPECT_NE(std::string(syncyte_last_error()).find(text), std::string::npos) << syncyte_last_error(); \
  } while (false)

}  // namespace syncyte::test
