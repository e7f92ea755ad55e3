// SPDX-License-Identifier: BSD-3-Clause
// A save that fails leaves the old file, and no other file.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "checkpoint_fixture.hpp"

namespace syncyte::test {
namespace {

// Limits the size of files that this process may write, for the lifetime of the object: simulates a full disk.
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

class atomicity : public hdf5_checkpoint {
 protected:
  void SetUp() override {
    hdf5_checkpoint::SetUp();
    folder_ = path_ + ".folder";
    if (rank_ == 0) std::filesystem::create_directory(folder_);
    syncyte_comm_barrier(world());
    path_ = folder_ + "/checkpoint.h5";
    old_.emplace_back("w", SYNCYTE_FLOAT64, std::vector<std::int64_t>{100, 100}, SYNCYTE_ENTRY_SHARDED);
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

TEST_F(atomicity, a_disk_that_is_full_for_all) {
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

TEST_F(atomicity, a_disk_that_is_full_for_the_last_rank) {
  {
    const file_size_limit limit(rank_ == size_ - 1 ? 2000 : RLIM_INFINITY);
    EXPECT_FAILS(save(world(), path_, new_), SYNCYTE_ERR_IO, folder_);
  }
  expect_old_file_alone();
}

// Fields of a bundle: their rows are collected while others have failed already.
TEST_F(atomicity, a_disk_that_is_full_while_fields_are_saved) {
  syncyte_layout_t columns = nullptr;
  syncyte_bundle_t bundle = nullptr;
  const std::int64_t cells[] = {100 * size_, 100};
  const std::int32_t axis = 1;
  ASSERT_OK(syncyte_layout_create_mesh(world(), 2, cells, 1, &size_, 0, nullptr, 1, &axis, nullptr, &columns));
  ASSERT_OK(syncyte_bundle_create(world(), &bundle));
  syncyte_layout_info_t info{};
  info.struct_size = sizeof info;
  ASSERT_OK(syncyte_layout_describe(columns, rank_, 0, &info));
  std::vector<std::vector<double>> fields(3);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].assign(static_cast<std::size_t>(info.shape[0] * info.shape[1]), rank_ + 0.5);
    syncyte_buffer_t array{};
    ASSERT_OK(syncyte_buffer_init(fields[i].data(), SYNCYTE_FLOAT64, 2, info.shape, &array));
    const std::string name(1, "wxy"[i]);
    ASSERT_OK(syncyte_bundle_add(bundle, name.c_str(), columns, SYNCYTE_FLOAT64, 1, &array));
  }
  const auto save_fields = [&] {
    return syncyte_checkpoint_save_bundle(world(), path_.c_str(), bundle, 0, nullptr, nullptr);
  };
  for (const bool on_all : {true, false})
    for (const rlim_t bytes : {rlim_t{2000}, rlim_t{100000}}) {
      const file_size_limit limit(on_all || rank_ == size_ - 1 ? bytes : RLIM_INFINITY);
      EXPECT_FAILS(save_fields(), SYNCYTE_ERR_IO, folder_);
    }
  expect_old_file_alone();
  EXPECT_OK(save_fields());
  const std::vector<double> saved = fields[1];
  std::fill(fields[1].begin(), fields[1].end(), 0);
  EXPECT_OK(syncyte_checkpoint_load_bundle(world(), path_.c_str(), bundle, 0, nullptr, nullptr));
  EXPECT_EQ(fields[1], saved);
  syncyte_comm_t other = nullptr;
  ASSERT_OK(syncyte_comm_dup(world(), nullptr, &other));
  EXPECT_FAILS(syncyte_checkpoint_save_bundle(other, path_.c_str(), bundle, 0, nullptr, nullptr), SYNCYTE_ERR_ARGUMENT,
               "expected a bundle of comm");
  EXPECT_FAILS(syncyte_checkpoint_load_bundle(world(), path_.c_str(), nullptr, 0, nullptr, nullptr), SYNCYTE_ERR_HANDLE,
               "bundle");
  syncyte_comm_destroy(&other);
  syncyte_bundle_destroy(&bundle);
  syncyte_layout_destroy(&columns);
}

TEST_F(atomicity, a_folder_that_may_not_be_written) {
  // Outside of the build, whose folders another user may not enter.
  const std::string closed = std::filesystem::temp_directory_path() / ("syncyte-closed-" + std::to_string(::getppid()));
  const bool is_root = ::geteuid() == 0;
  if (rank_ == 0) std::filesystem::create_directory(closed);
  syncyte_comm_barrier(world());
  path_ = closed + "/checkpoint.h5";
  ASSERT_OK(save(world(), path_, old_));
  if (rank_ == 0) {
    EXPECT_EQ(::chmod(path_.c_str(), 0666), 0);
    EXPECT_EQ(::chmod(closed.c_str(), 0555), 0);
  }
  syncyte_comm_barrier(world());
  EXPECT_EQ(is_root ? ::seteuid(1234) : 0, 0);  // root may write all folders
  EXPECT_FAILS(save(world(), path_, new_), SYNCYTE_ERR_IO, "EACCES");
  EXPECT_NE(std::string(syncyte_last_error()).find(closed), std::string::npos) << syncyte_last_error();
  EXPECT_EQ(is_root ? ::seteuid(0) : 0, 0);
  folder_ = closed;
  expect_old_file_alone();
  if (rank_ == 0) {
    EXPECT_EQ(::chmod(closed.c_str(), 0755), 0);
    EXPECT_EQ(std::filesystem::remove_all(closed), 2U);
  }
}

struct stat status_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status;
}

TEST_F(atomicity, permissions_and_owner_stay) {
  const bool may_give = ::geteuid() == 0;
  if (rank_ == 0) {
    EXPECT_EQ(::chmod(path_.c_str(), 0600), 0);
    if (may_give) {
      EXPECT_EQ(::chown(path_.c_str(), 4321, 1234), 0);
    }
  }
  syncyte_comm_barrier(world());
  ASSERT_OK(save(world(), path_, new_));
  EXPECT_EQ(status_of(path_).st_mode & 0777U, 0600U);
  if (may_give) {
    EXPECT_EQ(status_of(path_).st_uid, 4321U);
    EXPECT_EQ(status_of(path_).st_gid, 1234U);
  }
  syncyte_comm_barrier(world());
}

// An access list as the kernel has it (linux/posix_acl_xattr.h): this user, user 4321, no group, no others.
std::string list_with(std::uint16_t permissions_of_user) {
  struct entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  constexpr std::uint32_t no_id = ~std::uint32_t{0}, version = 2;
  const entry entries[] = {
      {0x01, 6, no_id}, {0x02, permissions_of_user, 4321}, {0x04, 0, no_id}, {0x10, 6, no_id}, {0x20, 0, no_id}};
  std::string list(reinterpret_cast<const char*>(&version), sizeof version);
  return list.append(reinterpret_cast<const char*>(entries), sizeof entries);
}

void set_list(const std::string& path, const char* name, const std::string& list) {
  const int result = ::setxattr(path.c_str(), name, list.data(), list.size(), 0);
  EXPECT_TRUE(result == 0 || errno == ENOTSUP) << path;
}

std::string list_of(const std::string& path) {
  char list[1024];
  const ssize_t bytes = ::getxattr(path.c_str(), "system.posix_acl_access", list, sizeof list);
  return bytes < 0 ? "" : std::string(list, static_cast<std::size_t>(bytes));
}

TEST_F(atomicity, access_lists_stay_and_none_is_added) {
  const std::string listed = folder_ + "/listed.h5";
  ASSERT_OK(save(world(), listed, old_));
  if (rank_ == 0) {
    set_list(listed, "system.posix_acl_access", list_with(4));
    set_list(folder_, "system.posix_acl_default", list_with(6));
    EXPECT_EQ(::chmod(path_.c_str(), 0640), 0);
  }
  syncyte_comm_barrier(world());
  if (list_of(listed).empty()) GTEST_SKIP() << "this file system has no access lists";
  syncyte_comm_barrier(world());
  ASSERT_OK(save(world(), listed, new_));
  ASSERT_OK(save(world(), path_, new_));
  EXPECT_EQ(list_of(listed), list_with(4));
  EXPECT_EQ(list_of(path_), "");
  EXPECT_EQ(status_of(path_).st_mode & 0777U, 0640U);
  syncyte_comm_barrier(world());
}

TEST_F(atomicity, symbolic_links_stay_and_what_they_lead_to_is_written) {
  namespace fs = std::filesystem;
  const std::string elsewhere = folder_ + "/elsewhere";
  if (rank_ == 0) {
    fs::create_directory(elsewhere);
    fs::rename(path_, elsewhere + "/target.h5");
    fs::create_symlink("elsewhere/target.h5", path_);
    fs::create_symlink("elsewhere/not_yet.h5", folder_ + "/dangling.h5");
    fs::create_symlink("round.h5", folder_ + "/round.h5");
  }
  syncyte_comm_barrier(world());
  ASSERT_OK(save(world(), path_, new_));
  ASSERT_OK(save(world(), folder_ + "/dangling.h5", new_));
  EXPECT_FAILS(save(world(), folder_ + "/round.h5", new_), SYNCYTE_ERR_IO, "ELOOP");
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(fs::is_symlink(folder_ + "/dangling.h5"));
  for (const char* name : {"/target.h5", "/not_yet.h5"}) {
    std::vector<tensor> loaded = old_;
    EXPECT_OK(load(world(), elsewhere + name, loaded));
    EXPECT_EQ(loaded[0].bytes, new_[0].bytes) << name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere), fs::directory_iterator()), 2);
  syncyte_comm_barrier(world());
}

TEST_F(atomicity, a_link_that_another_user_left_in_a_shared_folder_is_not_followed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link to another user";
  const std::string shared = folder_ + "/shared", planted = shared + "/planted.h5", own = shared + "/own.h5";
  if (rank_ == 0) {
    std::filesystem::create_directory(shared);
    EXPECT_EQ(::chmod(shared.c_str(), 01777), 0);
    for (const auto& link : {planted, own}) std::filesystem::create_symlink(std::filesystem::absolute(path_), link);
    EXPECT_EQ(::lchown(planted.c_str(), 4321, 1234), 0);
  }
  syncyte_comm_barrier(world());
  EXPECT_FAILS(save(world(), planted, new_), SYNCYTE_ERR_IO, "link of another user (uid 4321)");
  std::vector<tensor> loaded = old_;
  EXPECT_OK(load(world(), path_, loaded));
  EXPECT_EQ(loaded[0].bytes, old_[0].bytes);
  EXPECT_OK(save(world(), own, new_));
  syncyte_comm_barrier(world());
}

TEST_F(atomicity, a_file_that_another_user_left_in_a_shared_folder_gives_no_permissions) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const std::string shared = folder_ + "/shared", planted = shared + "/planted.h5";
  if (rank_ == 0) {
    std::filesystem::create_directory(shared);
    EXPECT_EQ(::chmod(shared.c_str(), 0777), 0);
    std::ofstream(planted) << "planted";
    EXPECT_EQ(::chmod(planted.c_str(), 0666), 0);
    EXPECT_EQ(::chown(planted.c_str(), 4321, 1234), 0);
  }
  syncyte_comm_barrier(world());
  ASSERT_OK(save(world(), planted, new_));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(status_of(planted).st_uid, ::geteuid());
  EXPECT_EQ(status_of(planted).st_mode & 0777U, 0666U & ~mask);
  syncyte_comm_barrier(world());
}

TEST_F(atomicity, the_reason_is_named_where_another_users_file_cannot_be_replaced) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as two users";
  const std::string shared = std::filesystem::temp_directory_path() / ("syncyte-" + std::to_string(::getppid()));
  const std::string other = shared + "/other.h5";
  if (rank_ == 0) {
    std::filesystem::create_directory(shared);
    EXPECT_EQ(::chmod(shared.c_str(), 01777), 0);
    std::ofstream(other) << "of another user";
    EXPECT_EQ(::chown(other.c_str(), 4321, 1234), 0);
  }
  syncyte_comm_barrier(world());
  EXPECT_EQ(::seteuid(1234), 0);
  EXPECT_FAILS(save(world(), other, new_), SYNCYTE_ERR_IO, "EPERM");
  EXPECT_EQ(::seteuid(0), 0);
  syncyte_comm_barrier(world());
  if (rank_ == 0) {
    EXPECT_EQ(std::filesystem::remove_all(shared), 2U);  // nothing was left beside it
  }
}

TEST_F(atomicity, two_saves_of_the_same_tensors_have_the_same_bytes) {
  const std::string again = folder_ + "/again.h5";
  ASSERT_OK(save(world(), path_, new_));
  ASSERT_OK(save(world(), again, new_));
  std::ifstream first(path_, std::ios::binary), second(again, std::ios::binary);
  using bytes = std::istreambuf_iterator<char>;
  EXPECT_TRUE(std::equal(bytes(first), bytes(), bytes(second), bytes()));
  syncyte_comm_barrier(world());
}

TEST_F(atomicity, temporaries_that_nobody_holds_are_removed_by_a_later_save) {
  const std::string folder = folder_ + "/";
  const std::vector<std::string> left{".checkpoint.h5.77-0123456789abcdef.tmp",
                                      ".checkpoint.h5.1-fedcba9876543210.tmp"};
  const std::vector<std::string> others{".checkpoint.h5.77-0123456789abcdeg.tmp",
                                        ".checkpoint.h5.x-0123456789abcdef.tmp", ".other.h5.77-0123456789abcdef.tmp",
                                        ".checkpoint.h5.77-0123456789abcdef"};
  const std::string held = folder + ".checkpoint.h5.78-0123456789abcdef.tmp";
  int holder = -1;
  if (rank_ == 0) {
    for (const auto& name : left) std::ofstream(folder + name) << "left";
    for (const auto& name : others) std::ofstream(folder + name) << "other";
    holder = ::open(held.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT_EQ(::flock(holder, LOCK_SH), 0);
  }
  syncyte_comm_barrier(world());
  ASSERT_OK(save(world(), path_, new_));
  for (const auto& name : left) EXPECT_FALSE(std::filesystem::exists(folder + name)) << name;
  for (const auto& name : others) EXPECT_TRUE(std::filesystem::exists(folder + name)) << name;
  EXPECT_TRUE(std::filesystem::exists(held));
  syncyte_comm_barrier(world());
  if (rank_ == 0) ::close(holder);
  ASSERT_OK(save(world(), path_, new_));
  EXPECT_FALSE(std::filesystem::exists(held));
  syncyte_comm_barrier(world());
}

// HDF5 locks the files that it opens, and fails at once where another holds a lock.
TEST_F(atomicity, a_saved_file_is_not_locked) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_OK(save(world(), path_, new_));
    if (rank_ == size_ - 1) {  // may return before rank 0
      const int saved = ::open(path_.c_str(), O_RDWR);
      EXPECT_EQ(::flock(saved, LOCK_EX | LOCK_NB), 0) << "save " << i;
      ::close(saved);
    }
    syncyte_comm_barrier(world());
  }
}

TEST_F(atomicity, a_buffer_that_is_wrong_on_the_last_rank) {
  auto entries = entries_of(new_);
  syncyte_buffer_t without_memory = *entries[0].data;
  without_memory.data = nullptr;
  if (rank_ == size_ - 1) entries[0].data = &without_memory;
  EXPECT_FAILS(syncyte_checkpoint_save(world(), path_.c_str(), 1, entries.data(), nullptr), SYNCYTE_ERR_ARGUMENT,
               "'w'");
  expect_old_file_alone();
}

TEST_F(atomicity, a_successful_save_replaces_and_leaves_nothing_else) {
  ASSERT_OK(save(world(), path_, new_));
  std::vector<tensor> loaded = old_;
  ASSERT_OK(load(world(), path_, loaded));
  EXPECT_EQ(loaded[0].bytes, new_[0].bytes);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace syncyte::test
