// SPDX-License-Identifier: BSD-3-Clause
// Sums in place over rounds, in C++.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "expect.hpp"
#include "syncyte/reducer.hpp"

namespace {

using namespace syncyte;

class cxx_reducer : public ::testing::Test {
 protected:
  const communicator world_ = communicator::world();
  const std::vector<reducer_bucket> buckets_{{dtype::float32, 3}, {dtype::float64, 2}};
  const reducer sums_{world_, buckets_, 2.0};
};

TEST_F(cxx_reducer, sums_in_place) {
  const auto floats = sums_.bucket<float>(0);
  const auto doubles = sums_.bucket<double>(1);
  for (int round = 1; round < 4; ++round) {
    std::fill(floats.begin(), floats.end(), static_cast<float>(world_.rank()));
    std::fill(doubles.begin(), doubles.end(), round);
    sums_.start(1);
    sums_.progress();
    sums_.start(0);
    sums_.wait();
    EXPECT_EQ(floats[2], static_cast<float>(world_.size() * (world_.size() - 1)));
    EXPECT_EQ(doubles[0], 2.0 * round * world_.size());
  }
}

TEST_F(cxx_reducer, a_rank_that_gives_up_is_an_error_of_all) {
  sums_.start(0);
  if (world_.rank() == 0)
    sums_.give_up();
  else
    sums_.start(1);
  EXPECT_THROW(sums_.wait(), error);
}

TEST_F(cxx_reducer, refuses_wrong_use) {
  EXPECT_THROW(sums_.bucket<double>(0), error);
  EXPECT_THROW(sums_.bucket<float>(2), error);
  EXPECT_THROW(sums_.start(2), error);
  EXPECT_THROW(reducer(world_, {}), error);
  EXPECT_THROW(reducer(world_, std::vector<reducer_bucket>{{dtype::int32, 1}}), error);
}

TEST_F(cxx_reducer, keeps_its_memory_for_another_reference) {
  reducer second = sums_.retain();
  EXPECT_EQ(second.bucket<float>(0).data(), sums_.bucket<float>(0).data());
}

}  // namespace
