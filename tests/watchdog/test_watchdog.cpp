// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "../memory/processes.hpp"
#include "base/error.hpp"
#include "mpi/process_id.hpp"
#include "own_record.hpp"
#include "watchdog/scope.hpp"

namespace {

using namespace syncyte;
using test::environment_scope;

TEST(watchdog_settings, a_job_is_ended_only_if_the_variable_is_set) {
  const environment_scope nothing("SYNCYTE_WATCHDOG", nullptr), no_action("SYNCYTE_WATCHDOG_ACTION", nullptr);
  const auto unset = watchdog::settings_of_environment();
  EXPECT_TRUE(unset.is_watched);
  EXPECT_TRUE(unset.only_reports);
  EXPECT_FALSE(unset.is_asked_for);
  EXPECT_GT(unset.limit, 0.0);
  const environment_scope seconds("SYNCYTE_WATCHDOG", "2.5");
  const auto set = watchdog::settings_of_environment();
  EXPECT_TRUE(set.is_watched);
  EXPECT_FALSE(set.only_reports);
  EXPECT_TRUE(set.is_asked_for);
  EXPECT_EQ(set.limit, 2.5);
  const environment_scope action("SYNCYTE_WATCHDOG_ACTION", "report");
  EXPECT_TRUE(watchdog::settings_of_environment().only_reports);
  const environment_scope none("SYNCYTE_WATCHDOG", "0");
  EXPECT_FALSE(watchdog::settings_of_environment().is_watched);
  const environment_scope wrong("SYNCYTE_WATCHDOG", "soon");
  EXPECT_THROW(watchdog::settings_of_environment(), base::error);
}

/// Tests of the records that a pass over the communicators writes.
class watchdog_collectives : public testing::Test {
 protected:
  watchdog::collective_seen seen(const char* operation, bool is_inside, std::int64_t since_ns) const {
    return {operation, &world_, 3, 2, is_inside, false, since_ns};
  }
  const watchdog::thread_record& record(int number) const { return mine_->records[watchdog::threads + number]; }

  std::string world_ = "world";
  std::unique_ptr<watchdog::rank_record> mine_ = std::make_unique<watchdog::rank_record>();
};

TEST_F(watchdog_collectives, show_those_inside_or_else_the_one_left_last) {
  {
    watchdog::collectives_writer writer(*mine_);
    writer.add(seen(nullptr, true, 1));
    writer.add(seen("comm_bcast", false, 10));
    writer.add(seen("comm_gather", false, 30));
    writer.add(seen("comm_reduce", false, 20));
    writer.finish();
  }
  EXPECT_EQ(record(0).name.text(), "comm_gather #3 on world");
  EXPECT_EQ(record(0).is_inside, 0);
  EXPECT_EQ(record(0).since_ns, 30);
  EXPECT_EQ(record(0).ranks, 2);
  EXPECT_STREQ(record(1).name.operation, "");
  watchdog::collectives_writer writer(*mine_);
  writer.add(seen("comm_gather", false, 30));
  writer.add(seen("comm_bcast", true, 40));
  writer.finish();
  EXPECT_EQ(record(0).name.text(), "comm_bcast #3 on world");
  EXPECT_STREQ(record(1).name.operation, "");
}

TEST_F(watchdog_collectives, beyond_the_records_are_left_out) {
  watchdog::collectives_writer writer(*mine_);
  for (int i = 0; i < watchdog::collectives + 2; ++i) writer.add(seen("comm_bcast", true, 40));
  writer.finish();
  EXPECT_EQ(record(watchdog::collectives - 1).is_inside, 1);
  EXPECT_STREQ(mine_->listings[0].name.operation, "");
}

TEST_F(watchdog_collectives, what_has_ended_is_cleared) {
  {
    watchdog::collectives_writer writer(*mine_);
    writer.add(seen("comm_bcast", true, 10));
    for (int i = 0; i < watchdog::starts + 2; ++i) writer.add_started("comm_ibcast", world_, 4, 20);
    writer.finish();
  }
  EXPECT_EQ(record(0).is_inside, 1);
  const auto& first = mine_->listings[watchdog::listings];
  const auto& last = mine_->listings[watchdog::listings + watchdog::starts - 1];
  EXPECT_EQ(first.is_shown, 1);
  EXPECT_EQ(last.is_shown, 1);
  EXPECT_EQ(first.name.text(), "comm_ibcast #4 on world");
  EXPECT_EQ(mine_->listings[watchdog::listings - 1].is_shown, 0);
  watchdog::collectives_writer(*mine_).finish();
  EXPECT_EQ(record(0).is_inside, 0);
  EXPECT_EQ(first.is_shown, 0);
  EXPECT_EQ(last.is_shown, 0);
}

watchdog::rank_record& mine = *new watchdog::rank_record();  // the watchdog's board stays after stop()

/// The report on stderr of a watchdog with a limit of 0.05 s, while this thread works.
std::string report_while(const std::function<void()>& work) {
  mine.last_report_ns = 0;
  mine.has_reported = 0;
  watchdog::job_ranks job;
  job.world_size = 1;
  job.node.members = job.node.world_ranks = {0};
  job.node.processes = {mpi::this_process()};
  testing::internal::CaptureStderr();
  watchdog::start({.limit = 0.05, .is_watched = true, .is_asked_for = true, .only_reports = true},
                  watchdog::board(nullptr, {&mine}, job), mine, [](watchdog::collectives_writer&) {});
  work();
  watchdog::stop();
  return testing::internal::GetCapturedStderr();
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Stays inside an operation until it is reported, if it is to be, and several times the limit.
void stay(const char* operation, watchdog::scope::kind how, bool is_reported) {
  const watchdog::scope inside(operation, "world", 3, 0, how);
  const std::int64_t before = mine.last_report_ns;
  const auto pause = std::chrono::milliseconds(300);
  while (is_reported && mine.last_report_ns == before && mine.has_reported == 0)
    std::this_thread::sleep_for(pause / 30);
  std::this_thread::sleep_for(pause);
}

TEST(watchdog_thread, reports_each_stuck_operation_once) {
  const std::string text = report_while([] {
    stay("comm_bcast", watchdog::scope::limited, true);
    stay("comm_gather", watchdog::scope::limited, true);
  });
  EXPECT_EQ(count(text, "no progress for 0.05 s"), 2) << text;
  EXPECT_EQ(count(text, "inside comm_bcast #3 on world"), 1) << text;
  EXPECT_EQ(count(text, "the job continues (SYNCYTE_WATCHDOG_ACTION=report)"), 2) << text;
}

TEST(watchdog_thread, reports_the_first_wait_for_a_counter_alone) {
  const std::string text = report_while([] {
    stay("tensor_wait", watchdog::scope::reported_once, true);
    stay("other_wait", watchdog::scope::reported_once, false);
  });
  EXPECT_EQ(count(text, "no progress"), 1) << text;
  EXPECT_EQ(count(text, "reported once"), 1) << text;
}

TEST(watchdog_thread, does_not_report_what_may_last_any_time) {
  EXPECT_EQ(report_while([] { stay("store_wait", watchdog::scope::unlimited, false); }), "");
}

TEST(watchdog_thread, a_stopped_one_has_no_record) {
  report_while([] { EXPECT_NE(watchdog::record_of_scopes.load(), nullptr); });
  EXPECT_EQ(watchdog::record_of_scopes.load(), nullptr);
  EXPECT_EQ(watchdog::record_of_started_scopes.load(), nullptr);
}

}  // namespace
