// SPDX-License-Identifier: BSD-3-Clause
// Messages in flight when Syncyte ends while the application's MPI continues: memory that MPI may still read or write
// must not be reused.

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "base/buffer.hpp"
#include "lifecycle/lifecycle.hpp"
#include "memory/scratch.hpp"
#include "messages/message.hpp"
#include "runtime/roots.hpp"

namespace {

using namespace syncyte;

constexpr std::int64_t rows = 100000;

bool ends_with_an_error(messages::message& message) {
  try {
    message.wait();
  } catch (const base::error& error) {
    return error.status() == SYNCYTE_ERR_NOT_INITIALIZED;
  }
  return false;
}

int failed(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  lifecycle::start(3);
  const auto world = runtime::world();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;

  // Every second element, so it is packed into Syncyte's memory. No rank receives it.
  std::vector<std::int32_t> elements(2 * rows, 0x5ca1ab1e);
  std::vector<std::int32_t> one(1), many(rows, -1);
  std::int64_t shape[] = {rows};
  auto strided = base::make_buffer(elements.data(), SYNCYTE_INT32, shape);
  strided.strides[0] = 8;
  const auto contiguous = base::make_buffer(many.data(), SYNCYTE_INT32, shape);
  shape[0] = 1;
  const auto single = base::make_buffer(one.data(), SYNCYTE_INT32, shape);
  auto sent = messages::message::send(world, &strided, {next, 1});
  auto dropped = messages::message::send(world, &strided, {next, 2});
  auto never_comes = messages::message::receive(world, &contiguous, {previous, 3});
  auto short_one = messages::message::receive(world, &single, {previous, 4});
  lifecycle::finish();

  if (!ends_with_an_error(*sent)) return failed("the message that no rank receives has ended without an error");
  if (!ends_with_an_error(*never_comes)) return failed("the message that never comes has ended without an error");
  if (!ends_with_an_error(*short_one)) return failed("the short message has ended without an error");
  sent.reset();
  dropped.reset();
  std::vector<memory::scratch> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back(sizeof(std::int32_t) * rows);
    std::int32_t first = 0;
    std::memcpy(&first, others.back().data(), sizeof first);
    if (first == 0x5ca1ab1e) return failed("memory of a message that MPI has not sent is used again");
  }
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);  // MPI continues
  MPI_Finalize();
  return 0;
}
