// SPDX-License-Identifier: BSD-3-Clause
// Operations that a rank has started make progress during each of its waits, because other ranks may wait for them.
// Dropped objects are freed.

#include "mpi/progress.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "comm/cart.hpp"
#include "comm/split.hpp"
#include "halo/grid_halo.hpp"
#include "messages/message.hpp"
#include "reducer/bucket_reducer.hpp"
#include "trials.hpp"

namespace {

using namespace syncyte;
using test::buffer_of;
using test::expect_error;
using test::group;
using test::outcome_of;
using test::reference_world;
using test::shared_world;
using test::start_bcast;
using test::trial;
using test::unchecked_world;
using test::world;

/// A halo on a line of ranks with a ghost cell at each end; only the second of its two phases has messages.
struct line {
  std::shared_ptr<halo::grid_halo> plan;
  std::vector<std::int32_t> cells = std::vector<std::int32_t>(4, world().rank());

  line() {
    halo::description asked;
    asked.dtype = SYNCYTE_INT32;
    asked.shape = {1, 4};
    asked.low = asked.high = {0, 1};
    plan = halo::grid_halo::create(comm::make_cartesian(world(), {{1, world().size()}, {0, 0}}, {}), asked);
  }

  std::unique_ptr<halo::transfer> start() {
    const std::int64_t shape[] = {1, 4};
    const auto buffer = base::make_buffer(cells.data(), SYNCYTE_INT32, shape);
    return halo::start(plan, &buffer, halo::operation::exchange);
  }

  void expect() const {
    const int rank = world().rank(), last = world().size() - 1;
    EXPECT_EQ(cells, (std::vector{std::max(rank - 1, 0), rank, rank, std::min(rank + 1, last)}));
  }
};

/// Rank 0 waits in `meet` for the others, which first wait for rank 0's part of an exchange.
void expect_exchange_to_go_on_in(const std::function<void()>& meet) {
  line here;
  const auto exchange = here.start();
  if (world().rank() == 0) meet();
  exchange->wait();
  if (world().rank() != 0) meet();
  here.expect();
}

std::unique_ptr<messages::message> letter(bool is_send, int peer, std::int32_t& number) {
  const auto buffer = base::make_buffer(&number, SYNCYTE_INT32, {});
  return is_send ? messages::message::send(shared_world(), &buffer, {peer, 6})
                 : messages::message::receive(shared_world(), &buffer, {peer, 6});
}

TEST(progress, a_halo_exchange_goes_on_in_a_wait_for_a_message) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  std::int32_t number = world().rank();
  expect_exchange_to_go_on_in([&] {
    if (world().rank() < 2) letter(world().rank() == 1, 1 - world().rank(), number)->wait();
  });
  EXPECT_EQ(number, std::max(world().rank(), 1));
}

TEST(progress, a_halo_exchange_goes_on_in_collectives) {
  const group other = comm::duplicate(*shared_world(), {});
  expect_exchange_to_go_on_in([&] { collectives::barrier(*other); });
  expect_exchange_to_go_on_in([&] { start_bcast(other, 3).started->wait(); });
  const auto second = std::make_shared<line>();
  expect_exchange_to_go_on_in([&] { second->start()->wait(); });
  second->expect();
}

TEST(progress, a_halo_exchange_is_gone_on_with_by_one_thread_at_a_time) {
  line here;
  const group other = comm::duplicate(*shared_world(), {});
  for (int round = 0; round < 30; ++round) {
    const auto exchange = here.start();
    std::thread waiter([&] { exchange->wait(); });
    collectives::barrier(*other);
    mpi::progress_all();
    waiter.join();
    here.expect();
  }
}

TEST(progress, a_halo_is_busy_until_somebody_knows_of_the_end) {
  line here;
  const auto exchange = here.start();
  for (int i = 0; i < 3; ++i) collectives::barrier(world());
  while (mpi::needs_progress()) mpi::progress_all();  // until it is complete
  expect_error(outcome_of([&] { here.start(); }), SYNCYTE_ERR_BUSY, "in flight");
  exchange->wait();
  here.start()->wait();
}

/// Rank 0 waits in `meet` for the others, which first wait for a collective that rank 0 has started.
void expect_starts_to_go_on_in(const std::function<void()>& meet) {
  const trial one = start_bcast(shared_world(), 3);
  if (world().rank() == 0) meet();
  one.started->wait();
  if (world().rank() != 0) meet();
  one.expect();
}

TEST(progress, starts_go_on_while_a_dropped_message_is_waited_for) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  std::int32_t number = world().rank();
  expect_starts_to_go_on_in([&] {
    if (world().rank() < 2) letter(world().rank() == 1, 1 - world().rank(), number).reset();
  });
}

TEST(progress, starts_go_on_in_collectives_with_and_without_checks) {
  const group unchecked = unchecked_world();
  std::vector<double> values(3, 1.0);
  const auto buffer = buffer_of(values, SYNCYTE_FLOAT64);
  const auto sum_up = [&](comm::communicator& comm) {
    collectives::run<collectives::allreduce>(comm, "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  };
  expect_starts_to_go_on_in([&] { sum_up(reference_world()); });
  expect_starts_to_go_on_in([&] { sum_up(*unchecked); });
  expect_starts_to_go_on_in([&] { collectives::barrier(*unchecked); });
  expect_starts_to_go_on_in([&] { comm::split(reference_world(), world().rank() % 2, 0, {}); });
}

TEST(progress, posted_starts_go_on_in_waits_that_call_no_mpi) {
  reducer::description asked;
  asked.dtypes = {SYNCYTE_FLOAT32};
  asked.elements = {10};
  const auto sums = reducer::bucket_reducer::create(shared_world(), asked);
  const trial one = test::start_allreduce(shared_world(), 6);
  if (world().rank() == 0)
    while (!shared_world()->starts().is_posted(*one.started)) std::this_thread::yield();
  if (world().rank() != 0) one.started->wait();
  sums->start(0);
  sums->wait();
  one.started->wait();
  one.expect();
}

TEST(progress, starts_go_on_while_a_communicator_is_made_of_an_mpi_communicator) {
  expect_starts_to_go_on_in([&] { runtime::adopt(MPI_COMM_WORLD, {}); });
}

TEST(progress, probes_drive_mpi_whatever_the_application_left_on_its_communicators) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const int letter = 1;
  int received = 0;
  MPI_Request sending = MPI_REQUEST_NULL;
  MPI_Isend(&letter, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &sending);
  std::int64_t cell = 0;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, world().data(), &window);
  MPI_Win_lock_all(0, window);
  collectives::barrier(world());
  if (world().rank() == 1) {  // it waits until rank 0 makes progress
    const std::int64_t one = 1;
    std::int64_t previous = 0;
    MPI_Fetch_and_op(&one, &previous, MPI_INT64_T, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
  }
  if (world().rank() == 0) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    const std::atomic_ref seen(cell);
    while (seen == 0 && std::chrono::steady_clock::now() < deadline) {
      mpi::let_progress();
      std::this_thread::yield();
    }
    EXPECT_EQ(seen, 1);
  }
  collectives::barrier(world());
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Recv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
}

/// An operation that sums numbers. `alive` counts its objects; post() can fail after it has posted half of its calls.
class counted : public collectives::data_operation {
 public:
  explicit counted(bool fails) : fails_(fails) { ++alive; }
  ~counted() override { --alive; }
  void move(collectives::mover& by) override {
    by.allreduce(values_.data(), values_.data(), std::ssize(values_), SYNCYTE_FLOAT64, SYNCYTE_OP_SUM);
    if (fails_) base::fail(SYNCYTE_ERR_MPI, "half of it is posted");
  }

  static inline std::atomic<int> alive = 0;

 private:
  bool fails_;
  std::vector<double> values_ = std::vector<double>(100);
};

collectives::started_t start_counted(const group& comm, bool fails = false) {
  return collectives::start_collective(comm, "test_counted", [&](auto&) { return std::make_unique<counted>(fails); });
}

TEST(progress, dropped_starts_are_freed_when_they_end) {
  for (const bool is_checked : {true, false}) {
    group comm = is_checked ? comm::duplicate(*shared_world(), {}) : unchecked_world();
    for (int i = 0; i < 10000; ++i) {
      start_counted(comm);
      if (i % 100 != 99) continue;
      for (int time = 0; time < 3; ++time) collectives::barrier(world());  // a wait each, in which MPI goes on
      ASSERT_LE(counted::alive, 300);
    }
    const std::weak_ptr<comm::communicator> observer = comm;
    comm.reset();  // no more calls on this communicator
    int is_left = 1;
    for (int i = 0; i < 2000 && is_left != 0; ++i) {
      collectives::barrier(world());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      is_left = observer.expired() ? 0 : 1;
      MPI_Allreduce(MPI_IN_PLACE, &is_left, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    EXPECT_TRUE(observer.expired());
    EXPECT_EQ(counted::alive, 0);
  }
}

TEST(progress, what_mpi_may_still_write_to_stays_when_a_start_fails_half_way) {
  int kept = 0;
  for (const bool is_checked : {true, false}) {
    const group comm = is_checked ? comm::duplicate(*shared_world(), {}) : unchecked_world();
    expect_error(outcome_of([&] { start_counted(comm, true)->wait(); }), SYNCYTE_ERR_MPI, "half of it is posted");
    collectives::barrier(*comm);
    EXPECT_EQ(counted::alive, ++kept);
  }
  counted::alive = 0;
}

}  // namespace
