// SPDX-License-Identifier: BSD-3-Clause
// The processes that a process knows: a table that a node shares, and the peers that are made of it.

#include "fabric/known_peers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "allocated.hpp"
#include "mpi/deaths.hpp"
#include "process_tables.hpp"
#include "shared_bytes.hpp"

namespace {

using namespace syncyte;

constexpr int first_world_rank = 1000;

std::uint64_t process_of(std::size_t rank) { return 5 * rank + 1; }

std::string address_of(std::size_t rank) { return std::string(100 + rank % 50, static_cast<char>('a' + rank % 26)); }

std::shared_ptr<const fabric::process_table> table_of(std::size_t ranks) {
  std::vector<fabric::process_entry> entries;
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    entries.push_back({process_of(rank), {rank, rank + 1}, first_world_rank + static_cast<std::int32_t>(rank), 0});
    addresses.push_back(address_of(rank));
  }
  return test::table_of(entries, addresses);
}

TEST(known_peers, are_made_of_the_table) {
  fabric::known_peers peers;
  const auto members = table_of(100);
  for (const std::size_t rank : std::vector<std::size_t>{0, 49, 99}) {
    const fabric::peer& made = peers.at(*members, rank);
    EXPECT_EQ(made.process, process_of(rank));
    EXPECT_EQ(made.key, (fabric::process_key{rank, rank + 1}));
    EXPECT_EQ(made.address, address_of(rank));
    EXPECT_EQ(made.world_rank, first_world_rank + static_cast<int>(rank));
    EXPECT_FALSE(made.is_dead);
    EXPECT_EQ(&made, &peers.at(*members, rank)) << "once";
  }
}

TEST(known_peers, a_process_without_a_peer_takes_no_memory) {
  fabric::known_peers peers;
  const auto members = table_of(10000);
  const std::int64_t before = test::allocated;
  peers.add(7, members);
  EXPECT_LE(test::allocated - before, 128) << "whatever the number of processes";
  peers.at(*members, 17);
  EXPECT_NE(peers.find(process_of(9999)), nullptr);
  EXPECT_LE(test::allocated - before, 128 + 2 * 128);
}

TEST(known_peers, are_found_by_the_process_while_a_communicator_has_it) {
  fabric::known_peers peers;
  const auto members = table_of(10), others = table_of(20);
  EXPECT_EQ(peers.find(process_of(3)), nullptr);
  peers.add(7, members);
  peers.add(8, others);
  fabric::peer* const found = peers.find(process_of(3));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, &peers.at(*members, 3));
  EXPECT_EQ(found, &peers.at(*others, 3)) << "one peer for each process";
  EXPECT_NE(peers.find(process_of(15)), nullptr);
  EXPECT_EQ(peers.find(2), nullptr);
  peers.remove(7);
  peers.remove(8);
  EXPECT_EQ(peers.find(process_of(3)), found) << "made before";
  EXPECT_EQ(peers.find(process_of(4)), nullptr);
}

TEST(known_peers, keep_the_addresses_that_they_point_to) {
  fabric::known_peers peers;
  auto members = table_of(10);
  const std::weak_ptr<const std::byte[]> memory = members->memory();
  const fabric::peer& made = peers.at(*members, 3);
  members.reset();
  EXPECT_FALSE(memory.expired());
  EXPECT_EQ(made.address, address_of(3));
}

TEST(known_peers, several_threads_get_the_same_ones) {
  fabric::known_peers peers;
  const auto members = table_of(1000);
  peers.add(7, members);
  std::vector<fabric::peer*> found[4];
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&] {
      const bool is_first = &mine == &found[0];
      for (std::size_t rank = 0; rank < 1000; ++rank)
        mine.push_back(is_first ? peers.find(process_of(rank)) : &peers.at(*members, rank));
    });
  for (std::thread& each : threads) each.join();
  for (const auto& others : found) EXPECT_EQ(others, found[0]);
}

TEST(known_peers, processes_of_dead_ranks_need_no_peer) {
  // In a child: this process must not know of a death.
  const pid_t child = test::fork_to([] {
    fabric::known_peers peers;
    peers.add(7, table_of(10));
    mpi::declare_dead(first_world_rank + 4);
    mpi::declare_dead(4);
    if (peers.dead() != std::vector{process_of(4)}) throw std::runtime_error("wrong");
  });
  EXPECT_EQ(test::exit_code(child), 0);
}

}  // namespace
