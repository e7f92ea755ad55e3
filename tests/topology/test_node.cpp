// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "collectives/collectives.hpp"
#include "comm/node_memory.hpp"
#include "comm/split.hpp"
#include "core_world.hpp"
#include "memory/capacity.hpp"
#include "mpi/deaths.hpp"
#include "no_more_files.hpp"
#include "shared_bytes.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::outcome_of;
using test::world;

bool shares_nothing() {
  const char* way = std::getenv("SYNCYTE_SHM");
  return way != nullptr && std::strcmp(way, "none") == 0;
}

TEST(node, groups_are_consistent) {
  const topology::node_group& node = world().node();
  const int expected_size = shares_nothing() ? 1 : world().size();  // the tests' ranks are on one host
  EXPECT_EQ(node.size, expected_size);
  EXPECT_EQ(node.count, world().size() / expected_size);
  EXPECT_EQ(node.members[static_cast<std::size_t>(node.rank)], world().rank());
  EXPECT_TRUE(std::is_sorted(node.members.begin(), node.members.end()));
  for (int rank = 0; rank < world().size(); ++rank) {
    const bool is_member = std::count(node.members.begin(), node.members.end(), rank) == 1;
    EXPECT_EQ(node.is_here(rank), is_member);
    EXPECT_EQ(node.node_rank(rank) >= 0, is_member);
  }
  for (int i = 0; i < node.size; ++i) EXPECT_TRUE(node.is_alive(i));
}

TEST(node, a_process_that_ended_is_not_alive) {
  EXPECT_TRUE(mpi::is_alive(mpi::this_process()));
  auto other = mpi::this_process();
  other.start_time += 1;  // the same pid, another process
  EXPECT_FALSE(mpi::is_alive(other));
}

TEST(node, a_living_process_is_alive_without_file_descriptors) {
  mpi::process_id ended;
  ended.pid = test::fork_to([] {});
  EXPECT_EQ(test::exit_code(static_cast<pid_t>(ended.pid)), 0);
  const auto self = mpi::this_process();
  const test::no_more_files limited;
  EXPECT_TRUE(mpi::is_alive(self));
  EXPECT_FALSE(mpi::is_alive(ended));
}

TEST(node, a_process_without_a_pid_is_alive_until_its_death_is_known) {
  topology::node_group node;
  node.world_ranks = {0, 1000};
  node.processes = {mpi::this_process(), {}};
  // In a child: this process must not know of a death.
  const pid_t child = test::fork_to([&] {
    const bool before = node.is_alive(1);
    mpi::declare_dead(1000);
    if (!before || node.is_alive(1) || !node.is_alive(0)) throw std::runtime_error("wrong");
  });
  EXPECT_EQ(test::exit_code(child), 0);
}

TEST(node, parts_split_off_keep_their_nodes) {
  const auto odd = comm::split(world(), world().rank() % 2, 0, {});
  EXPECT_EQ(odd->node().size, shares_nothing() ? 1 : odd->size());
  const auto node = comm::split_node(world(), {});
  EXPECT_EQ(node->size(), world().node().size);
}

TEST(node, leaders_are_one_rank_of_each_node) {
  const auto leaders = comm::split_leaders(world(), {});
  EXPECT_EQ(leaders != nullptr, world().node().rank == 0);
  if (leaders) {
    EXPECT_EQ(leaders->size(), world().node().count);
    EXPECT_EQ(leaders->rank(), world().node().index);
    EXPECT_EQ(leaders->node().size, 1) << "no two of them share memory";
    EXPECT_EQ(leaders->name(), world().name() + "/leaders");
  }
}

TEST(node_memory, every_rank_sees_every_part_of_the_node) {
  const topology::node_group& node = world().node();
  comm::collective_call call(world(), "test_allocate", comm::collective_call::always_agrees);
  call.agree();
  const auto bytes = static_cast<std::size_t>(1000 * (world().rank() % 3));  // uneven, some empty
  const auto memory = comm::node_memory::allocate(call, bytes, "a test");
  ASSERT_EQ(memory->local().size(), bytes);
  for (const std::byte byte : memory->local()) ASSERT_EQ(byte, std::byte{0});
  std::memset(memory->local().data(), world().rank() + 1, bytes);
  call.agree();
  std::size_t total = 0;
  for (int i = 0; i < node.size; ++i) {
    EXPECT_EQ(memory->part(i).data(), memory->all().data() + total);  // one range, without gaps
    for (const std::byte byte : memory->part(i))
      ASSERT_EQ(static_cast<int>(byte), node.members[static_cast<std::size_t>(i)] + 1);
    total += memory->part(i).size();
  }
  EXPECT_EQ(memory->all().size(), total);
  call.agree();
}

TEST(node_memory, more_than_the_machine_has_is_refused_on_all_ranks) {
  const auto result = outcome_of([] {
    comm::collective_call call(world(), "test_allocate", comm::collective_call::always_agrees);
    call.agree();
    const std::size_t bytes = world().rank() == world().size() - 1 ? std::size_t{1} << 45 : 10;  // 32 TiB
    comm::node_memory::allocate(call, bytes, "a test");
  });
  expect_error(result, SYNCYTE_ERR_MEMORY, "a test");
  collectives::barrier(world());
}

TEST(node_memory, what_the_machine_has_not_for_all_ranks_together_is_refused) {
  if (world().size() == 1) GTEST_SKIP() << "one rank alone is checked above";
  // A single rank would get so much memory, all ranks together do not. It is not touched, in case it is allocated.
  const auto bytes = static_cast<std::size_t>(memory::available_bytes() / 10 * 8);
  const auto result = outcome_of([&] {
    comm::collective_call call(world(), "test_allocate", comm::collective_call::always_agrees);
    call.agree();
    comm::node_memory::allocate(call, bytes, "a test", {}, false);
  });
  expect_error(result, SYNCYTE_ERR_MEMORY, "a test");
  const auto part =
      comm::split(world(), 0, -world().rank(), {});  // a communicator made of another knows the machine too
  const auto again = outcome_of([&] {
    comm::collective_call call(*part, "test_allocate", comm::collective_call::always_agrees);
    call.agree();
    comm::node_memory::allocate(call, bytes, "a test", {}, false);
  });
  expect_error(again, SYNCYTE_ERR_MEMORY, "a test");
}

TEST(node_memory, too_many_open_files_are_an_error_that_names_the_limit) {
  for (const int odd : {0, world().size() - 1}) {
    std::optional<test::no_more_files> limited;
    if (world().rank() == odd) limited.emplace();
    const auto result = outcome_of([&] {
      comm::collective_call call(world(), "test_operation");
      comm::node_memory::allocate(call, 4096, "a test");
    });
    limited.reset();
    expect_error(result, SYNCYTE_ERR_LIMIT, "EMFILE");
    expect_error(result, SYNCYTE_ERR_LIMIT, "this process may have 0 open files (RLIMIT_NOFILE; ulimit -n)");
  }
}

}  // namespace
