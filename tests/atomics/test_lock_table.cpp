// SPDX-License-Identifier: BSD-3-Clause
// Lock tables, and items whose holder dies.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "mpi/process_id.hpp"
#include "no_more_files.hpp"
#include "rows/add_rows.hpp"
#include "shared_bytes.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;

/// Status and message of the error that `work` throws; success and an empty message if it throws none.
template <class Work>
std::pair<syncyte_status_t, std::string> outcome(Work&& work) {
  try {
    work();
    return {SYNCYTE_SUCCESS, ""};
  } catch (const base::error& error) {
    return {error.status(), error.what()};
  }
}

TEST(lock_table, tables_are_bounded_powers_of_two) {
  EXPECT_EQ(atomics::lock_table::words_for(0), 1);
  EXPECT_EQ(atomics::lock_table::words_for(1), 1);
  EXPECT_EQ(atomics::lock_table::words_for(1000), 1024);
  EXPECT_EQ(atomics::lock_table::words_for(std::int64_t{1} << 40), atomics::lock_table::most_words);
}

TEST(lock_table, consecutive_rows_have_words_of_their_own) {
  std::vector<std::uint64_t> words(256);
  atomics::lock_table locks(words, 0, [](int) { return true; });
  for (std::int64_t row = 1000; row < 1256; ++row) locks.lock(row);  // would hang if two rows shared a word
  for (std::int64_t row = 1000; row < 1256; ++row) locks.unlock(row);
  EXPECT_EQ(words, std::vector<std::uint64_t>(256));
}

TEST(lock_table, a_waiter_waits_for_a_living_holder) {
  const test::shared_bytes words(4096);
  const std::span table(words.as<std::uint64_t>(), 16);
  atomics::lock_table mine(table, 0, [](int) { return true; }), theirs(table, 1, [](int) { return true; });
  theirs.lock(5);
  std::jthread holder([&] {
    std::this_thread::sleep_for(20ms);
    theirs.unlock(5);
  });
  const auto begin = std::chrono::steady_clock::now();
  mine.lock(5);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 15ms);
  mine.unlock(5);
}

TEST(lock_table, a_holder_lives_for_a_waiter_without_file_descriptors) {
  const test::shared_bytes words(4096);
  const std::span table(words.as<std::uint64_t>(), 16);
  const auto is_alive = [self = mpi::this_process()](int) { return mpi::is_alive(self); };
  atomics::lock_table mine(table, 0, is_alive), theirs(table, 1, is_alive);
  theirs.lock(5);
  std::jthread holder([&] {
    std::this_thread::sleep_for(20ms);
    theirs.unlock(5);
  });
  const test::no_more_files limited;
  const auto [status, text] = outcome([&] { mine.lock(5); });
  EXPECT_EQ(status, SYNCYTE_SUCCESS) << text;
}

TEST(lock_table, a_try_ends_while_a_living_holder_keeps_the_lock) {
  const test::shared_bytes words(4096);
  const std::span table(words.as<std::uint64_t>(), 16);
  atomics::lock_table mine(table, 0, [](int) { return true; }), theirs(table, 1, [](int) { return true; });
  EXPECT_TRUE(mine.try_lock(5));
  mine.unlock(5);
  theirs.lock(5);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(mine.try_lock(5));
  const auto waited = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(waited, atomics::lock_table::longest_try);
  EXPECT_LT(waited, 1s);
  EXPECT_TRUE(mine.try_lock(6)) << "another row";
  theirs.unlock(5);
  EXPECT_TRUE(mine.try_lock(5));
}

class killed_holder : public testing::Test {
 protected:
  void SetUp() override {
    // Process 1 takes the lock of row 7 and is killed.
    const pid_t child = test::fork_to([&] {
      atomics::lock_table(table_, 1, [](int) { return true; }).lock(7);
      raise(SIGKILL);
    });
    ASSERT_EQ(test::exit_code(child), -SIGKILL);
  }

  test::shared_bytes words_{4096};
  std::span<std::uint64_t> table_{words_.as<std::uint64_t>(), 16};
  int asked_ = 0;
  atomics::lock_table locks_{table_,
                             0,
                             [this](int holder) {
                               ++asked_;
                               return holder != 1;
                             },
                             "a tensor",
                             {},
                             [](int holder) { return 10 + holder; }};
};

TEST_F(killed_holder, damages_its_row_for_ever) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto error = base::error_of([&] { locks_.lock(7); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status(), SYNCYTE_ERR_PEER_DIED);
    EXPECT_STREQ(error->what(), "row 7 is damaged: rank 11 of the world died while it added to it");
    EXPECT_EQ(error->fields().rank, 11);
  }
  EXPECT_EQ(asked_, 1) << "the mark tells later ones";
}

TEST_F(killed_holder, ends_a_try_with_an_error) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto [status, text] = outcome([&] { locks_.try_lock(7); });
    EXPECT_EQ(status, SYNCYTE_ERR_PEER_DIED);
    EXPECT_NE(text.find("row 7 is damaged"), std::string::npos) << text;
  }
}

TEST_F(killed_holder, leaves_other_rows_alone) {
  outcome([&] { locks_.lock(7); });
  for (std::int64_t row = 0; row < 16; ++row) {
    if (row == 7) continue;
    locks_.lock(row);
    locks_.unlock(row);
  }
  const auto [status, text] = outcome([&] { locks_.lock(7 + 16); });
  EXPECT_EQ(status, SYNCYTE_ERR_PEER_DIED);
  EXPECT_NE(text.find("row 23 shares its lock with row 7"), std::string::npos) << text;
}

TEST_F(killed_holder, ends_an_add_after_the_rows_before) {
  std::vector<double> table(8 * 4, 0.0);
  const rows::row_range all{0, 8, reinterpret_cast<std::byte*>(table.data())};
  const std::vector<std::int64_t> index{1, 2, 7, 3};
  const std::vector<double> source(index.size() * 4, 1.0);
  const auto [status, text] = outcome([&] {
    rows::add_rows(rows::row_map({&all, 1}, 4 * sizeof(double)), rows::row_index(std::span(index)),
                   reinterpret_cast<const std::byte*>(source.data()), SYNCYTE_FLOAT64, locks_);
  });
  EXPECT_EQ(status, SYNCYTE_ERR_PEER_DIED);
  EXPECT_NE(text.find("row 7"), std::string::npos) << text;
  for (const std::size_t row : {0, 1, 2, 3, 7}) EXPECT_EQ(table[row * 4], row == 1 || row == 2 ? 1.0 : 0.0) << row;
}

}  // namespace
