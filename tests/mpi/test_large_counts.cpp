// SPDX-License-Identifier: BSD-3-Clause
// Counts that are more than MPI's int: how they are divided. No memory is needed.

#include "mpi/large_counts.hpp"

#include <gtest/gtest.h>

namespace {

using namespace syncyte;

constexpr std::int64_t int_max = std::numeric_limits<int>::max();

/// Lowers the limit of pieces during the object's lifetime.
class lower_limit {
 public:
  explicit lower_limit(std::int64_t limit) { mpi::piece_limit() = limit; }
  ~lower_limit() { mpi::piece_limit() = before_; }

 private:
  std::int64_t before_ = mpi::piece_limit();
};

/// Pieces follow each other without gaps, to the last element; all but the last one have `size` elements. Returns their
/// number.
template <class... Most>
int expect_pieces(std::int64_t elements, std::int64_t size, Most... most) {
  std::int64_t next = 0;
  int pieces = 0;
  mpi::in_pieces(
      elements,
      [&](std::int64_t first, int count) {
        EXPECT_EQ(first, next);
        EXPECT_EQ(count, std::min(size, elements - first));
        next = first + count;
        ++pieces;
      },
      most...);
  EXPECT_EQ(next, elements);
  return pieces;
}

TEST(large_counts, no_piece_is_more_than_an_int) {
  EXPECT_EQ(expect_pieces(0, int_max), 0);
  EXPECT_EQ(expect_pieces(1, int_max), 1);
  EXPECT_EQ(expect_pieces(int_max, int_max), 1);
  EXPECT_EQ(expect_pieces(int_max + 1, int_max), 2);
  EXPECT_EQ(expect_pieces(2 * int_max, int_max), 2);
  EXPECT_EQ(expect_pieces((std::int64_t{1} << 40) + 5, int_max), 513);
}

TEST(large_counts, a_call_may_ask_for_smaller_pieces) {
  constexpr std::int64_t most = 1 << 30;
  EXPECT_EQ(expect_pieces(std::int64_t{1} << 33, most, most), 8);
  EXPECT_EQ(expect_pieces((std::int64_t{1} << 33) + 1, most, most), 9);
}

TEST(large_counts, tests_lower_the_limit) {
  const lower_limit limit(3);
  EXPECT_EQ(expect_pieces(7, 3), 3);
  EXPECT_EQ(expect_pieces(7, 2, 2), 4);
  EXPECT_EQ(expect_pieces(7, 3, 5), 3);
}

TEST(large_counts, sums_are_not_limited) {
  const std::vector<std::int64_t> counts{int_max, 0, int_max, 5};
  EXPECT_EQ(mpi::sum_of(counts), 2 * int_max + 5);
  EXPECT_EQ(mpi::sum_of({}), 0);
}

TEST(large_counts, offsets_are_sums_of_the_counts_before) {
  const std::vector<std::int64_t> wide{3, 0, 4, int_max - 7};
  const mpi::int_layout layout(wide);
  EXPECT_EQ(layout.counts, (std::vector{3, 0, 4, static_cast<int>(int_max - 7)}));
  EXPECT_EQ(layout.offsets, (std::vector{0, 3, 3, 7}));
}

}  // namespace
