// SPDX-License-Identifier: BSD-3-Clause
// Messages in C++.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "expect.hpp"
#include "syncyte/comm.hpp"

namespace {

using namespace syncyte;

class cxx_messages : public ::testing::Test {
 protected:
  const communicator world_ = communicator::world();
  const int rank_ = world_.rank(), size_ = world_.size();
  const int next_ = (rank_ + 1) % size_, previous_ = (rank_ + size_ - 1) % size_;
  std::vector<int> sent_{rank_, 10 + rank_, 20 + rank_}, received_ = std::vector<int>(3, -1);
  const std::vector<int> expected_{previous_, 10 + previous_, 20 + previous_};
};

TEST_F(cxx_messages, go_round_a_ring) {
  auto sending = world_.isend(sent_, next_, 4);
  const auto from = world_.recv(received_, previous_, 4);
  sending.wait();
  EXPECT_EQ(received_, expected_);
  EXPECT_EQ(from.source, previous_);
  EXPECT_EQ(from.tag, 4);
}

TEST_F(cxx_messages, sendrecv_and_any_source) {
  const auto from = world_.sendrecv(sent_, next_, received_, any, 7);
  EXPECT_EQ(received_, expected_);
  EXPECT_EQ(from.source, previous_);
  EXPECT_EQ(from.tag, 7);
}

TEST_F(cxx_messages, started_receives_know_who_has_sent) {
  std::array<request, 2> sends{world_.isend(sent_, next_, 1), world_.isend(sent_, proc_null)};
  auto receiving = world_.irecv(received_);
  receive_request moved;
  moved = std::move(receiving);
  while (!moved.test()) {
  }
  wait_all(sends);
  EXPECT_EQ(received_, expected_);
  EXPECT_EQ(moved.status().source, previous_);
  EXPECT_EQ(moved.status().tag, 1);
}

TEST_F(cxx_messages, receives_are_in_lists_of_requests) {
  std::vector<request> started;
  started.push_back(world_.irecv(received_, previous_, 3));
  started.push_back(world_.isend(sent_, next_, 3));
  std::vector<int> unrelated(64, 7);  // memory that a freed status would lie in
  std::array<bool, 2> has_ended{};
  for (auto which = wait_any(started); which >= 0; which = wait_any(started))
    has_ended.at(static_cast<std::size_t>(which)) = true;
  EXPECT_TRUE(has_ended[0] && has_ended[1]);
  EXPECT_EQ(received_, expected_);
  EXPECT_EQ(unrelated, std::vector<int>(64, 7));
  auto receiving = world_.irecv(received_, proc_null);
  const request kept = std::move(receiving);
  try {
    receiving.status();  // NOLINT: it was moved from
    ADD_FAILURE() << "a receive that was moved has a status";
  } catch (const error& caught) {
    EXPECT_EQ(caught.code(), status::handle);
  }
}

TEST_F(cxx_messages, dropped_requests_are_waited_for) {
  {
    const auto receiving = world_.irecv(received_, previous_, 2);
    const auto sending = world_.isend(sent_, next_, 2);
  }
  EXPECT_EQ(received_, expected_);
}

TEST_F(cxx_messages, columns_go_into_rows) {
  const std::vector<int> table{1, 2, 3, 4, 5, 6};  // 3 x 2
  const std::array<std::int64_t, 1> three{3}, step{8};
  const const_buffer column(table.data() + 1, three, step);
  world_.sendrecv(column, next_, received_, previous_);
  EXPECT_EQ(received_, (std::vector<int>{2, 4, 6}));
}

TEST_F(cxx_messages, mismatches_and_wrong_peers_throw) {
  std::vector<double> wrong(3);
  auto sending = world_.isend(sent_, next_);
  try {
    world_.recv(wrong, previous_);
    ADD_FAILURE() << "a message of other elements was received";
  } catch (const error& caught) {
    EXPECT_EQ(caught.code(), status::mismatch);
  }
  EXPECT_THROW(world_.send(sent_, size_), error);
  EXPECT_THROW(world_.sendrecv(sent_, next_, sent_, previous_), error);
  EXPECT_THROW(world_.send(sent_, 0, highest_tag() + 1), error);
}

}  // namespace
