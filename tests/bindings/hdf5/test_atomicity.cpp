// A save that fails leaves the old file, and nothing else.

#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "checkpoint_fixture.hpp"

namespace syncyte::test {
namespace {

// The largest file that this process may write, for a while: a disk that is full.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~file_size_limit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class Atomicity : public Checkpoint {
 protected:
  void SetUp() override {
    Checkpoint::SetUp();
    folder_ = path_ + ".folder";
    if (rank_ == 0) std::filesystem::create_directory(folder_);
    syncyte_comm_barrier(world());
    path_ = folder_ + "/checkpoint.h5";
    old_.emplace_back("w", SYNCYTE_FLOAT64, std::vector<std::int64_t>{100, 100}, SYNCYTE_LAYOUT_SHARDED);
    old_[0].fill(rank_ * 100);
    ASSERT_OK(save(world(), path_, old_));
    new_ = old_;
    std::fill(new_[0].bytes.begin(), new_[0].bytes.end(), std::uint8_t{1});
  }

  void expect_old_file_alone() {
    syncyte_comm_barrier(world());
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) files += entry.is_regular_file() ? 1 : 0;
    EXPECT_EQ(files, 1);
    std::vector<tensor> loaded = new_;
    EXPECT_OK(load(world(), path_, loaded));
    EXPECT_TRUE(loaded[0].filled(rank_ * 100));
    syncyte_comm_barrier(world());
  }

  std::string folder_;
  std::vector<tensor> old_;
  std::vector<tensor> new_;
};

TEST_F(Atomicity, ADiskThatIsFullForAll) {
  struct sigaction before{};
  sigaction(SIGXFSZ, nullptr, &before);
  ASSERT_TRUE(before.sa_handler == SIG_DFL);  // a write beyond the limit would end the process
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{5000}, rlim_t{70000}}) {
    const file_size_limit limit(bytes);
    EXPECT_FAILS(save(world(), path_, new_), SYNCYTE_ERR_IO, "EFBIG");
  }
  expect_old_file_alone();
  EXPECT_OK(save(world(), path_, new_));
}

TEST_F(Atomicity, ADiskThatIsFullForTheLastRank) {
  {
    const file_size_limit limit(rank_ == size_ - 1 ? 2000 : RLIM_INFINITY);
    EXPECT_FAILS(save(world(), path_, new_), SYNCYTE_ERR_IO, folder_);
  }
  expect_old_file_alone();
}

TEST_F(Atomicity, ABufferThatIsWrongOnTheLastRank) {
  auto entries = entries_of(new_);
  if (rank_ == size_ - 1) entries[0].data.data = nullptr;
  EXPECT_FAILS(syncyte_checkpoint_save(world(), path_.c_str(), 1, entries.data(), nullptr), SYNCYTE_ERR_ARGUMENT,
               "'w'");
  expect_old_file_alone();
}

TEST_F(Atomicity, ASuccessfulSaveReplacesAndLeavesNothingElse) {
  ASSERT_OK(save(world(), path_, new_));
  std::vector<tensor> loaded = old_;
  ASSERT_OK(load(world(), path_, loaded));
  EXPECT_EQ(loaded[0].bytes, new_[0].bytes);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace syncyte::test
