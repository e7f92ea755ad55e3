// SPDX-License-Identifier: BSD-3-Clause
// Tables with an entry for each rank: a node keeps one copy of them for each object, and a rank none. docs/scale.md has
// the bytes that this prints.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "allocated.hpp"
#include "comm/split.hpp"
#include "kv/store.hpp"
#include "tensor_world.hpp"
#include "window/operations.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
using comm_pointer = std::shared_ptr<comm::communicator>;
using window_pointer = std::shared_ptr<window::window>;

/// Parts of a rank: uneven, and every third one empty.
std::int64_t part_of(int rank) { return rank % 3 == 1 ? 0 : 2 + rank; }

window_pointer make_window(const comm_pointer& comm) {
  comm::collective_call call(*comm, "test_window_create", comm::collective_call::always_agrees);
  return window::window::create(call, static_cast<std::size_t>(part_of(comm->rank())), "test");
}

tensor_pointer make_uneven_tensor(const comm_pointer& comm) {
  tensor::tensor_options options;
  options.name = "test";
  options.local_rows = part_of(comm->rank());
  std::int64_t rows = 0;
  for (int rank = 0; rank < comm->size(); ++rank) rows += part_of(rank);
  return tensor::whole_tensor::create(comm, SYNCYTE_INT64, 1, &rows, options);
}

tensor_pointer make_equal_tensor(const comm_pointer& comm) {
  const std::int64_t rows = 1000;
  return tensor::whole_tensor::create(comm, SYNCYTE_INT64, 1, &rows, {.name = "test", .error = {}});
}

std::shared_ptr<kv::store> make_store(const comm_pointer& comm) {
  const std::int64_t length = 4;
  return kv::store::create(comm, SYNCYTE_FLOAT32, 10 * comm->size(), 1, &length, {.name = "test", .error = {}});
}

/// Bytes of this rank's own memory that an object takes. The least of several: lists of objects grow in large steps.
std::int64_t own_bytes(const std::function<std::shared_ptr<void>()>& make) {
  const auto first = make();  // frees what was dropped before
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<std::shared_ptr<void>> made(8);
  for (auto& each : made) {
    const std::int64_t before = allocated;
    each = make();
    least = std::min(least, allocated - before);
  }
  return least;
}

TEST(tables, a_rank_keeps_as_many_bytes_of_an_object_as_one_of_two_ranks) {
  // Open MPI 4 gives windows of two communicators that have no rank in common the same file.
  if (!on_one_node() && !has_fabric()) GTEST_SKIP() << "MPI's windows are used";
  const auto pair = comm::split(world(), rank() % (ranks() / 2), 0, {});  // of two nodes, if the world is of several
  const auto compare = [&](const char* name, auto make, std::int64_t bytes_of_node_rank = 0) {
    const std::int64_t here = own_bytes([&] { return make(shared_world()); });
    const std::int64_t of_two = own_bytes([&] { return make(pair); });
    // malloc rounds, and names have other lengths.
    EXPECT_LE(here, of_two + 64 + bytes_of_node_rank * world().node().size) << name;
    if (rank() == 0)
      std::printf("scale: %d ranks, a %s: %lld bytes of a rank's own, on 2 ranks %lld\n", ranks(), name,
                  static_cast<long long>(here), static_cast<long long>(of_two));
  };
  compare("communicator", [](const comm_pointer& comm) { return comm::duplicate(*comm, {}); }, 24);
  compare("window", make_window);
  compare("tensor of equal parts", make_equal_tensor);
  compare("tensor of other parts", make_uneven_tensor);
  if (on_one_node()) compare("store", make_store);
}

TEST(tables, ranks_of_a_node_have_one_table) {
  const auto tensor = make_uneven_tensor(shared_world());
  auto* const firsts = const_cast<std::int64_t*>(tensor->layout().partition().table().data());
  const std::int64_t before = firsts[ranks()];
  barrier();
  if (world().node().rank == 0) firsts[ranks()] = -1;
  barrier();
  EXPECT_EQ(firsts[ranks()], -1);
  barrier();
  if (world().node().rank == 0) firsts[ranks()] = before;
  barrier();
}

TEST(tables, parts_may_be_uneven_and_empty) {
  const auto window = make_window(shared_world());
  const auto tensor = make_uneven_tensor(shared_world());
  std::vector<std::int64_t> mine(static_cast<std::size_t>(part_of(rank())));
  const syncyte_buffer_t local = buffer_of(mine, SYNCYTE_INT64, {std::ssize(mine)});
  const auto wrapped = tensor::whole_tensor::wrap(shared_world(), &local, {.name = "wrapped", .error = {}});
  std::int64_t begin = 0;
  for (int owner = 0; owner < ranks(); ++owner) {
    const std::int64_t size = part_of(owner);
    EXPECT_EQ(window->size(owner), size);
    for (const auto& each : {tensor, wrapped}) {
      std::int64_t first = -1, count = -1;
      each->rows(owner, first, count);
      EXPECT_EQ(first, begin);
      EXPECT_EQ(count, size);
      for (std::int64_t row = begin; row < begin + size; ++row) EXPECT_EQ(each->layout().partition().owner(row), owner);
    }
    std::uint8_t byte = 1;
    const std::int64_t one = 1;
    const syncyte_buffer_t given = base::make_buffer(&byte, SYNCYTE_UINT8, {&one, 1});
    expect_error(outcome_of([&] { access::run<window::put>(*window, owner, size, &given); }), SYNCYTE_ERR_INDEX,
                 fmt::format("which has {} bytes", size));
    begin += size;
  }
  barrier();
}

TEST(tables, stay_while_a_rank_reads_them) {
  auto tensor = make_uneven_tensor(shared_world());
  auto window = make_window(shared_world());
  const auto parts = tensor->layout().partition();
  const auto find_all = [&] {
    for (int owner = 0; owner < ranks(); ++owner) {
      if (part_of(owner) == 0) continue;
      EXPECT_EQ(parts.owner(parts.first(owner)), owner);
    }
  };
  const auto drop = [&] {
    tensor.reset();
    window.reset();
    make_equal_tensor(shared_world());  // frees what all ranks have dropped
  };
  rank() == 0 ? drop() : static_cast<void>(make_equal_tensor(shared_world()));
  find_all();
  if (window != nullptr) {
    EXPECT_EQ(window->size(0), part_of(0));
  }
  rank() == 0 ? static_cast<void>(make_equal_tensor(shared_world())) : drop();
  find_all();
  barrier();
}

}  // namespace
