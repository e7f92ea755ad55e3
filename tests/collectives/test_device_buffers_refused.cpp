// SPDX-License-Identifier: BSD-3-Clause
// Device buffers when MPI does not accept them: SYNCYTE_CUDA_AWARE=off.

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "messages/message.hpp"
#include "mpi/memory_kinds.hpp"
#include "pretended_cuda.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::outcome_of;
using test::shared_world;
using test::world;

TEST(device_buffers_refused, of_one_rank_are_everybodys_error) {
  EXPECT_FALSE(mpi::takes(SYNCYTE_MEMORY_CUDA));
  float element = 1;
  const std::int64_t shape[] = {1};
  auto buffer = base::make_buffer(&element, SYNCYTE_FLOAT32, shape);
  if (world().rank() == 0) buffer.memory = SYNCYTE_MEMORY_CUDA;
  expect_error(outcome_of([&] { collectives::run<collectives::bcast>(world(), "comm_bcast", {}, 0, &buffer); }),
               SYNCYTE_ERR_UNSUPPORTED,
               "array: the MPI library does not take memory of CUDA devices; copy it to host memory first");
  if (world().rank() == 0)
    expect_error(outcome_of([&] { messages::message::send(shared_world(), &buffer, {0, 1}, SYNCYTE_MESSAGE_ROOM); }),
                 SYNCYTE_ERR_UNSUPPORTED, "the MPI library does not take memory of CUDA devices");
}

TEST(device_buffers_refused, are_sent_without_room) {
  float sent = 3, received = 0;
  const std::int64_t shape[] = {1};
  auto from = base::make_buffer(&sent, SYNCYTE_FLOAT32, shape);
  auto to = base::make_buffer(&received, SYNCYTE_FLOAT32, shape);
  from.memory = to.memory = SYNCYTE_MEMORY_CUDA;
  const int self = world().rank();
  const auto sending = messages::message::send(shared_world(), &from, {self, 1});
  messages::message::receive(shared_world(), &to, {self, 1})->wait();
  sending->wait();
  EXPECT_EQ(received, 3);
}

}  // namespace
