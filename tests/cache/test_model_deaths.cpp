// SPDX-License-Identifier: BSD-3-Clause
// Models of processes that are killed, or forked.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <new>
#include <random>
#include <string>

#include "models_fixture.hpp"

namespace {

using namespace syncyte;
using cache::model;
using cache::models;
using cache::publication;
using test::buffer_of;
using test::contains;
using test::data_of;
using test::mib;
using test::numbers;
using test::outcome;
using test::publish;
using test::shape_of;

constexpr std::size_t group_numbers = 8 * mib / sizeof(std::int32_t);

class model_deaths : public test::models_test {
 protected:
  void SetUp() override {
    models_test::SetUp();
    void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    step_ = new (shared) std::atomic<int>(0);
  }
  void TearDown() override {
    munmap(step_, 4096);
    models_test::TearDown();
  }

  /// A process that serves a model "net", until it is killed.
  pid_t start_server() {
    step_->store(0);
    const pid_t server = test::start_process([&] {
      const auto all = served();
      publish(all, "net", numbers(1000, 1));
      step_->store(1);
      pause();
      return 0;
    });
    EXPECT_TRUE(test::becomes_true([&] { return step_->load() == 1; }));
    return server;
  }

  static void kill_and_wait(pid_t process) {
    kill(process, SIGKILL);
    EXPECT_EQ(test::wait_process(process), -SIGKILL);
  }

  std::atomic<int>* step_ = nullptr;  // that another process has reached
};

TEST_F(model_deaths, bound_memory_outlives_the_server) {
  const pid_t server = start_server();
  const auto there = models::connect(place());
  const auto bound = model::bind(*there, "net");
  kill_and_wait(server);
  EXPECT_EQ(data_of(*bound, "x")[999], 1000);
  data_of(*bound, "x")[999] = 3;
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { model::bind(*there, "net"); }, [&] { publish(there, "more", numbers(3, 1)); },
           [&] { there->remove("net"); }, [&] { there->listed(0); }}) {
    const auto [status, text] = outcome(call);
    EXPECT_EQ(status, SYNCYTE_ERR_PEER_DIED);
    EXPECT_TRUE(contains(text, "it has ended")) << text;
  }
  EXPECT_EQ(outcome([&] { models::connect(place(0.2)); }).first, SYNCYTE_ERR_TIMEOUT);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  // Another process may serve the name; connections lead to it.
  const pid_t next = start_server();
  EXPECT_EQ(data_of(*model::bind(*there, "net"), "x")[999], 1000);
  EXPECT_EQ(data_of(*bound, "x")[999], 3);
  kill_and_wait(next);
}

TEST_F(model_deaths, waiters_learn_of_the_servers_end) {
  step_->store(0);
  const pid_t server = test::start_process([&] {
    const auto all = served();
    step_->store(1);
    pause();
    return 0;
  });
  ASSERT_TRUE(test::becomes_true([&] { return step_->load() == 1; }));
  const auto there = models::connect(place());
  publication loading(there, "net", false);
  const syncyte_buffer_t shape = shape_of(10);
  loading.add("x", &shape);
  loading.start();
  const auto bound = model::bind(*there, "net");
  kill_and_wait(server);
  EXPECT_EQ(outcome([&] { bound->wait(0); }).first, SYNCYTE_ERR_PEER_DIED);
  auto values = numbers(10, 1);
  const syncyte_buffer_t source = buffer_of(values);
  EXPECT_EQ(outcome([&] {
              loading.fill("x", &source);
              loading.finish();
            }).first,
            SYNCYTE_ERR_PEER_DIED);
}

TEST_F(model_deaths, a_server_that_does_not_answer_is_reported) {
  const pid_t server = start_server();
  const auto there = models::connect(place(0.5));
  kill(server, SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(server, &status, WUNTRACED), server);  // it has stopped
  EXPECT_EQ(outcome([&] { model::bind(*there, "net"); }).first, SYNCYTE_ERR_TIMEOUT);
  kill(server, SIGCONT);
  EXPECT_EQ(outcome([&] { model::bind(*there, "net"); }).first, SYNCYTE_SUCCESS);
  kill_and_wait(server);
}

TEST_F(model_deaths, a_publisher_that_is_killed_leaves_nothing) {
  const auto all = served();
  for (int last = 0; last < 6; ++last) {
    step_->store(-1);
    const pid_t publisher = test::start_process([&] {
      const auto reach = [&](int step) {
        step_->store(step);
        if (step == last) pause();
      };
      const auto there = models::connect(place());
      publication loading(there, "net", false);
      const syncyte_buffer_t shape = shape_of(group_numbers);
      for (int group = 0; group < 3; ++group) loading.add("x" + std::to_string(group), &shape);
      reach(0);
      loading.start();
      for (int group = 0; group < 3; ++group) {
        reach(1 + group);
        auto values = numbers(group_numbers, group);
        const syncyte_buffer_t source = buffer_of(values);
        loading.fill("x" + std::to_string(group), &source);
      }
      reach(4);
      loading.finish();
      reach(5);
      return 0;
    });
    ASSERT_TRUE(test::becomes_true([&] { return step_->load() == last; }));
    std::shared_ptr<model> bound;
    if (last > 0) bound = model::bind(*all, "net");
    if (bound != nullptr && last > 1) bound->wait(0);
    kill_and_wait(publisher);
    if (last == 5) {
      EXPECT_EQ(data_of(*bound, "x2")[5], 7) << "it was complete";
      continue;
    }
    if (bound != nullptr) {
      const auto [status, text] = outcome([&] { bound->wait(2); });
      EXPECT_EQ(status, SYNCYTE_ERR_PEER_DIED);
      EXPECT_TRUE(contains(text, std::to_string(publisher))) << text;
    }
    if (bound != nullptr && last > 1) {
      EXPECT_EQ(data_of(*bound, "x0")[5], 5) << "what was there can be used";
    }
    EXPECT_EQ(outcome([&] { model::bind(*all, "net"); }).first, SYNCYTE_ERR_NOT_FOUND);
  }
}

TEST_F(model_deaths, publishers_are_killed_at_any_time) {
  const auto all = served();
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const pid_t publisher = test::start_process([&] {
      publish(models::connect(place()), "net", numbers(3 * mib, 1));
      pause();
      return 0;
    });
    usleep(random() % 20000);
    kill_and_wait(publisher);
    // The name is free, or has the whole model.
    std::shared_ptr<model> bound;
    const auto [status, text] = outcome([&] {
      bound = model::bind(*all, "net");
      bound->wait(bound->layout().groups() - 1);
    });
    if (status == SYNCYTE_SUCCESS) {
      EXPECT_EQ(data_of(*bound, "x")[3 * mib - 1], static_cast<std::int32_t>(3 * mib));
      bound.reset();
      EXPECT_TRUE(test::becomes_true([&] { return outcome([&] { all->remove("net"); }).first == SYNCYTE_SUCCESS; }));
    } else {
      EXPECT_TRUE(status == SYNCYTE_ERR_NOT_FOUND || status == SYNCYTE_ERR_PEER_DIED) << text;
    }
  }
  publish(all, "net", numbers(3, 1));
}

TEST_F(model_deaths, a_binder_that_is_killed_drops_its_models) {
  const auto all = served();
  publish(all, "net", numbers(1000, 1));
  const pid_t binder = test::start_process([&] {
    const auto bound = model::bind(*models::connect(place()), "net");
    data_of(*bound, "x")[0] = 9;
    step_->store(1);
    pause();
    return 0;
  });
  ASSERT_TRUE(test::becomes_true([&] { return step_->load() == 1; }));
  EXPECT_EQ(test::holders_of(*all, "net"), std::vector<pid_t>{binder});
  const auto [status, text] = outcome([&] { all->remove("net"); });
  EXPECT_EQ(status, SYNCYTE_ERR_BUSY);
  EXPECT_TRUE(contains(text, std::to_string(binder))) << text;
  kill_and_wait(binder);
  EXPECT_TRUE(test::becomes_true([&] { return test::holders_of(*all, "net").empty(); }));
  EXPECT_EQ(data_of(*model::bind(*all, "net"), "x")[0], 1);
}

TEST_F(model_deaths, a_forked_child_keeps_memory_and_connects_anew) {
  const auto all = served();
  publish(all, "net", numbers(1000, 1));
  const auto there = models::connect(place());
  const auto bound = model::bind(*there, "net");
  data_of(*bound, "x")[0] = 7;
  const auto alone = models::create({});
  publication loading(all, "more", false);
  const syncyte_buffer_t shape = shape_of(10);
  loading.add("x", &shape);
  loading.start();
  const int code = test::run_process([&] {
    auto values = numbers(10, 1);
    const syncyte_buffer_t source = buffer_of(values);
    if (data_of(*bound, "x")[0] != 7 || data_of(*bound, "x")[999] != 1000) return 1;
    data_of(*bound, "x")[0] = 8;
    if (outcome([&] { model::bind(*all, "net"); }).first != SYNCYTE_ERR_UNSUPPORTED) return 2;
    if (outcome([&] { loading.fill("x", &source); }).first != SYNCYTE_ERR_UNSUPPORTED) return 3;
    if (outcome([&] { loading.finish(); }).first != SYNCYTE_ERR_UNSUPPORTED) return 4;
    if (data_of(*model::bind(*there, "net"), "x")[0] != 1) return 5;  // by a connection of its own
    if (test::holders_of(*there, "net") != std::vector<pid_t>{getppid()}) return 6;
    cache::rendezvous other = place();
    other.name = "other";
    if (outcome([&] { alone->serve(other); }).first != SYNCYTE_ERR_UNSUPPORTED) return 7;
    return std::filesystem::exists(folder_ / "other.syncyte") ? 8 : 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(data_of(*bound, "x")[0], 7) << "the child's writes are its own";
  auto values = numbers(10, 1);
  const syncyte_buffer_t source = buffer_of(values);
  loading.fill("x", &source);
  loading.finish();
  EXPECT_EQ(test::holders_of(*all, "net"), std::vector<pid_t>{getpid()});
}

TEST_F(model_deaths, children_of_a_process_do_not_keep_its_connections) {
  const auto all = served();
  publish(all, "net", numbers(1000, 1));
  const pid_t worker = test::start_process([&] {
    const auto there = models::connect(place());
    const auto bound = model::bind(*there, "net");
    publication loading(there, "more", false);
    const syncyte_buffer_t shape = shape_of(10);
    loading.add("x", &shape);
    loading.start();
    const pid_t child = test::start_process([] {
      sleep(20);
      return 0;
    });
    step_->store(child);
    pause();
    return 0;
  });
  ASSERT_TRUE(test::becomes_true([&] { return step_->load() != 0; }));
  const auto bound = model::bind(*all, "more");
  kill_and_wait(worker);
  EXPECT_EQ(outcome([&] { bound->wait(0); }).first, SYNCYTE_ERR_PEER_DIED);
  EXPECT_TRUE(test::becomes_true([&] { return test::holders_of(*all, "net").empty(); }));
  kill(step_->load(), SIGKILL);
}

TEST_F(model_deaths, a_child_does_not_keep_a_model_from_being_sealed) {
  const auto all = models::create({});
  publication loading(all, "net", false);
  const syncyte_buffer_t shape = shape_of(10);
  loading.add("x", &shape);
  loading.start();
  const pid_t child = test::start_process([] {
    sleep(20);
    return 0;
  });
  auto values = numbers(10, 1);
  const syncyte_buffer_t source = buffer_of(values);
  loading.fill("x", &source);
  loading.finish();
  EXPECT_EQ(data_of(*model::bind(*all, "net"), "x")[9], 10);
  kill_and_wait(child);
}

TEST_F(model_deaths, too_many_open_files_are_reported) {
  const int code = test::run_process([&] {
    const auto all = models::create({});
    publish(all, "net", numbers(10, 1));
    std::vector<std::shared_ptr<model>> bound;
    const auto open_files = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    const rlimit few{static_cast<rlim_t>(open_files + 20), static_cast<rlim_t>(open_files + 20)};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
    const auto [status, text] = outcome([&] {
      for (;;) bound.push_back(model::bind(*all, "net"));
    });
    if (status != SYNCYTE_ERR_LIMIT || !contains(text, "RLIMIT_NOFILE")) return 2;
    bound.clear();
    test::becomes_true([&] { return test::holders_of(*all, "net").empty(); });
    return data_of(*model::bind(*all, "net"), "x")[9] == 10 ? 0 : 3;  // the server still works
  });
  EXPECT_EQ(code, 0);
}

TEST_F(model_deaths, a_server_with_too_many_open_files_says_so) {
  const pid_t server = test::start_process([&] {
    const auto all = served();
    publish(all, "net", numbers(10, 1));
    const auto open_files = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    const rlimit few{static_cast<rlim_t>(open_files + 10), static_cast<rlim_t>(open_files + 10)};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
    step_->store(1);
    pause();
    return 0;
  });
  ASSERT_TRUE(test::becomes_true([&] { return step_->load() == 1; }));
  const auto all = models::connect(place());
  std::vector<std::shared_ptr<model>> bound;
  for (int time = 0; time < 2; ++time) {
    const auto [status, text] = outcome([&] {
      for (;;) bound.push_back(model::bind(*all, "net"));
    });
    EXPECT_EQ(status, SYNCYTE_ERR_LIMIT);
    EXPECT_TRUE(contains(text, "the process that serves the models")) << text;
    EXPECT_TRUE(contains(text, "RLIMIT_NOFILE")) << text;
  }
  EXPECT_GE(bound.size(), 5u);
  bound.clear();
  EXPECT_TRUE(test::becomes_true([&] { return outcome([&] { model::bind(*all, "net"); }).first == SYNCYTE_SUCCESS; }));
  kill(server, SIGKILL);
  test::wait_process(server);
}

TEST_F(model_deaths, another_user_gets_nothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto all = served();
  publish(all, "net", numbers(10, 1));
  const int code = test::run_process([&] {
    if (setgid(65534) != 0 || setuid(65534) != 0) return 1;
    const auto status = outcome([&] { model::bind(*models::connect(place(1)), "net"); }).first;
    return status == SYNCYTE_ERR_ARGUMENT || status == SYNCYTE_ERR_IO ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
  // Not even by a folder that lets it in.
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  std::filesystem::permissions(folder_ / "models.syncyte", std::filesystem::perms::all);
  const int second = test::run_process([&] {
    if (setgid(65534) != 0 || setuid(65534) != 0) return 1;
    const auto made = memory::connect_to(folder_ / "models.syncyte", [] { return false; });
    return made.socket || made.code != EPERM ? 2 : 0;  // the server is of another user; it drops the caller too
  });
  EXPECT_EQ(second, 0);
}

}  // namespace
