// Wrong use: the same error on all ranks, nothing written.

#include <filesystem>
#include <functional>

#include "checkpoint_fixture.hpp"

namespace syncyte::test {
namespace {

class Refusal : public Checkpoint {
 protected:
  void SetUp() override {
    Checkpoint::SetUp();
    tensors_.emplace_back("first", SYNCYTE_FLOAT32, std::vector<std::int64_t>{4, 6});
    tensors_.emplace_back("second", SYNCYTE_INT32, std::vector<std::int64_t>{rank_ + 1, 3}, SYNCYTE_LAYOUT_SHARDED);
    for (tensor& one : tensors_) one.fill();
    entries_ = entries_of(tensors_);
  }

  bool last() const { return rank_ == size_ - 1; }

  syncyte_status_t save_entries(const syncyte_checkpoint_options_t* options = nullptr) {
    return syncyte_checkpoint_save(world(), path_.c_str(), static_cast<std::int64_t>(entries_.size()), entries_.data(),
                                   options);
  }

  // The last rank's second entry is changed; all ranks must be told.
  void expect_refused(const std::function<void(syncyte_checkpoint_entry_t&)>& change, syncyte_status_t status,
                      const std::string& text) {
    entries_ = entries_of(tensors_);
    if (last()) change(entries_[1]);
    EXPECT_FAILS(save_entries(), status, text);
    EXPECT_FALSE(std::filesystem::exists(path_));
  }

  // As expect_refused(), but all ranks' values are right and only their difference is wrong.
  void expect_mismatch(const std::function<void(syncyte_checkpoint_entry_t&)>& change) {
    if (size_ > 1) expect_refused(change, SYNCYTE_ERR_MISMATCH, "second");
  }

  std::vector<tensor> tensors_;
  std::vector<syncyte_checkpoint_entry_t> entries_;
};

TEST_F(Refusal, OfAnEntryThatIsWrongOnOneRank) {
  expect_refused([](auto& one) { one.data.data = nullptr; }, SYNCYTE_ERR_ARGUMENT, "'second'");
  expect_refused([](auto& one) { one.data.dtype = 77; }, SYNCYTE_ERR_TYPE, "77");
  expect_refused([](auto& one) { one.data.ndim = 9; }, SYNCYTE_ERR_SHAPE, "ndim");
  expect_refused([](auto& one) { one.data.shape[1] = -3; }, SYNCYTE_ERR_SHAPE, "-3");
  expect_refused([](auto& one) { one.data.shape[0] = std::int64_t{1} << 62; }, SYNCYTE_ERR_SHAPE, "2^63");
  expect_refused([](auto& one) { one.data.strides[1] = 8; }, SYNCYTE_ERR_SHAPE, "contiguous");
  expect_refused([](auto& one) { one.data.memory = SYNCYTE_MEMORY_CUDA; }, SYNCYTE_ERR_UNSUPPORTED, "memory");
  expect_refused([](auto& one) { one.data.struct_size = 8; }, SYNCYTE_ERR_ARGUMENT, "struct_size");
  expect_refused([](auto& one) { one.struct_size = 0; }, SYNCYTE_ERR_ARGUMENT, "struct_size");
  expect_refused([](auto& one) { one.layout = 2; }, SYNCYTE_ERR_ARGUMENT, "layout");
  expect_refused([](auto& one) { one.key = nullptr; }, SYNCYTE_ERR_ARGUMENT, "null");
  expect_refused([](auto& one) { one.key = ""; }, SYNCYTE_ERR_ARGUMENT, "1 to 1023");
  const std::string long_key(1024, 'k');
  expect_refused([&](auto& one) { one.key = long_key.c_str(); }, SYNCYTE_ERR_ARGUMENT, "1 to 1023");
  expect_refused([](auto& one) { one.key = "first"; }, SYNCYTE_ERR_ARGUMENT, "twice");
  expect_refused([](auto& one) { one.data.ndim = 0; }, SYNCYTE_ERR_SHAPE, "no dimensions");
}

TEST_F(Refusal, OfEntriesThatDifferBetweenRanks) {
  expect_mismatch([](auto& one) { one.data.shape[1] = 2, one.data.strides[0] = 8; });
  expect_mismatch([](auto& one) { one.data.dtype = SYNCYTE_FLOAT32; });
  expect_mismatch([](auto& one) { one.layout = SYNCYTE_LAYOUT_REPLICATED; });
  expect_mismatch([](auto& one) { one.key = "second "; });
}

TEST_F(Refusal, OfArgumentsThatDifferBetweenRanks) {
  if (size_ == 1) GTEST_SKIP() << "one rank agrees with itself";
  auto options = blocks_of(4096, 3);
  if (last()) options.step = 4;
  EXPECT_FAILS(save_entries(&options), SYNCYTE_ERR_MISMATCH, "step");
  options = blocks_of(last() ? 8192 : 4096);
  EXPECT_FAILS(save_entries(&options), SYNCYTE_ERR_MISMATCH, "block_bytes");
  const std::string path = path_;
  if (last()) path_ += "x";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_MISMATCH, "path");
  syncyte_checkpoint_t file = nullptr;
  EXPECT_FAILS(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file), SYNCYTE_ERR_MISMATCH, "path");
  EXPECT_EQ(file, nullptr);
  path_ = path;
  if (last()) entries_.pop_back();
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_MISMATCH, "count");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Refusal, OfBadOptionsAndNulls) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, std::size_t{2048}, std::size_t{1} << 31}) {
    const auto options = blocks_of(bytes);
    EXPECT_FAILS(save_entries(&options), SYNCYTE_ERR_ARGUMENT, "block_bytes");
  }
  syncyte_checkpoint_options_t options{};
  EXPECT_FAILS(save_entries(&options), SYNCYTE_ERR_ARGUMENT, "struct_size");
  EXPECT_FAILS(syncyte_checkpoint_save(world(), nullptr, 0, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "path");
  EXPECT_FAILS(syncyte_checkpoint_save(world(), "", 0, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "path");
  EXPECT_FAILS(syncyte_checkpoint_save(world(), path_.c_str(), -1, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "count");
  EXPECT_FAILS(syncyte_checkpoint_save(world(), path_.c_str(), 1, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "entries");
  EXPECT_FAILS(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "null");
  EXPECT_EQ(syncyte_checkpoint_save(nullptr, path_.c_str(), 0, nullptr, nullptr), SYNCYTE_ERR_HANDLE);
  const std::string endless(5000, 'p');
  EXPECT_FAILS(syncyte_checkpoint_save(world(), endless.c_str(), 0, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT, "path");
}

TEST_F(Refusal, OfPathsThatCannotBeWritten) {
  path_ = "no such folder/checkpoint.h5";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_IO, "no such folder");
  path_ = "/proc/checkpoint.h5";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_IO, "/proc");
  path_ = ".";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_IO, "not a regular file");
  path_ = std::string(255, 'n') + "n";
  EXPECT_FAILS(save_entries(), SYNCYTE_ERR_IO, "ENAMETOOLONG");
}

TEST_F(Refusal, OfFilesThatAreNotThere) {
  syncyte_checkpoint_t file = nullptr;
  EXPECT_FAILS(syncyte_checkpoint_open(world(), path_.c_str(), nullptr, &file), SYNCYTE_ERR_NOT_FOUND, path_);
  EXPECT_FAILS(load(world(), path_, tensors_), SYNCYTE_ERR_NOT_FOUND, path_);
  EXPECT_FAILS(syncyte_checkpoint_open(world(), ".", nullptr, &file), SYNCYTE_ERR_IO, "regular");
  EXPECT_EQ(file, nullptr);
}

TEST_F(Refusal, OfLoadsThatDoNotFitTheFile) {
  ASSERT_OK(save_entries());
  std::vector<tensor> wrong{{"third", SYNCYTE_INT32, {1}}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_NOT_FOUND, "third");
  wrong = {{"first", SYNCYTE_INT32, {4, 6}}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_TYPE, "first");
  wrong = {{"first", SYNCYTE_FLOAT32, {5, 6}}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_SHAPE, "4 rows");
  wrong = {{"first", SYNCYTE_FLOAT32, {4, 7}}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_SHAPE, "(4, 7)");
  wrong = {{"second", SYNCYTE_INT32, {rank_ + 2, 3}, SYNCYTE_LAYOUT_SHARDED}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_SHAPE, "together");
  // One rank's rows are too few; the sum is seen by all.
  wrong = {{"second", SYNCYTE_INT32, {last() ? rank_ : rank_ + 1, 3}, SYNCYTE_LAYOUT_SHARDED}};
  EXPECT_FAILS(load(world(), path_, wrong), SYNCYTE_ERR_SHAPE, "together");
  EXPECT_OK(load(world(), path_, tensors_));
}

}  // namespace
}  // namespace syncyte::test
