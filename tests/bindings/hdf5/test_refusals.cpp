// SPDX-License-Identifier: BSD-3-Clause
// Wrong use: the same error on all ranks, nothing written.

#include <filesystem>
#include <functional>

#include "checkpoint_fixture.hpp"

namespace syncyte::test {
namespace {

class refusal : public hdf5_checkpoint {
 protected:
  void SetUp() override {
    hdf5_checkpoint::SetUp();
    tensors_.emplace_back("first", SYNCYTE_FLOAT32, std::vector<std::int64_t>{4, 6});
    tensors_.emplace_back("second", SYNCYTE_INT32, std::vector<std::int64_t>{rank_ + 1, 3}, SYNCYTE_ENTRY_SHARDED);
    for (tensor& one : tensors_) one.fill();
    entries_ = entries_of(tensors_);
  }

  bool last() const { return rank_ == size_ - 1; }

  /// The buffer of an entry, which is its tensor's.
  static syncyte_buffer_t& described(syncyte_checkpoint_entry_t& entry) {
    return const_cast<syncyte_buffer_t&>(*entry.data);
  }

  syncyte_status_t save_entries(const syncyte_checkpoint_options_t* options = nullptr) {
    return syncyte_checkpoint_save(world(), path_.c_str(), static_cast<std::int64_t>(entries_.size()), entries_.data(),
                                   options);
  }

  // Changes the second entry on the last rank; all ranks must get the error.
  void expect_refused(const std::function<void(syncyte_checkpoint_entry_t&)>& change, syncyte_status_t status,
                      const std::string& text) {
    entries_ = entries_of(tensors_);
    if (last()) change(entries_[1]);
    EXPECT_FAILS(save_entries(), status, text);
    EXPECT_FALSE(std::filesystem::exists(path_));
  }

  // Like expect_refused(), but each value is valid and only the difference between ranks is an error. The message says
  // which ranks have which value.
  void expect_mismatch(const std::function<void(syncyte_checkpoint_entry_t&)>& change, const std::string& what,
                       const std::string& others, const std::string& mine) {
    if (size_ > 1) expect_refused(change, SYNCYTE_ERR_MISMATCH, on_last("save", what, others, mine));
  }

  // Message about texts: each rank compares its text with rank 0's, and only the last rank's differs.
  std::string on_last(const std::string& function, const std::string& what, const std::string& others,
                      const std::string& mine) const {
    return "checkpoint_" + function + " failed on rank " + std::to_string(size_ - 1) + " of world: " + what + " is " +
           mine + ", but " + others + " on rank 0";
  }

  // Message about numbers: "a on ranks 0, 1, but b on rank 2". The larger group is first; of equal groups, rank 0's.
  std::string on_ranks(const std::string& others, const std::string& mine) const {
    return others + " on " + from_to(0, size_ - 2) + ", but " + mine + " on rank " + std::to_string(size_ - 1);
  }

  // Consecutive ranks as messages name them: "rank 0", "ranks 0, 1", "ranks 0-2".
  static std::string from_to(int first, int last) {
    if (last == first) return "rank " + std::to_string(first);
    return "ranks " + std::to_string(first) + (last == first + 1 ? ", " : "-") + std::to_string(last);
  }

  std::vector<tensor> tensors_;
  std::vector<syncyte_checkpoint_entry_t> entries_;
};

TEST_F(refusal, has_the_fields_of_the_wrong_argument_on_all_ranks) {
  expect_refused([](auto& one) { one.kind = 2; }, SYNCYTE_ERR_ARGUMENT, "key 'second': kind is 2; expected 0");
  syncyte_error_fields_t fields{};
  fields.struct_size = sizeof fields;
  ASSERT_EQ(syncyte_last_error_fields(&fields), SYNCYTE_SUCCESS);
  EXPECT_STREQ(fields.operation, "checkpoint_save");
  EXPECT_STREQ(fields.object, "key 'second'");
  EXPECT_STREQ(fields.argument, "kind");
  EXPECT_STREQ(fields.value, "2");
  EXPECT_STREQ(fields.expected, "0 (replicated) or 1 (sharded)");
  EXPECT_EQ(fields.rank, size_ - 1);
}

TEST_F(refusal, of_an_entry_that_is_wrong_on_one_rank) {
  expect_refused([](auto& one) { described(one).data = nullptr; }, SYNCYTE_ERR_ARGUMENT, "'second'");
  expect_refused([](auto& one) { described(one).dtype = 77; }, SYNCYTE_ERR_TYPE, "77");
  expect_refused([](auto& one) { described(one).ndim = 9; }, SYNCYTE_ERR_SHAPE, "ndim");
  expect_refused([](auto& one) { described(one).shape[1] = -3; }, SYNCYTE_ERR_SHAPE, "-3");
  expect_refused([](auto& one) { described(one).shape[0] = std::int64_t{1} << 62; }, SYNCYTE_ERR_SHAPE, "2^63");
  expect_refused([](auto& one) { described(one).strides[1] = 8; }, SYNCYTE_ERR_SHAPE, "contiguous");
  expect_refused([](auto& one) { described(one).memory = SYNCYTE_MEMORY_CUDA; }, SYNCYTE_ERR_UNSUPPORTED, "memory");
  expect_refused([](auto& one) { described(one).struct_size = 8; }, SYNCYTE_ERR_ARGUMENT, "struct_size");
  expect_refused([](auto& one) { one.struct_size = 0; }, SYNCYTE_ERR_ARGUMENT, "struct_size");
  expect_refused([](auto& one) { one.struct_size += 4; }, SYNCYTE_ERR_ARGUMENT, "entries[1]->struct_size");
  expect_refused([](auto& one) { one.reserved = 1; }, SYNCYTE_ERR_ARGUMENT, "entries[1]->reserved");
  expect_refused([](auto& one) { one.data = nullptr; }, SYNCYTE_ERR_ARGUMENT, "data of key 'second'");
  expect_refused([](auto& one) { one.kind = 2; }, SYNCYTE_ERR_ARGUMENT, "kind");
  expect_refused([](auto& one) { one.key = nullptr; }, SYNCYTE_ERR_ARGUMENT, "null");
  expect_refused([](auto& one) { one.key = ""; }, SYNCYTE_ERR_ARGUMENT, "1 to 1023");
  const std::string long_key(1024, 'k');
  expect_refused([&](auto& one) { one.key = long_key.c_str(); }, SYNCYTE_ERR_ARGUMENT, "1 to 1023");
  expect_refused([](auto& one) { one.key = "first"; }, SYNCYTE_ERR_ARGUMENT, "twice");
  expect_refused([](auto& one) { described(one).ndim = 0; }, SYNCYTE_ERR_SHAPE, "no dimensions");
}

TEST_F(refusal, of_constant_memory_that_would_be_written) {
  ASSERT_OK(save_entries());
  syncyte_buffer_t target = *entries_[1].data;
  target.read_only = 1;
  syncyte_checkpoint_t file = nullptr;
  ASSERT_OK(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file));
  EXPECT_FAILS(syncyte_checkpoint_read(file, "second", 0, &target), SYNCYTE_ERR_ARGUMENT, "target: read_only is 1");
  ASSERT_OK(syncyte_checkpoint_close(&file));
  entries_[1].data = &target;
  EXPECT_FAILS(syncyte_checkpoint_load(world(), path_.c_str(), 2, entries_.data(), nullptr), SYNCYTE_ERR_ARGUMENT,
               "data of key 'second': read_only is 1");
  ASSERT_OK(save_entries());  // which only reads
}

// Structs of a caller with later headers: members that this library does not know are refused if they are set.
TEST_F(refusal, of_members_of_a_later_version) {
  struct {
    syncyte_checkpoint_entry_t known;
    std::int64_t later;
  } entries[2] = {{entries_[0], 0}, {entries_[1], 0}};
  struct {
    syncyte_checkpoint_options_t known;
    std::int64_t later;
  } options{{sizeof options, 0, 7, nullptr}, 0};
  for (auto& one : entries) one.known.struct_size = sizeof one;
  const auto save_them = [&] {
    return syncyte_checkpoint_save(world(), path_.c_str(), 2, &entries[0].known, &options.known);
  };
  ASSERT_OK(save_them());
  options.later = 1;
  EXPECT_FAILS(save_them(), SYNCYTE_ERR_VERSION, "options has 40 bytes, and its byte 32 is set");
  options.later = 0;
  entries[1].later = 1;
  EXPECT_FAILS(save_them(), SYNCYTE_ERR_VERSION, "entries[1] has 40 bytes, and its byte 32 is set");
  entries[1].later = 0;
  entries[1].known.struct_size = sizeof entries[1].known;
  EXPECT_FAILS(save_them(), SYNCYTE_ERR_ARGUMENT, "entries[1]: struct_size is 32; expected 40, as in entries[0]");
  options.known.struct_size = 8;
  EXPECT_FAILS(save_them(), SYNCYTE_ERR_ARGUMENT, "options->struct_size is 8; expected 32");
}

TEST_F(refusal, of_entries_that_differ_between_ranks) {
  expect_mismatch([](auto& one) { described(one).shape[1] = 2, described(one).strides[0] = 8; }, "'second': shape",
                  "(rows, 3)", "(rows, 2)");
  expect_mismatch([](auto& one) { described(one).dtype = SYNCYTE_FLOAT32; }, "'second': dtype", "int32", "float32");
  expect_mismatch([](auto& one) { one.kind = SYNCYTE_ENTRY_REPLICATED; }, "'second': kind", "sharded", "replicated");
  expect_mismatch([](auto& one) { one.key = "second "; }, "entry 1", "'second'", "'second '");
  const std::string long_key(1023, 'k');
  expect_mismatch([&](auto& one) { one.key = long_key.c_str(); }, "entry 1", "'second'", "'" + long_key + "'");
}

TEST_F(refusal, of_several_entries_that_differ_between_ranks) {
  if (size_ == 1) GTEST_SKIP() << "one rank agrees with itself";
  for (int i = 0; i < 50; ++i) {
    tensors_.emplace_back("entry" + std::to_string(i), SYNCYTE_INT8, std::vector<std::int64_t>{2});
    if (last() && i % 10 == 7) tensors_.back().dtype = SYNCYTE_UINT8;
  }
  EXPECT_FAILS(save(world(), path_, tensors_), SYNCYTE_ERR_MISMATCH,
               on_last("save", "'entry7': dtype", "int8", "uint8") + "; 5 entries differ");
  EXPECT_FAILS(load(world(), path_, tensors_), SYNCYTE_ERR_MISMATCH,
               on_last("load", "'entry7': dtype", "int8", "uint8") + "; 5 entries differ");
}

TEST_F(refusal, of_an_entry_that_differs_on_rank0_names_all_other_ranks) {
  if (size_ == 1) GTEST_SKIP() << "one rank agrees with itself";
  if (rank_ == 0) described(entries_[1]).dtype = SYNCYTE_FLOAT32;
  const std::string others = size_ > 2 ? " (failed on " + from_to(2, size_ - 1) + " too)" : "";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_MISMATCH,
               "checkpoint_save failed on rank 1 of world: 'second': dtype is int32, but float32 on rank 0" + others);
}

TEST_F(refusal, of_arguments_that_differ_between_ranks) {
  if (size_ == 1) GTEST_SKIP() << "one rank agrees with itself";
  auto options = blocks_of(4096, 3);
  if (last()) options.step = 4;
  EXPECT_FAILS(save_entries(&options), SYNCYTE_ERR_MISMATCH, "step is " + on_ranks("3", "4"));
  options = blocks_of(last() ? 8192 : 4096);
  EXPECT_FAILS(save_entries(&options), SYNCYTE_ERR_MISMATCH, "block_bytes is " + on_ranks("4096", "8192"));
  const std::string path = path_;
  if (last()) path_ += "x";
  const auto paths = [&](const char* function) {
    return on_last(function, "path", "'" + path + "'", "'" + path + "x'");
  };
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_MISMATCH, paths("save"));
  syncyte_checkpoint_t file = nullptr;
  EXPECT_FAILS(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file), SYNCYTE_ERR_MISMATCH, paths("open"));
  EXPECT_EQ(file, nullptr);
  path_ = path;
  if (last()) entries_.pop_back();
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_MISMATCH,
               on_last("save", "entry 1", "'second'", "missing") + "; count is 1, but 2 on rank 0");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(refusal, of_replicated_contents_that_differ_where_checks_are_full) {
  syncyte_comm_options_t options{sizeof(syncyte_comm_options_t), "full", 2, 0};
  syncyte_comm_t made = nullptr;
  ASSERT_OK(syncyte_comm_dup(world(), &options, &made));
  const communicator full(made);
  EXPECT_OK(save(full.get(), path_, tensors_));  // the rows of sharded entries may differ
  EXPECT_OK(load(full.get(), path_, tensors_));
  tensors_.emplace_back("third", SYNCYTE_UINT8, std::vector<std::int64_t>{9});
  std::memcpy(tensors_.back().bytes.data(), last() && size_ > 1 ? "123456780" : "123456789", 9);
  if (size_ == 1) return;
  // The CRC32C of "123456789" is 0xe3069283.
  EXPECT_FAILS(save(full.get(), path_, tensors_), SYNCYTE_ERR_MISMATCH,
               "checkpoint_save failed on rank " + std::to_string(size_ - 1) +
                   " of full: 'third': CRC32C of the replicated contents is ");
  EXPECT_NE(std::string(syncyte_last_error()).find(", but 0xe3069283 on rank 0"), std::string::npos);
  EXPECT_OK(save(world(), path_, tensors_));  // at world's level of checks contents are not compared
}

TEST_F(refusal, of_bad_options_and_nulls) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, std::size_t{2048}, std::size_t{1} << 31}) {
    const auto options = blocks_of(bytes);
    EXPECT_FAILS(save_entries(&options), SYNCYTE_ERR_ARGUMENT, "block_bytes");
  }
  for (const std::size_t size : {std::size_t{0}, sizeof(syncyte_checkpoint_options_t) + 4, std::size_t{4104}}) {
    const syncyte_checkpoint_options_t options{size, 0, 0, nullptr};
    EXPECT_FAILS(save_entries(&options), SYNCYTE_ERR_ARGUMENT, "struct_size");
  }
  EXPECT_FAILS(syncyte_checkpoint_save(world(), nullptr, 0, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "path");
  EXPECT_FAILS(syncyte_checkpoint_save(world(), "", 0, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "path");
  EXPECT_FAILS(syncyte_checkpoint_save(world(), path_.c_str(), -1, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "count");
  EXPECT_FAILS(syncyte_checkpoint_save(world(), path_.c_str(), 1, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "entries");
  EXPECT_FAILS(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "null");
  EXPECT_EQ(syncyte_checkpoint_save(nullptr, path_.c_str(), 0, nullptr, nullptr), SYNCYTE_ERR_HANDLE);
  const std::string endless(5000, 'p');
  EXPECT_FAILS(syncyte_checkpoint_save(world(), endless.c_str(), 0, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "path");
}

TEST_F(refusal, of_paths_that_cannot_be_written) {
  path_ = "no such folder/checkpoint.h5";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_IO, "there is no folder 'no such folder'");
  path_ = "/proc/checkpoint.h5";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_IO, "/proc");
  path_ = ".";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_IO, "not a regular file");
  path_ = std::string(255, 'n') + "n";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_IO, "ENAMETOOLONG");
}

TEST_F(refusal, of_files_that_are_not_there) {
  syncyte_checkpoint_t file = nullptr;
  EXPECT_FAILS(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file), SYNCYTE_ERR_NOT_FOUND, path_);
  EXPECT_FAILS(load(world(), path_, tensors_), SYNCYTE_ERR_NOT_FOUND, path_);
  EXPECT_FAILS(syncyte_checkpoint_open(world(), ".", nullptr, &file), SYNCYTE_ERR_IO, "regular");
  EXPECT_EQ(file, nullptr);
}

TEST_F(refusal, of_loads_that_do_not_fit_the_file) {
  ASSERT_OK(save_entries());
  std::vector<tensor> wrong{{"third", SYNCYTE_INT32, {1}}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_NOT_FOUND, "third");
  wrong = {{"first", SYNCYTE_INT32, {4, 6}}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_TYPE, "first");
  wrong = {{"first", SYNCYTE_FLOAT32, {5, 6}}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_SHAPE, "4 rows");
  wrong = {{"first", SYNCYTE_FLOAT32, {4, 7}}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_SHAPE, "(4, 7)");
  wrong = {{"second", SYNCYTE_INT32, {rank_ + 2, 3}, SYNCYTE_ENTRY_SHARDED}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_SHAPE, "together");
  // One rank has too few rows; all ranks get the error about the sum.
  wrong = {{"second", SYNCYTE_INT32, {last() ? rank_ : rank_ + 1, 3}, SYNCYTE_ENTRY_SHARDED}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_SHAPE, "together");
  EXPECT_OK(load(world(), path_, tensors_));
}

}  // namespace
}  // namespace syncyte::test
