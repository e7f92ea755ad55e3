// Ranks that are known to have died. The tests run in children, because no process forgets a death.

#include "mpi/deaths.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "mpi_world.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using test::expect_error;
using test::in_child;
using test::outcome_of;

std::atomic<int> searches = 0;
void count_search() noexcept { ++searches; }

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
    EXPECT_NO_THROW(mpi::look_for_deaths_now()) << "without a search";
    mpi::find_deaths_by(count_search);
    for (int time = 1; time <= 3; ++time) {
      mpi::look_for_deaths_now();
      EXPECT_EQ(searches, time);
    }
    mpi::find_deaths_by(nullptr);
    mpi::look_for_deaths_now();
    EXPECT_EQ(searches, 3);
  });
}

TEST(deaths, waits_of_all_threads_look_fifty_times_a_second) {
  in_child([] {
    mpi::find_deaths_by(count_search);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        while (searches < 4 && std::chrono::steady_clock::now() < begin + 5s) mpi::look_for_deaths();
      });
    for (std::thread& each : threads) each.join();
    EXPECT_GE(searches, 4);
    EXPECT_LE(searches, (std::chrono::steady_clock::now() - begin) / 20ms + 1);
  });
}

TEST(deaths, forked_children_do_not_look) {
  in_child([] {
    mpi::find_deaths_by(count_search);
    mpi::set_started();
    mpi::become_forked_child();
    mpi::look_for_deaths_now();
    EXPECT_EQ(searches, 0);
  });
}

}  // namespace
