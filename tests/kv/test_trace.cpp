// SPDX-License-Identifier: BSD-3-Clause
// The trace of one key's moves between two nodes of one rank each: SYNCYTE_STORE_TRACE names the key, whose home is
// rank 0, and one that no store here has.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "store_user.hpp"

namespace {

using namespace syncyte;
using test::is_first;
using test::is_last;
using test::make_store;
using test::user;
using texts = std::vector<std::string>;

constexpr std::int64_t key = 2;

/// Lines about the key that this process writes to stderr meanwhile, without the time.
class traced_lines {
 public:
  traced_lines() { ::dup2(::fileno(file_), STDERR_FILENO); }
  ~traced_lines() {
    restore();
    std::fclose(file_);
  }
  traced_lines(const traced_lines&) = delete;
  traced_lines& operator=(const traced_lines&) = delete;

  texts take() {
    restore();
    std::rewind(file_);
    texts result;
    const std::string begin =
        " syncyte info [rank " + std::to_string(test::world().rank()) + "] store \"moving\", key 2: ";
    for (char line[512]; std::fgets(line, sizeof line, file_) != nullptr;) {
      std::string text = line;
      std::fputs(line, stderr);
      if (const auto found = text.find(begin); found != std::string::npos)
        result.push_back(text.substr(found + begin.size(), text.size() - found - begin.size() - 1));
    }
    return result;
  }

 private:
  void restore() {
    if (before_ < 0) return;
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    before_ = -1;
  }

  int before_ = ::dup(STDERR_FILENO);
  std::FILE* const file_ = std::tmpfile();
};

TEST(move_trace, tells_where_a_key_goes_and_why) {
  const auto store = make_store(6, {1});
  user mine(store);
  traced_lines lines;
  mine->barrier();
  if (is_last()) mine.localize({key, 3});
  mine->barrier();
  if (is_first()) mine.push({key, 4}, {1, 1});
  mine->barrier();
  if (is_first()) mine.localize({key});
  mine->barrier();
  const texts of_home{
      "home gets acquire from node 1 (rank 1 of world): at home -> at node 1",
      "home sends grant to node 1 (rank 1 of world); at node 1",
      "home sends push to node 1 (rank 1 of world); at node 1",
      "home answers push from a worker of node 0: at node 1",
      "agent of node 0 gets localize from a worker (rank 0 of world): none -> asked",
      "agent of node 0 sends acquire to home (rank 0 of world); asked",
      "home gets acquire from node 0 (rank 0 of world): at node 1 -> recalled from node 1",
      "home sends recall to node 1 (rank 1 of world); recalled from node 1",
      "home gets give back from node 1 (rank 1 of world): recalled from node 1 -> at home",
      "home sends refuse to node 0 (rank 0 of world); at home",
      "agent of node 0 gets refuse from home (rank 0 of world): asked -> none",
  };
  const texts of_holder{
      "agent of node 1 gets localize from a worker (rank 1 of world): none -> asked",
      "agent of node 1 sends acquire to home (rank 0 of world); asked",
      "agent of node 1 gets grant from home (rank 0 of world): asked -> main copy, grant 1",
      "agent of node 1 answers push from home (rank 0 of world): main copy, grant 1",
      "agent of node 1 gets recall from home (rank 0 of world): main copy, grant 1 -> none",
      "agent of node 1 sends give back to home (rank 0 of world); none",
  };
  EXPECT_EQ(lines.take(), is_first() ? of_home : of_holder);
  mine->barrier();
}

TEST(move_trace, tells_of_copies_and_their_end) {
  const auto store = make_store(6, {1});
  user mine(store);
  traced_lines lines;
  mine.intend({key}, 0, 1);
  mine->flush();
  mine->barrier();
  if (is_last()) {
    mine.push({key}, {1});
    mine->flush();
  }
  mine->barrier();
  mine->advance_clock();
  mine->barrier();
  const texts found = lines.take();
  const auto has = [&](const std::string& text) {  // the number of the copy's grant depends on who asks first
    return std::ranges::any_of(found, [&](const std::string& line) { return line.starts_with(text); });
  };
  if (is_first()) {
    EXPECT_TRUE(has("home gets pushes from node 1 (rank 1 of world): shared"));
    EXPECT_TRUE(has("home sends refresh to node 1 (rank 1 of world); shared"));
  } else {
    EXPECT_TRUE(has("agent of node 1 sends pushes to home (rank 0 of world); copy, grant "));
    EXPECT_TRUE(has("agent of node 1 gets end windows from a worker (rank 1 of world): copy, grant "));
    EXPECT_TRUE(has("agent of node 1 sends end copy none to home (rank 0 of world); none"));
  }
  mine->barrier();
}

}  // namespace
