// SPDX-License-Identifier: BSD-3-Clause
// The table of operations that need calls to make progress, waits that go on with them, and the probe.

#include "mpi/progress.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "mpi/deaths.hpp"
#include "mpi_world.hpp"
#include "waiting_child.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::in_child;
using test::level_of_threads;
using test::outcome_of;
using test::own_comm;
using test::waiting_child;
using test::world_rank;
using test::world_size;

/// A member that counts the calls of progress(), and does something in each; it is in the table until its end.
class member {
 public:
  explicit member(std::function<void(int)> step = [](int) {}) : all_(std::make_shared<counting>(std::move(step))) {
    mpi::enter_progress(all_);
  }
  ~member() { leave(); }
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  void leave() const { mpi::leave_progress(*all_); }
  int calls() const { return all_->calls; }

 private:
  struct counting : mpi::progressing {
    explicit counting(std::function<void(int)> given) : step(std::move(given)) {}
    void progress() override { step(++calls); }
    std::function<void(int)> step;
    std::atomic<int> calls = 0;
  };
  std::shared_ptr<counting> all_;
};

/// Asks for the table's lock when it is destroyed.
struct asking_at_end : mpi::progressing {
  void progress() override {}
  ~asking_at_end() override { mpi::leave_progress(*this); }
};

TEST(progress_table, members_are_gone_on_with_until_they_leave) {
  EXPECT_FALSE(mpi::needs_progress());
  const member first, second;
  EXPECT_TRUE(mpi::needs_progress());
  mpi::progress_all();
  first.leave();
  mpi::progress_all();
  EXPECT_EQ(first.calls(), 1);
  EXPECT_EQ(second.calls(), 2);
  second.leave();
  EXPECT_FALSE(mpi::needs_progress());
  mpi::progress_all();
  EXPECT_EQ(second.calls(), 2);
}

TEST(progress_table, who_is_no_member_leaves_without_effect) {
  const member gone;
  gone.leave();
  gone.leave();
  const member there;
  EXPECT_TRUE(mpi::needs_progress());
}

TEST(progress_table, members_enter_and_leave_while_they_are_gone_on_with) {
  std::unique_ptr<member> late;
  const member* self = nullptr;
  const member early([&](int) {
    late = std::make_unique<member>();
    self->leave();
  });
  self = &early;
  mpi::progress_all();
  EXPECT_EQ(late->calls(), 0);
  mpi::progress_all();
  EXPECT_EQ(late->calls(), 1);
  EXPECT_EQ(early.calls(), 1);
}

TEST(progress_table, members_are_destroyed_outside_of_its_lock) {
  auto last = std::make_shared<asking_at_end>();
  std::weak_ptr<asking_at_end> observer = last;
  const asking_at_end& dropped = *last;
  mpi::enter_progress(std::move(last));
  mpi::leave_progress(dropped);
  EXPECT_TRUE(observer.expired());
  mpi::enter_progress(std::make_shared<asking_at_end>());
  mpi::forget_progress();
}

TEST(progress_table, is_used_by_several_threads) {
  const level_of_threads set(MPI_THREAD_MULTIPLE);
  const member always;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < 500; ++round) {
        const member brief;
        mpi::progress_all();
        EXPECT_GE(brief.calls(), 1);
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_GE(always.calls(), 1500);
  always.leave();
  EXPECT_FALSE(mpi::needs_progress());
}

TEST(progress_table, is_empty_at_the_end) {
  const auto operation = std::make_shared<asking_at_end>();
  const std::weak_ptr<asking_at_end> observer = operation;
  const member other;
  mpi::enter_progress(operation);
  mpi::forget_progress();
  EXPECT_FALSE(mpi::needs_progress());
  EXPECT_EQ(operation.use_count(), 1);
  mpi::progress_all();
  EXPECT_EQ(other.calls(), 0);
}

TEST(progress_table, a_forked_child_needs_no_progress) {
  const member there;
  in_child([] {
    EXPECT_TRUE(mpi::needs_progress());
    mpi::stop_needing_progress();
    EXPECT_FALSE(mpi::needs_progress());
  });
}

TEST(progress_table, threads_that_may_not_call_mpi_make_no_progress) {
  const level_of_threads set(MPI_THREAD_FUNNELED);
  const member there;
  test::on_another_thread(mpi::progress_all);
  EXPECT_EQ(there.calls(), 0);
  mpi::progress_all();
  EXPECT_EQ(there.calls(), 1);
}

TEST(polling, ends_when_the_condition_holds) {
  const member there;
  mpi::poll_until([] { return true; });
  EXPECT_EQ(there.calls(), 0);
  mpi::poll_until([&] { return there.calls() == 5; });
  EXPECT_EQ(there.calls(), 5);
}

TEST(polling, makes_other_progress_now_and_then) {
  static int calls = 0;
  int rounds = 0;
  mpi::poll_until([&] { return ++rounds > 128; }, [] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(polling, fails_after_a_death) {
  in_child([] {
    int rounds = 0;
    const auto found = outcome_of([&] {
      mpi::poll_until([&] {
        if (++rounds == 3) mpi::declare_dead(1000);
        return rounds > 3;
      });
    });
    expect_error(found, SYNCYTE_ERR_PEER_DIED, "rank 1000");
    EXPECT_EQ(rounds, 3);
  });
}

TEST(polling, looks_for_deaths) {
  in_child([] {
    const waiting_child other;
    mpi::watch_processes({{1000, other.process()}});
    other.kill();
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    const auto is_late = [&] { return std::chrono::steady_clock::now() > late; };
    expect_error(outcome_of([&] { mpi::poll_until(is_late); }), SYNCYTE_ERR_PEER_DIED, "rank 1000");
  });
}

TEST(polling, waits_for_requests) {
  const own_comm self(mpi::duplicate(MPI_COMM_SELF));
  int number = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&number, 1, MPI_INT, 0, 0, self, &request);
  const member sender([&](int call) {
    if (call == 2) MPI_Send(&call, 1, MPI_INT, 0, 0, self);
  });
  mpi::wait_for(request, "MPI_Irecv");
  EXPECT_EQ(number, 2);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
}

/// Rank 0 waits in `meet` for the others, which come only when rank 0 has gone on with an operation three times.
void expect_progress_in(const std::function<void(MPI_Comm)>& meet) {
  const own_comm comm, letters;
  if (world_rank() == 0) {
    const member there([&](int call) {
      if (call != 3) return;
      for (int rank = 1; rank < world_size(); ++rank) MPI_Send(nullptr, 0, MPI_BYTE, rank, 0, letters);
    });
    meet(comm);
    EXPECT_GE(there.calls(), 3);
  } else {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, letters, MPI_STATUS_IGNORE);
    meet(comm);
  }
}

TEST(progress_table, operations_go_on_in_waits_for_other_ranks) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  const level_of_threads set(MPI_THREAD_MULTIPLE);
  std::vector<int> ranks;
  for (int rank = 0; rank < world_size(); ++rank) ranks.push_back(rank);
  std::vector<std::int64_t> numbers(ranks.size());
  std::uint64_t number = 1;
  const int extents[] = {world_size()}, periods[] = {0};
  expect_progress_in([](MPI_Comm comm) { const own_comm made(mpi::duplicate(comm)); });
  expect_progress_in([](MPI_Comm comm) { const own_comm made(mpi::split(comm, 0, 0)); });
  expect_progress_in([](MPI_Comm comm) { const own_comm made(mpi::split_shared(comm, 0)); });
  expect_progress_in([&](MPI_Comm comm) { const own_comm made(mpi::cart(comm, extents, periods)); });
  expect_progress_in([&](MPI_Comm comm) { const own_comm made(mpi::create_group(comm, ranks, 0)); });
  expect_progress_in([](MPI_Comm comm) { mpi::allgather(1, comm); });
  expect_progress_in([&](MPI_Comm comm) { mpi::bcast(number, 1, comm); });
  expect_progress_in([&](MPI_Comm comm) { mpi::alltoall(numbers, numbers, comm); });
  expect_progress_in([&](MPI_Comm comm) { mpi::allreduce(number, MPI_SUM, comm); });
  expect_progress_in([](MPI_Comm comm) {
    const mpi::background_progress during;
    MPI_Barrier(comm);
  });
}

TEST(background_progress, ends_with_the_object) {
  const level_of_threads set(MPI_THREAD_MULTIPLE);
  const member there;
  {
    const mpi::background_progress during;
    while (there.calls() < 3) std::this_thread::yield();
  }
  const int calls = there.calls();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(there.calls(), calls);
}

TEST(background_progress, goes_on_after_an_exception) {
  const level_of_threads set(MPI_THREAD_MULTIPLE);
  const member there([](int call) {
    if (call == 2) throw std::bad_alloc();
  });
  const mpi::background_progress during;
  while (there.calls() < 4) std::this_thread::yield();
}

TEST(background_progress, needs_the_right_to_call_mpi_from_any_thread) {
  const level_of_threads set(MPI_THREAD_SERIALIZED);
  const member there;
  const mpi::background_progress during;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(there.calls(), 0);
}

TEST(let_progress, makes_progress_of_a_rank_where_the_thread_may_call_mpi) {
  in_child([] {
    const member there;
    mpi::let_progress();
    EXPECT_EQ(there.calls(), 0) << "not started";
    mpi::set_started();
    mpi::set_thread_level(MPI_THREAD_MULTIPLE);
    mpi::let_progress();
    EXPECT_EQ(there.calls(), 1);
    mpi::set_thread_level(MPI_THREAD_SERIALIZED);
    mpi::let_progress();
    EXPECT_EQ(there.calls(), 1) << "another thread of the application may be inside MPI";
    mpi::set_thread_level(MPI_THREAD_FUNNELED);
    test::on_another_thread(mpi::let_progress);
    EXPECT_EQ(there.calls(), 1);
    mpi::let_progress();
    EXPECT_EQ(there.calls(), 2);
  });
}

TEST(keep_for_ever, keeps_an_object) {
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> observer = object;
  mpi::keep_for_ever(std::move(object));
  EXPECT_FALSE(observer.expired());
}

/// The probe's communicator during the object's lifetime. Collective.
class open_probe {
 public:
  open_probe() { mpi::open_probe(MPI_COMM_WORLD); }
  ~open_probe() { mpi::close_probe(); }
};

TEST(probe, does_nothing_without_its_communicator) {
  mpi::probe();
  {
    const open_probe during;
  }
  mpi::probe();
  mpi::close_probe();
}

TEST(probe, its_barrier_waits_for_all_ranks) {
  for (int time = 0; time < 2; ++time) {  // a probe is opened again
    const open_probe during;
    const own_comm letters;
    if (world_rank() != 0) MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, letters, MPI_STATUS_IGNORE);
    MPI_Request all_are_here = mpi::start_probe_barrier();
    if (world_rank() == 0) {
      for (int i = 0; i < 100 && world_size() > 1; ++i)
        EXPECT_FALSE(mpi::has_ended(all_are_here, "MPI_Ibarrier")) << "no other rank has come";
      for (int rank = 1; rank < world_size(); ++rank) MPI_Send(nullptr, 0, MPI_BYTE, rank, 0, letters);
    }
    mpi::wait_for(all_are_here, "MPI_Ibarrier");
  }
}

TEST(probe, lets_mpi_make_progress) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  const open_probe during;
  const own_comm comm;
  std::vector<char> data(4 << 20, world_rank() == 1 ? 1 : 0);  // too much for a message that needs no answer
  const auto count = static_cast<int>(data.size());
  if (world_rank() == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(data.data(), count, MPI_BYTE, 1, 0, comm, &request);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, comm);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    const std::atomic_ref last(data.back());
    while (last == 0 && std::chrono::steady_clock::now() < deadline) {
      mpi::probe();
      mpi::pause_polling();
    }
    EXPECT_EQ(last, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (world_rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Send(data.data(), count, MPI_BYTE, 0, 0, comm);
  }
}

}  // namespace
