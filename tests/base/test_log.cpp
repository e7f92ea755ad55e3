// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <regex>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace {

using namespace syncyte::base;

/// Stderr is a socket that keeps each write apart.
class captured_stderr {
 public:
  captured_stderr() {
    ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends_);
    ::dup2(ends_[1], STDERR_FILENO);
    ::close(ends_[1]);
  }
  ~captured_stderr() {
    restore();
    ::close(before_);
    ::close(ends_[0]);
  }
  std::vector<std::string> writes() {
    restore();
    std::vector<std::string> all;
    std::array<char, 4096> text;
    for (ssize_t size; (size = ::read(ends_[0], text.data(), text.size())) > 0;) all.emplace_back(text.data(), size);
    return all;
  }

 private:
  void restore() { ::dup2(before_, STDERR_FILENO); }
  const int before_ = ::dup(STDERR_FILENO);
  int ends_[2];
};

std::vector<std::string> logged(syncyte_log_level_t level) {
  captured_stderr output;
  log(level, "{} of {}", 2, "three");
  return output.writes();
}

TEST(log, a_line_is_one_write_with_time_level_and_rank) {
  const int before = process_rank();
  set_process_rank(5);
  const auto with_rank = logged(SYNCYTE_LOG_WARN);
  set_process_rank(-1);
  const auto without_rank = logged(SYNCYTE_LOG_ERROR);
  set_process_rank(before);
  const std::string time = R"(([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6})";
  ASSERT_EQ(with_rank.size(), 1u);
  EXPECT_TRUE(std::regex_match(with_rank[0], std::regex(time + R"( syncyte warning \[rank 5\] 2 of three\n)")))
      << with_rank[0];
  ASSERT_EQ(without_rank.size(), 1u);
  EXPECT_TRUE(std::regex_match(without_rank[0], std::regex(time + R"( syncyte error \[no rank yet\] 2 of three\n)")))
      << without_rank[0];
}

TEST(log, lines_below_the_chosen_level_are_left_out) {
  EXPECT_TRUE(logged(SYNCYTE_LOG_OFF).empty());
  EXPECT_TRUE(logged(SYNCYTE_LOG_INFO).empty());  // the default is warn
  EXPECT_TRUE(logged(SYNCYTE_LOG_DEBUG).empty());
}

}  // namespace
