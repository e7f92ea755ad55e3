// SPDX-License-Identifier: BSD-3-Clause
// Save on some ranks, load on others.

#include <chrono>
#include <thread>

#include "checkpoint_fixture.hpp"
#include "syncyte/element_types.h"

namespace syncyte::test {
namespace {

#define SYNCYTE_TEST_DTYPE(constant, ...) SYNCYTE_##constant,
constexpr syncyte_dtype_t all_dtypes[] = {SYNCYTE_ELEMENT_TYPES(SYNCYTE_TEST_DTYPE)};
#undef SYNCYTE_TEST_DTYPE

constexpr std::int64_t table_rows = 1237;

// A rank's parts of global tensors, which are the same on any number of ranks.
std::vector<tensor> part_of(int rank, int size) {
  const auto [begin, end] = share(table_rows, rank, size);
  std::vector<tensor> tensors;
  tensors.emplace_back("table", SYNCYTE_FLOAT32, std::vector<std::int64_t>{end - begin, 7}, SYNCYTE_ENTRY_SHARDED);
  tensors.emplace_back("bias", SYNCYTE_FLOAT64, std::vector<std::int64_t>{33});
  tensors.emplace_back("a scalar", SYNCYTE_INT64, std::vector<std::int64_t>{});
  tensors.emplace_back("nobody has rows", SYNCYTE_FLOAT32, std::vector<std::int64_t>{0, 5}, SYNCYTE_ENTRY_SHARDED);
  tensors.emplace_back("no columns", SYNCYTE_INT8, std::vector<std::int64_t>{end - begin, 0}, SYNCYTE_ENTRY_SHARDED);
  tensors.emplace_back("deep/er.weight%", SYNCYTE_COMPLEX64, std::vector<std::int64_t>{end - begin, 1, 2, 3},
                       SYNCYTE_ENTRY_SHARDED);
  return tensors;
}

std::int64_t first_row(const tensor& one, int rank, int size) {
  return one.kind == SYNCYTE_ENTRY_SHARDED && one.shape[0] > 0 ? share(table_rows, rank, size).first : 0;
}

class across_ranks : public hdf5_checkpoint {
 protected:
  void save_on(int count) {
    const communicator part(communicator::first(world(), count));
    if (part.get() == nullptr) return;
    auto tensors = part_of(rank_, count);
    for (tensor& one : tensors) one.fill(first_row(one, rank_, count));
    const auto options = blocks_of(4096, count);
    EXPECT_OK(save(part.get(), path_, tensors, &options));
  }

  void load_on(int count) {
    const communicator part(communicator::first(world(), count));
    if (part.get() == nullptr) return;
    auto tensors = part_of(rank_, count);
    EXPECT_OK(load(part.get(), path_, tensors));
    for (const tensor& one : tensors) EXPECT_TRUE(one.filled(first_row(one, rank_, count))) << count << " ranks";
  }
};

TEST_F(across_ranks, any_number_loads_what_any_number_saved) {
  for (const int writers : {1, 2, 3, 5}) {
    if (writers > size_) break;
    save_on(writers);
    for (const int readers : {1, 2, 3, 5}) {
      if (readers > size_) break;
      syncyte_comm_barrier(world());
      load_on(readers);
    }
    syncyte_comm_barrier(world());
  }
}

TEST_F(hdf5_checkpoint, keeps_every_element_type) {
  std::vector<tensor> tensors;
  for (const syncyte_dtype_t dtype : all_dtypes) {
    tensors.emplace_back(syncyte_dtype_name(dtype), dtype, std::vector<std::int64_t>{13, 3});
    tensors.emplace_back(std::string("sharded ") + syncyte_dtype_name(dtype), dtype,
                         std::vector<std::int64_t>{rank_ + 1, 3}, SYNCYTE_ENTRY_SHARDED);
  }
  const std::int64_t before = rank_ * (rank_ + 1) / 2;
  for (tensor& one : tensors) one.fill(one.kind == SYNCYTE_ENTRY_SHARDED ? before : 0);
  ASSERT_OK(save(world(), path_, tensors));
  for (tensor& one : tensors) std::fill(one.bytes.begin(), one.bytes.end(), std::uint8_t{0xEE});
  ASSERT_OK(load(world(), path_, tensors));
  for (const tensor& one : tensors) EXPECT_TRUE(one.filled(one.kind == SYNCYTE_ENTRY_SHARDED ? before : 0));
}

TEST_F(hdf5_checkpoint, replicated_is_rank_zeros) {
  std::vector<tensor> tensors{{"same", SYNCYTE_UINT8, {5000}}};
  tensors[0].fill();
  if (rank_ != 0) std::fill(tensors[0].bytes.begin(), tensors[0].bytes.end(), std::uint8_t{7});
  ASSERT_OK(save(world(), path_, tensors));
  ASSERT_OK(load(world(), path_, tensors));
  EXPECT_TRUE(tensors[0].filled());
}

TEST_F(hdf5_checkpoint, loads_sharded_what_was_replicated_and_back) {
  std::vector<tensor> whole{{"t", SYNCYTE_INT32, {60, 4}}};
  whole[0].fill();
  ASSERT_OK(save(world(), path_, whole));
  const auto [begin, end] = share(60, rank_, size_);
  std::vector<tensor> part{{"t", SYNCYTE_INT32, {end - begin, 4}, SYNCYTE_ENTRY_SHARDED}};
  ASSERT_OK(load(world(), path_, part));
  EXPECT_TRUE(part[0].filled(begin));
  ASSERT_OK(save(world(), path_, part));
  std::fill(whole[0].bytes.begin(), whole[0].bytes.end(), std::uint8_t{0});
  ASSERT_OK(load(world(), path_, whole));
  EXPECT_TRUE(whole[0].filled());
}

TEST_F(hdf5_checkpoint, no_entries_at_all) {
  std::vector<tensor> none;
  const auto options = blocks_of(0, -17);
  ASSERT_OK(save(world(), path_, none, &options));
  syncyte_checkpoint_t file = nullptr;
  ASSERT_OK(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file));
  std::int64_t count = -1;
  std::int64_t step = 0;
  EXPECT_OK(syncyte_checkpoint_count(file, &count, &step));
  EXPECT_EQ(count, 0);
  EXPECT_EQ(step, -17);
  EXPECT_OK(syncyte_checkpoint_close(&file));
  EXPECT_EQ(file, nullptr);
}

TEST_F(hdf5_checkpoint, a_thousand_keys) {
  std::vector<tensor> tensors;
  for (int i = 0; i < 1000; ++i)
    tensors.emplace_back("layer." + std::to_string(i) + ".weight", SYNCYTE_FLOAT32, std::vector<std::int64_t>{3, i % 7},
                         i % 2 == 0 ? SYNCYTE_ENTRY_SHARDED : SYNCYTE_ENTRY_REPLICATED);
  for (tensor& one : tensors) one.fill(one.kind == SYNCYTE_ENTRY_SHARDED ? 3 * rank_ : 0);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_OK(save(world(), path_, tensors));
  for (tensor& one : tensors) std::fill(one.bytes.begin(), one.bytes.end(), std::uint8_t{0});
  ASSERT_OK(load(world(), path_, tensors));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (const tensor& one : tensors) EXPECT_TRUE(one.filled(one.kind == SYNCYTE_ENTRY_SHARDED ? 3 * rank_ : 0));
  EXPECT_LT(seconds.count(), 8.0);  // usually 0.3 s, but test machines are busy
}

TEST_F(hdf5_checkpoint, path_and_keys_may_hold_any_text) {
  path_ = "a path with \xC3\xA4 and %s.h5";
  std::vector<tensor> tensors;
  for (const std::string key :
       {".", "..", "/", "//a/./b", "%2F", "%", "\xE6\x97\xA5", "\xFF\xFE not UTF-8", " ", "new\nline"})
    tensors.emplace_back(key, SYNCYTE_INT16, std::vector<std::int64_t>{11});
  tensors.emplace_back(std::string(1023, '/'), SYNCYTE_INT16, std::vector<std::int64_t>{11});
  for (tensor& one : tensors) one.fill();
  ASSERT_OK(save(world(), path_, tensors));
  for (tensor& one : tensors) std::fill(one.bytes.begin(), one.bytes.end(), std::uint8_t{0});
  ASSERT_OK(load(world(), path_, tensors));
  for (const tensor& one : tensors) EXPECT_TRUE(one.filled());
}

TEST_F(hdf5_checkpoint, threads_save_on_communicators_of_their_own) {
  std::vector<syncyte_comm_t> comms(3);
  for (syncyte_comm_t& comm : comms) ASSERT_OK(syncyte_comm_dup(world(), nullptr, &comm));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < comms.size(); ++i)
    threads.emplace_back([this, comm = comms[i], path = std::to_string(i) + path_] {
      std::vector<tensor> tensors{{path, SYNCYTE_INT32, {rank_ + 100, 5}, SYNCYTE_ENTRY_SHARDED},
                                  {"b", SYNCYTE_COMPLEX64, {7}}};
      const std::int64_t before = 100 * rank_ + rank_ * (rank_ - 1) / 2;
      for (int round = 0; round < 5; ++round) {
        tensors[0].fill(before);
        EXPECT_OK(save(comm, path, tensors));
        std::fill(tensors[0].bytes.begin(), tensors[0].bytes.end(), std::uint8_t{0});
        EXPECT_OK(load(comm, path, tensors));
        EXPECT_TRUE(tensors[0].filled(before));
      }
    });
  for (std::thread& one : threads) one.join();
  for (syncyte_comm_t& comm : comms) EXPECT_OK(syncyte_comm_destroy(&comm));
}

// An attribute with more than 64 KiB of checksums, and blocks that several ranks write.
TEST_F(hdf5_checkpoint, many_blocks_in_one_dataset) {
  const std::int64_t rows = 70000 / size_;
  std::vector<tensor> tensors{{"big", SYNCYTE_UINT8, {rows, 1000}, SYNCYTE_ENTRY_SHARDED}};
  tensors[0].fill(rank_ * rows);
  const auto options = blocks_of(4096);
  ASSERT_OK(save(world(), path_, tensors, &options));
  std::fill(tensors[0].bytes.begin(), tensors[0].bytes.end(), std::uint8_t{0});
  ASSERT_OK(load(world(), path_, tensors));
  EXPECT_TRUE(tensors[0].filled(rank_ * rows));
  syncyte_comm_barrier(world());
  if (rank_ == 0) unlink(path_.c_str());
}

}  // namespace
}  // namespace syncyte::test
