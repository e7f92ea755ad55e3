// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are known to have died. The tests run in children, because no process forgets a death.

#include "mpi/deaths.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "mpi_world.hpp"
#include "waiting_child.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using test::expect_error;
using test::in_child;
using test::outcome_of;
using test::waiting_child;

TEST(deaths, are_remembered) {
  in_child([] {
    EXPECT_FALSE(mpi::knows_death());
    EXPECT_FALSE(mpi::is_dead(7));
    EXPECT_TRUE(mpi::dead_ranks().empty());
    EXPECT_NO_THROW(mpi::require_no_death());
    for (const int rank : {7, 3, 12, 3}) mpi::declare_dead(rank);
    EXPECT_TRUE(mpi::knows_death());
    EXPECT_TRUE(mpi::is_dead(3));
    EXPECT_FALSE(mpi::is_dead(4));
    EXPECT_EQ(mpi::dead_ranks(), (std::vector{3, 7, 12}));
  });
}

TEST(deaths, are_declared_by_several_threads) {
  in_child([] {
    constexpr int each = 5000;
    std::barrier all_are_here(4);
    std::vector<std::thread> threads;
    for (int first = 0; first < 4; ++first)
      threads.emplace_back([&, first] {
        all_are_here.arrive_and_wait();
        for (int i = 0; i < each; ++i) mpi::declare_dead(first + 4 * i);
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(mpi::dead_ranks().size(), 4u * each);
  });
}

TEST(deaths, the_error_names_the_ranks) {
  in_child([] {
    mpi::declare_dead(5);
    const auto error = base::error_of([] { mpi::require_no_death(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status(), SYNCYTE_ERR_PEER_DIED);
    EXPECT_EQ(error->fields().rank, 5);
    EXPECT_STREQ(error->what(),
                 "rank 5 of the world has died or cannot be reached any more, and MPI cannot be used without it");
    mpi::declare_dead(2);
    expect_error(
        outcome_of([] { mpi::fail_by_death(); }), SYNCYTE_ERR_PEER_DIED,
        "ranks 2, 5 of the world have died or cannot be reached any more, and MPI cannot be used without them");
  });
}

TEST(deaths, are_looked_for_at_once) {
  in_child([] {
    EXPECT_NO_THROW(mpi::look_for_deaths_now()) << "nothing is watched";
    const waiting_child other, later;
    mpi::watch_processes({{7, other.process()}, {3, later.process()}});
    mpi::look_for_deaths_now();
    EXPECT_FALSE(mpi::knows_death());
    other.kill();
    mpi::look_for_deaths_now();
    EXPECT_EQ(mpi::dead_ranks(), std::vector{7});
    mpi::stop_watching_processes();
    later.kill();
    mpi::look_for_deaths_now();
    EXPECT_EQ(mpi::dead_ranks(), std::vector{7});
  });
}

/// Kills the next child when the death of the one before is known, so that each is found by another look.
TEST(deaths, waits_of_all_threads_look_fifty_times_a_second) {
  in_child([] {
    const waiting_child children[4];
    for (int i = 0; i < 4; ++i) mpi::watch_processes({{i, children[i].process()}});
    const auto begin = std::chrono::steady_clock::now();
    std::atomic<bool> is_over = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        while (!is_over && std::chrono::steady_clock::now() < begin + 5s) mpi::look_for_deaths();
      });
    for (int i = 0; i < 4; ++i) {
      children[i].kill();
      while (mpi::known_deaths() == i && std::chrono::steady_clock::now() < begin + 5s) std::this_thread::yield();
    }
    is_over = true;
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(mpi::known_deaths(), 4);
    EXPECT_LE(mpi::known_deaths(), (std::chrono::steady_clock::now() - begin) / 20ms + 1);
  });
}

TEST(deaths, forked_children_do_not_look) {
  in_child([] {
    const waiting_child other;
    mpi::watch_processes({{7, other.process()}});
    mpi::set_started();
    mpi::become_forked_child();
    other.kill();
    mpi::look_for_deaths();
    EXPECT_FALSE(mpi::knows_death());
  });
}

}  // namespace
