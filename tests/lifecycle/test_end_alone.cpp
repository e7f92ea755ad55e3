// SPDX-License-Identifier: BSD-3-Clause
// The end of a rank that knows of a death: it waits for no other rank, frees nothing, and leaves MPI. Each test runs in
// a job of its own. No rank dies: MPI, which does not know of it, ends as usual.

#include <mpi.h>

#include <string>

#include "core_world.hpp"
#include "lifecycle/lifecycle.hpp"
#include "mpi/deaths.hpp"
#include "mpi/process.hpp"
#include "runtime/roots.hpp"

namespace {

using namespace syncyte;

constexpr int dead_rank = 1000;
int calls = 0;
int barriers = 0;

bool count_call(bool) noexcept {
  ++calls;
  return true;
}

/// Never ends: another rank dies.
bool wait_for_dead_rank(bool) noexcept {
  ++calls;
  mpi::declare_dead(dead_rank);
  return false;
}

/// Ends Syncyte; the text that this has written to stderr.
std::string finish() {
  testing::internal::CaptureStderr();
  EXPECT_NO_THROW(lifecycle::finish());
  return testing::internal::GetCapturedStderr();
}

void expect_end_alone(const comm::communicator& world) {
  const std::string text = finish();
  EXPECT_NE(text.find("rank 1000 of the world, which is not in world, has died"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing is freed, and MPI is not finalized"), std::string::npos) << text;
  EXPECT_FALSE(mpi::is_started());
  EXPECT_TRUE(mpi::was_finished());
  EXPECT_NE(world.data(), MPI_COMM_NULL);
  EXPECT_FALSE(mpi::mpi_is(MPI_Finalized));
  EXPECT_EQ(finish(), "") << "a second end does nothing";
}

TEST(end_alone, after_a_death) {
  lifecycle::start(3, std::nullopt, count_call);
  const auto world = runtime::world();
  mpi::declare_dead(dead_rank);
  const int barriers_before = barriers;
  expect_end_alone(*world);
  EXPECT_EQ(calls, 0) << "requests may need the dead rank";
  EXPECT_EQ(barriers, barriers_before) << "no thread may enter MPI any more";
}

TEST(end_alone, when_a_rank_dies_during_the_end) {
  lifecycle::start(3, std::nullopt, wait_for_dead_rank);
  const auto world = runtime::world();
  expect_end_alone(*world);
  EXPECT_EQ(calls, 1);
}

}  // namespace

/// In the place of MPI's own function: its profiling interface has the function under another name.
extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  ++barriers;
  return PMPI_Ibarrier(comm, request);
}
