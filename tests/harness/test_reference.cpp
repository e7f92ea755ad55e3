// SPDX-License-Identifier: BSD-3-Clause
// The reference (oracle) against MPI, and against itself: its results must not depend on the rank that computes them.

#include <gtest/gtest.h>
#include <mpi.h>

#include <complex>
#include <vector>

#include "reference.hpp"

namespace {

namespace reference = syncyte::reference;

struct world {
  int rank = 0;
  int size = 1;
  world() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
};

std::vector<int> as_int(const reference::lengths& values) { return {values.begin(), values.end()}; }

std::vector<int> displacements(const std::vector<int>& counts) {
  std::vector<int> places(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) places[i] = places[i - 1] + counts[i - 1];
  return places;
}

TEST(reference, allreduce_is_mpis) {
  const world w;
  const auto mine = reference::random_values<double>(1, w.rank, 100);
  std::vector<double> result(100);
  MPI_Allreduce(mine.data(), result.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(result, reference::allreduce<double>(1, w.size, 100));
  MPI_Allreduce(mine.data(), result.data(), 100, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(result, reference::reduce<double>(1, w.size, 100, [](double a, double b) { return a > b ? a : b; }));
}

TEST(reference, allgatherv_is_mpis) {
  const world w;
  const auto parts = reference::uneven_lengths(2, 50, w.size);
  const auto counts = as_int(parts);
  const auto mine = reference::random_values<int>(2, w.rank, parts[static_cast<std::size_t>(w.rank)]);
  std::vector<int> result(50);
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_INT, result.data(), counts.data(),
                 displacements(counts).data(), MPI_INT, MPI_COMM_WORLD);
  EXPECT_EQ(result, reference::allgatherv<int>(2, parts));
}

TEST(reference, alltoallv_is_mpis) {
  const world w;
  const auto send = as_int(reference::alltoallv_send_counts(3, w.rank, w.size, 9));
  const auto receive = as_int(reference::alltoallv_receive_counts(3, w.rank, w.size, 9));
  const auto mine = reference::random_values<int>(3, w.rank, displacements(send).back() + send.back());
  std::vector<int> result(static_cast<std::size_t>(displacements(receive).back() + receive.back()));
  MPI_Alltoallv(mine.data(), send.data(), displacements(send).data(), MPI_INT, result.data(), receive.data(),
                displacements(receive).data(), MPI_INT, MPI_COMM_WORLD);
  EXPECT_EQ(result, reference::alltoallv<int>(3, w.rank, w.size, 9));
}

TEST(reference, partitions_add_up_and_owners_follow) {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const auto& parts :
         {reference::equal_lengths(17, ranks), reference::uneven_lengths(4, 17, ranks),
          reference::lengths_on_one(17, ranks, ranks - 1), reference::lengths_with_gaps(17, ranks)}) {
      ASSERT_EQ(reference::first_row(parts, ranks), 17);
      EXPECT_EQ(reference::owner(parts, -1), -1);
      EXPECT_EQ(reference::owner(parts, 17), -1);
      for (std::int64_t row = 0; row < 17; ++row) {
        const int owner = reference::owner(parts, row);
        EXPECT_GE(row, reference::first_row(parts, owner));
        EXPECT_LT(row, reference::first_row(parts, owner + 1));
      }
    }
  }
  EXPECT_EQ(reference::equal_lengths(5, 3), (reference::lengths{2, 2, 1}));
  EXPECT_EQ(reference::lengths_with_gaps(5, 3), (reference::lengths{3, 0, 2}));
}

TEST(reference, rows_gather_and_scatter) {
  std::vector<int> table{0, 1, 10, 11, 20, 21};
  const std::vector<std::int64_t> index{2, 0, 2};
  EXPECT_EQ(reference::gather_rows(table, 2, index), (std::vector<int>{20, 21, 0, 1, 20, 21}));
  reference::scatter_add_rows(table, 2, index, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(table, (std::vector<int>{3, 5, 10, 11, 26, 29}));
  reference::scatter_rows(table, 2, index, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(table, (std::vector<int>{3, 4, 10, 11, 5, 6}));
}

TEST(reference, every_element_type) {
  EXPECT_EQ(reference::sum<unsigned char>(1, 0), 1);
  EXPECT_EQ(reference::sum<bool>(true, true), true);
  EXPECT_EQ(reference::sum(std::complex<float>(1, 2), std::complex<float>(1, 1)), std::complex<float>(2, 3));
  EXPECT_EQ(reference::random_values<std::complex<double>>(5, 1, 4).size(), 4U);
}

}  // namespace
