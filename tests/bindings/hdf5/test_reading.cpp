// SPDX-License-Identifier: BSD-3-Clause
// Keys and data of an open checkpoint.

#include "checkpoint_fixture.hpp"

namespace syncyte::test {
namespace {

constexpr std::int64_t rows = 1000;
constexpr std::int64_t row_bytes = 40;
constexpr std::int64_t block_bytes = 4096;

class open_checkpoint : public hdf5_checkpoint {
 protected:
  void SetUp() override {
    hdf5_checkpoint::SetUp();
    const auto [begin, end] = share(rows, rank_, size_);
    std::vector<tensor> tensors{{"w", SYNCYTE_FLOAT32, {end - begin, 10}, SYNCYTE_ENTRY_SHARDED},
                                {"b", SYNCYTE_BFLOAT16, {}},
                                {"c", SYNCYTE_BOOL, {3, 2}}};
    tensors[0].fill(begin);
    tensors[1].fill();
    tensors[2].fill();
    const auto options = blocks_of(block_bytes, 42);
    ASSERT_OK(save(world(), path_, tensors, &options));
    ASSERT_OK(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file_));
  }

  void TearDown() override {
    EXPECT_OK(syncyte_checkpoint_close(&file_));
    hdf5_checkpoint::TearDown();
  }

  std::int64_t bytes_read() const {
    std::int64_t bytes = -1;
    EXPECT_OK(syncyte_checkpoint_bytes_read(file_, &bytes));
    return bytes;
  }

  syncyte_status_t read(tensor& target, std::int64_t first) {
    const auto buffer = target.buffer();
    return syncyte_checkpoint_read(file_, target.key.c_str(), first, &buffer);
  }

  syncyte_checkpoint_t file_ = nullptr;
};

TEST_F(open_checkpoint, tells_keys_in_order_and_what_they_are) {
  std::int64_t count = 0;
  std::int64_t step = 0;
  ASSERT_OK(syncyte_checkpoint_count(file_, &count, &step));
  EXPECT_EQ(count, 3);
  EXPECT_EQ(step, 42);
  std::string keys;
  for (std::int64_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    ASSERT_OK(syncyte_checkpoint_key(file_, i, &key));
    keys += key;
  }
  EXPECT_EQ(keys, "bcw");
  syncyte_buffer_t global = SYNCYTE_BUFFER_INIT;
  syncyte_entry_kind_t kind = -1;
  ASSERT_OK(syncyte_checkpoint_describe(file_, "w", &global, &kind));
  EXPECT_EQ(kind, SYNCYTE_ENTRY_SHARDED);
  EXPECT_EQ(global.dtype, SYNCYTE_FLOAT32);
  EXPECT_EQ(global.ndim, 2);
  EXPECT_EQ(global.shape[0], rows);
  EXPECT_EQ(global.shape[1], 10);
  EXPECT_EQ(global.data, nullptr);
  ASSERT_OK(syncyte_checkpoint_describe(file_, "b", &global, nullptr));
  EXPECT_EQ(global.ndim, 0);
  global.struct_size = 8;
  EXPECT_EQ(syncyte_checkpoint_describe(file_, "b", &global, nullptr), SYNCYTE_ERR_ARGUMENT);
}

// Each rank reads other rows, and only the blocks that contain them.
TEST_F(open_checkpoint, reads_only_what_is_asked_for_and_the_edges) {
  for (const auto& [first, count] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, rows}, {rank_, 1}, {100 + rank_, 300}, {rows - 1, 1}, {500, 0}, {rows, 0}, {0, 128}, {512, 256}}) {
    tensor part("w", SYNCYTE_FLOAT32, {count, 10});
    const std::int64_t before = bytes_read();
    ASSERT_OK(read(part, first)) << first << " " << count;
    EXPECT_TRUE(part.filled(first));
    const std::int64_t begin = first * row_bytes;
    const std::int64_t end = begin + count * row_bytes;
    const std::int64_t whole_begin = begin / block_bytes * block_bytes;
    const std::int64_t whole_end = std::min((end + block_bytes - 1) / block_bytes * block_bytes, rows * row_bytes);
    EXPECT_EQ(bytes_read() - before, count == 0 ? 0 : whole_end - whole_begin);
    EXPECT_LE(bytes_read() - before, count * row_bytes + 2 * (block_bytes - 1));
  }
}

TEST_F(open_checkpoint, reads_a_scalar_and_a_row) {
  tensor scalar("b", SYNCYTE_BFLOAT16, {});
  ASSERT_OK(read(scalar, 0));
  EXPECT_TRUE(scalar.filled());
  tensor row("c", SYNCYTE_BOOL, {1, 2});
  ASSERT_OK(read(row, 2));
  EXPECT_TRUE(row.filled(2));
}

TEST_F(open_checkpoint, refuses_what_does_not_fit) {
  tensor unknown("nope", SYNCYTE_FLOAT32, {1, 10});
  EXPECT_FAILS(read(unknown, 0), SYNCYTE_ERR_NOT_FOUND, "nope");
  EXPECT_NE(std::string(syncyte_last_error()).find(path_), std::string::npos);
  tensor typed("w", SYNCYTE_FLOAT64, {1, 10});
  EXPECT_FAILS(read(typed, 0), SYNCYTE_ERR_TYPE, "float64");
  tensor narrow("w", SYNCYTE_FLOAT32, {1, 9});
  EXPECT_FAILS(read(narrow, 0), SYNCYTE_ERR_SHAPE, "(1, 9)");
  tensor flat("w", SYNCYTE_FLOAT32, {10});
  EXPECT_FAILS(read(flat, 0), SYNCYTE_ERR_SHAPE, "(10)");
  tensor row("w", SYNCYTE_FLOAT32, {2, 10});
  EXPECT_FAILS(read(row, rows - 1), SYNCYTE_ERR_INDEX, "999");
  EXPECT_FAILS(read(row, -1), SYNCYTE_ERR_INDEX, "-1");
  EXPECT_FAILS(read(row, std::numeric_limits<std::int64_t>::max()), SYNCYTE_ERR_INDEX, "first_row");
  tensor scalar("b", SYNCYTE_BFLOAT16, {});
  EXPECT_FAILS(read(scalar, 1), SYNCYTE_ERR_INDEX, "first_row");
  auto buffer = row.buffer();
  buffer.strides[0] = 80;
  EXPECT_FAILS(syncyte_checkpoint_read(file_, "w", 0, &buffer), SYNCYTE_ERR_SHAPE, "contiguous");
  buffer = row.buffer();
  buffer.data = nullptr;
  EXPECT_FAILS(syncyte_checkpoint_read(file_, "w", 0, &buffer), SYNCYTE_ERR_ARGUMENT, "null");
  buffer = row.buffer();
  buffer.memory = SYNCYTE_MEMORY_CUDA;
  EXPECT_FAILS(syncyte_checkpoint_read(file_, "w", 0, &buffer), SYNCYTE_ERR_UNSUPPORTED, "memory");
  EXPECT_FAILS(syncyte_checkpoint_read(file_, "w", 0, nullptr), SYNCYTE_ERR_ARGUMENT, "target");
  EXPECT_FAILS(syncyte_checkpoint_read(file_, nullptr, 0, &buffer), SYNCYTE_ERR_ARGUMENT, "key");
  const char* key = nullptr;
  EXPECT_FAILS(syncyte_checkpoint_key(file_, 3, &key), SYNCYTE_ERR_INDEX, "3");
  EXPECT_FAILS(syncyte_checkpoint_key(file_, -1, &key), SYNCYTE_ERR_INDEX, "-1");
  EXPECT_EQ(bytes_read(), 0);
}

TEST_F(open_checkpoint, closed_and_null_handles_are_errors) {
  syncyte_checkpoint_t copy = file_;
  EXPECT_OK(syncyte_checkpoint_close(&file_));
  EXPECT_EQ(file_, nullptr);
  std::int64_t number = 5;
  EXPECT_FAILS(syncyte_checkpoint_bytes_read(copy, &number), SYNCYTE_ERR_HANDLE, "closed");
  EXPECT_FAILS(syncyte_checkpoint_count(nullptr, &number, nullptr), SYNCYTE_ERR_HANDLE, "null");
  EXPECT_FAILS(syncyte_checkpoint_close(&copy), SYNCYTE_ERR_HANDLE, "closed");
  EXPECT_EQ(number, 5);
  EXPECT_OK(syncyte_checkpoint_close(&file_));  // null is allowed
  EXPECT_FAILS(syncyte_checkpoint_close(nullptr), SYNCYTE_ERR_ARGUMENT, "null");
}

// An open checkpoint still reads the old file after a save has replaced it.
TEST_F(open_checkpoint, outlives_its_replacement) {
  std::vector<tensor> tensors{{"w", SYNCYTE_INT8, {2}}};
  ASSERT_OK(save(world(), path_, tensors));
  tensor whole("w", SYNCYTE_FLOAT32, {rows, 10});
  ASSERT_OK(read(whole, 0));
  EXPECT_TRUE(whole.filled());
}

}  // namespace
}  // namespace syncyte::test
