// SPDX-License-Identifier: BSD-3-Clause
// Kinds of memory that MPI takes, with a pretended CUDA backend and a pretended answer of the MPI library. Most tests
// run in children, because a process reads its environment once.

#include "mpi/memory_kinds.hpp"

#include <cstdlib>

#include "mpi_world.hpp"
#include "pretended_cuda.hpp"

namespace {

int answer = 0;

}  // namespace

extern "C" int MPIX_Query_cuda_support();
extern "C" int MPIX_Query_cuda_support() { return answer; }

namespace {

using namespace syncyte;
using test::expect_error;
using test::in_child;
using test::outcome_of;

void choose(const char* value) {
  if (value != nullptr)
    setenv("SYNCYTE_CUDA_AWARE", value, 1);
  else
    unsetenv("SYNCYTE_CUDA_AWARE");
}

/// Whether MPI takes memory of CUDA devices, in a process that starts with these.
void expect_cuda(bool expected, const char* setting, int library) {
  in_child([=] {
    choose(setting);
    answer = library;
    EXPECT_EQ(mpi::takes(SYNCYTE_MEMORY_CUDA), expected);
    EXPECT_TRUE(mpi::takes(SYNCYTE_MEMORY_HOST));
  });
}

/// A buffer of one element on a device of a kind; the address is the host's.
syncyte_buffer_t one_element(syncyte_memory_t memory, int device) {
  static float element = 1;
  const std::int64_t shape[] = {1};
  syncyte_buffer_t result = base::make_buffer(&element, SYNCYTE_FLOAT32, shape);
  result.memory = memory;
  result.device = device;
  return result;
}

void expect_refused(syncyte_status_t status, int device, const char* text) {
  const auto raw = one_element(SYNCYTE_MEMORY_CUDA, device);
  const base::buffer given(&raw, "input");
  expect_error(outcome_of([&] { mpi::require_taken(given); }), status, text);
}

void expect_taken(syncyte_memory_t memory, int device) {
  const auto raw = one_element(memory, device);
  const base::buffer given(&raw, "input");
  EXPECT_EQ(&mpi::require_taken(given), &given);
}

TEST(memory_kinds, the_library_is_asked) {
  expect_cuda(true, nullptr, 1);
  expect_cuda(false, nullptr, 0);
}

TEST(memory_kinds, the_environment_overrules_the_library) {
  expect_cuda(true, "on", 0);
  expect_cuda(false, "off", 1);
}

TEST(memory_kinds, without_devices_none_is_taken) {
  in_child([] {
    test::pretended_cuda::devices = 0;
    choose("on");
    EXPECT_FALSE(mpi::takes(SYNCYTE_MEMORY_CUDA));
    EXPECT_TRUE(mpi::takes(SYNCYTE_MEMORY_HOST));
    expect_refused(SYNCYTE_ERR_UNSUPPORTED, 0, "there is no CUDA device: the pretended driver is too old");
  });
}

TEST(memory_kinds, unknown_kinds_are_refused) {
  expect_error(outcome_of([] { mpi::takes(77); }), SYNCYTE_ERR_ARGUMENT, "77");
}

TEST(memory_kinds, buffers_that_mpi_does_not_take_are_refused) {
  in_child([] {
    choose("off");
    expect_taken(SYNCYTE_MEMORY_HOST, 0);
    expect_refused(SYNCYTE_ERR_UNSUPPORTED, 0, "input: the MPI library does not take memory of CUDA devices");
  });
  in_child([] {
    choose("on");
    expect_taken(SYNCYTE_MEMORY_HOST, 0);
    expect_taken(SYNCYTE_MEMORY_CUDA, 1);
    expect_refused(SYNCYTE_ERR_ARGUMENT, 2, "2");
  });
}

// The last test: here this process itself reads its environment.
TEST(memory_kinds, a_job_takes_devices_if_any_rank_does) {
  EXPECT_FALSE(mpi::job_takes_device_memory());
  choose(test::world_rank() == test::world_size() - 1 ? "on" : "off");
  mpi::agree_on_device_memory(MPI_COMM_SELF);
  EXPECT_EQ(mpi::job_takes_device_memory(), test::world_rank() == test::world_size() - 1);
  mpi::agree_on_device_memory(MPI_COMM_WORLD);
  EXPECT_TRUE(mpi::job_takes_device_memory());
}

}  // namespace
