// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives in C++.

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "expect.hpp"
#include "syncyte/comm.hpp"

namespace {

using namespace syncyte;

class nonblocking : public ::testing::Test {
 protected:
  const communicator world_ = communicator::world();
  const int rank_ = world_.rank(), size_ = world_.size();
  const extents ones_ = extents(static_cast<std::size_t>(size_), 1);
  const std::size_t ranks_ = static_cast<std::size_t>(size_);
};

TEST_F(nonblocking, each_gives_its_result_at_the_end) {
  std::vector<int> root{rank_ == size_ - 1 ? 9 : 0}, mine{rank_}, sum{0}, all(ranks_), part{0}, from(ranks_),
      to(ranks_);
  std::iota(from.begin(), from.end(), 100 * rank_);
  std::vector<int> in_place{rank_ + 1};
  std::array<request, 6> started{
      world_.ibcast(size_ - 1, root),
      world_.iallreduce(mine, sum, op::max),
      world_.iallreduce(in_place),
      world_.iallgather_along(mine, 0, ones_, all),
      world_.ireduce_scatter_along(from, 0, ones_, part),
      world_.ialltoall_along(from, 0, 0, extents(ranks_, size_), extents(ranks_, size_), to)};
  while (!started[1].test()) {
  }
  wait_all(started);
  EXPECT_EQ(root[0], 9);
  EXPECT_EQ(sum[0], size_ - 1);
  EXPECT_EQ(in_place[0], size_ * (size_ + 1) / 2);
  EXPECT_EQ(part[0], 100 * size_ * (size_ - 1) / 2 + size_ * rank_);
  EXPECT_EQ(to, from);  // equal lengths along one axis: nothing moves
  for (int other = 0; other < size_; ++other) EXPECT_EQ(all[static_cast<std::size_t>(other)], other);
}

TEST_F(nonblocking, lengths_that_are_not_one_per_rank_are_every_ranks_error) {
  std::vector<int> mine{rank_}, all(ranks_);
  const bool is_odd = rank_ == 0;
  const extents wrong(ranks_ + 1, 1);
  try {
    request started = world_.iallgather_along(mine, 0, is_odd ? wrong : ones_, all);
    EXPECT_FALSE(is_odd) << "no error at once";
    started.wait();
    FAIL() << "no error";
  } catch (const error& caught) {
    EXPECT_EQ(caught.code(), status::shape);
    EXPECT_NE(std::string(caught.what()).find("entries; expected " + std::to_string(size_)), std::string::npos)
        << caught.what();
  }
  world_.barrier();
}

}  // namespace
