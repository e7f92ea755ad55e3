// SPDX-License-Identifier: BSD-3-Clause
#include <syncyte/syncyte.hpp>
#include <vector>

#include "expect.hpp"
#include "reference.hpp"

namespace {

namespace reference = syncyte::reference;
using syncyte::test::expect_error;

class cxx_window : public testing::Test {
 protected:
  syncyte::communicator world_ = syncyte::communicator::world();
  int rank_ = world_.rank();
  int size_ = world_.size();
  int next_ = (rank_ + 1) % size_;
};

TEST_F(cxx_window, puts_and_reads) {
  const syncyte::window window(world_, 8 * sizeof(double), {.name = "ring"});
  EXPECT_EQ(window.size(next_), 64U);
  window.put(next_, 8, reference::random_values<double>(21, rank_, 7));
  window.flush(next_);
  window.fence();
  const int previous = (rank_ + size_ - 1) % size_;
  std::vector<double> mine(7);
  window.get(rank_, 8, mine);
  EXPECT_EQ(mine, reference::random_values<double>(21, previous, 7));
  EXPECT_EQ(window.part<double>(rank_)[1], mine[0]);
  EXPECT_EQ(window.part<double>(rank_)[0], 0.0) << "new windows are zeroed";
  window.fence();
}

TEST_F(cxx_window, accumulates_and_counts) {
  const syncyte::window window(world_, 5 * sizeof(std::int64_t));
  for (int target = 0; target < size_; ++target) {
    window.accumulate(target, 0, reference::random_values<std::int64_t>(22, rank_, 4));
  }
  const std::int64_t ticket = window.fetch_op<std::int64_t>(0, 32, 1);
  EXPECT_GE(ticket, 0);
  EXPECT_LT(ticket, size_);
  window.fence();
  std::vector<std::int64_t> sums(4);
  window.get(rank_, 0, sums);
  EXPECT_EQ(sums, reference::allreduce<std::int64_t>(22, size_, 4));
  std::vector<std::int64_t> count(1);
  window.get(0, 32, count);
  EXPECT_EQ(count[0], size_);
  window.fence();
  std::int64_t seen = size_;
  if (rank_ == size_ - 1) seen = window.compare_swap<std::int64_t>(0, 32, size_, -1);
  EXPECT_EQ(seen, size_);
  window.fence();
  EXPECT_EQ(window.compare_swap<std::int64_t>(0, 32, size_, 5), -1) << "not equal: nothing is written";
  window.fence();
}

TEST_F(cxx_window, starts_operations) {
  const syncyte::window window(world_, 6 * sizeof(std::int64_t));
  const std::vector<std::int64_t> sent{rank_, 7};
  std::int64_t ticket = -1;
  std::vector<syncyte::request> started;
  started.push_back(window.iput(next_, 0, sent));
  started.push_back(window.iaccumulate(0, 16, sent));
  started.push_back(window.ifetch_op<std::int64_t>(0, 32, 1, ticket));
  syncyte::wait_all(started);
  EXPECT_GE(ticket, 0);
  EXPECT_LT(ticket, size_);
  window.fence();
  std::vector<std::int64_t> found(5);
  window.iget(0, 0, found).wait();
  EXPECT_EQ(found, (std::vector<std::int64_t>{size_ - 1, 7, size_ * (size_ - 1) / 2, 7 * size_, size_}));
  window.fence();
  if (rank_ == size_ - 1) {
    window.icompare_swap<std::int64_t>(0, 32, size_, -1, ticket).wait();
    EXPECT_EQ(ticket, size_);
  }
  window.fence();
  EXPECT_EQ(window.fetch_op<std::int64_t>(0, 32, 0), -1);
  window.fence();
}

TEST_F(cxx_window, locks_keep_others_out) {
  const syncyte::window window(world_, sizeof(std::int64_t));
  const int rounds = world_.nodes().nodes == 1 ? 50 : 5;  // between hosts each takes many round trips
  for (int round = 0; round < rounds; ++round) {
    auto lock = window.lock(0);
    std::vector<std::int64_t> value(1);
    window.get(0, 0, value);
    ++value[0];
    window.put(0, 0, value);
    if (round % 2 == 0) lock.unlock();
  }
  window.fence();
  std::vector<std::int64_t> value(1);
  window.get(0, 0, value);
  EXPECT_EQ(value[0], rounds * size_);
  window.fence();
}

TEST_F(cxx_window, errors_name_the_argument) {
  const syncyte::window window(world_, 16);
  const std::vector<double> three(3);
  expect_error(syncyte::status::index, {"16"}, [&] { window.put(next_, 0, three); });
  expect_error(syncyte::status::argument, {"rank"}, [&] { window.put(size_, 0, std::vector<double>(1)); });
  expect_error(syncyte::status::handle, {}, [] { syncyte::window().fence(); });
}

}  // namespace
