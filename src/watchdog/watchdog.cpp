// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/watchdog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/environment.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "watchdog/application_line.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::watchdog {
namespace {

struct watchdog_state {
  settings chosen;
  board all_ranks;
  rank_record& mine;
  void (*write_collectives)(collectives_writer&);
  std::int64_t reported_ns = 0;  // begin of the last operation that was reported as stuck; 0: none yet
  std::jthread thread{};
};

std::atomic<watchdog_state*> the_watchdog{nullptr};

constexpr auto short_pause = std::chrono::milliseconds(20);

/// Publishes this rank's source line if a reporting rank has asked for it.
void answer(const watchdog_state& state) {
  const std::int64_t asked = state.mine.asked_ns;
  if (asked == state.mine.answered_ns) return;
  std::strncpy(state.mine.line, application_line().c_str(), sizeof state.mine.line - 1);
  state.mine.answered_ns = asked;
}

/// Collects the source lines of all ranks: the other ranks check for requests twice a second or more often, and their
/// line functions have a second.
void gather_lines(const watchdog_state& state) {
  const std::int64_t end = now_ns() + 1'800'000'000;
  state.all_ranks.ask_for_lines();
  answer(state);
  for (; !state.all_ranks.have_answered() && now_ns() < end; answer(state)) std::this_thread::sleep_for(short_pause);
}

const char* outcome_text(const watchdog_state& state, bool is_open_ended) {
  if (is_open_ended)
    return "syncyte watchdog: the job continues (a wait for a counter may last any time: reported once)\n";
  if (!state.chosen.only_reports) return "syncyte watchdog: aborting the job\n";
  if (state.chosen.is_asked_for) return "syncyte watchdog: the job continues (SYNCYTE_WATCHDOG_ACTION=report)\n";
  return "syncyte watchdog: the job continues (SYNCYTE_WATCHDOG is not set; expected seconds after which to abort, or "
         "0 for no report)\n";
}

/// Waits until the reporting rank has had time to write its report.
void wait_for_report(const watchdog_state& state) {
  for (const std::int64_t end = now_ns() + 4'000'000'000; now_ns() < end; std::this_thread::sleep_for(short_pause))
    answer(state);
}

void report(const watchdog_state& state, bool is_open_ended = false) {
  gather_lines(state);
  std::string text = fmt::format("syncyte watchdog: no progress for {} s (SYNCYTE_WATCHDOG); the ranks of this node:\n",
                                 state.chosen.limit);
  text += state.all_ranks.text();
  text += outcome_text(state, is_open_ended);
  (void)!::write(STDERR_FILENO, text.data(), text.size());  // in one piece, and without locks that a stuck thread holds
}

/// Begin of the latest operation of a kind that this rank has been inside for longer than the limit; 0 if none.
std::int64_t stuck_since(const watchdog_state& state, scope::kind kind) {
  const std::int64_t now = now_ns();
  std::int64_t last = 0;
  for (const auto& record : state.mine.records)
    if (record.is_inside != 0 && record.kind == kind &&
        static_cast<double>(now - record.since_ns) * 1e-9 > state.chosen.limit)
      last = std::max(last, record.since_ns.load());
  return last;
}

/// Whether this rank writes the report: one rank of a node does. Another report may follow once the limit has passed
/// again.
bool is_reporter(const watchdog_state& state) {
  std::atomic<std::int64_t>& last = state.all_ranks.at(0).last_report_ns;
  std::int64_t before = last;
  const std::int64_t now = now_ns();
  if (before != 0 && static_cast<double>(now - before) * 1e-9 < state.chosen.limit) return false;
  return last.compare_exchange_strong(before, now);
}

void end_job(const watchdog_state& state) {
  // Ranks that do not report abort too, in case the reporting rank cannot.
  if (is_reporter(state))
    report(state);
  else
    wait_for_report(state);
  std::thread([] {  // MPI_Abort may itself hang behind the stuck thread
    std::this_thread::sleep_for(std::chrono::seconds(3));
    ::kill(::getpid(), SIGKILL);
  })
      .detach();
  mpi::abort_job(86);
}

/// Whether a rank of this node may soon report an operation that must end.
bool may_be_reported_soon(const watchdog_state& state) {
  const std::int64_t now = now_ns();
  for (int rank = 0; rank < state.all_ranks.ranks(); ++rank)
    for (const auto& record : state.all_ranks.at(rank).records)
      if (record.is_inside != 0 && record.kind == scope::limited &&
          static_cast<double>(now - record.since_ns) * 1e-9 > state.chosen.limit / 2)
        return true;
  return false;
}

/// Reports an open-ended wait (for a counter) once, unless another report is about to show it: it may be a hang, or a
/// server that waits for work.
void check_open_ended(const watchdog_state& state) {
  std::atomic<std::int32_t>& has_reported = state.all_ranks.at(0).has_reported;
  if (has_reported != 0 || stuck_since(state, scope::reported_once) == 0 || may_be_reported_soon(state)) return;
  if (has_reported.exchange(1) == 0) report(state, true);
}

/// Reports every stuck operation once.
void check_limited(watchdog_state& state) {
  const std::int64_t since = stuck_since(state, scope::limited);
  if (since == 0) return check_open_ended(state);
  if (!state.chosen.only_reports) end_job(state);
  if (since > state.reported_ns && is_reporter(state)) report(state);
  state.reported_ns = std::max(state.reported_ns, since);
}

void clear(thread_record& record) {
  record.is_inside = 0;
  record.name.operation[0] = '\0';
}

void write(thread_record& record, const collective_seen& seen, bool is_inside) {
  record.kind = seen.is_unlimited ? scope::unlimited : scope::limited;
  if (record.since_ns == seen.since_ns && record.is_inside == static_cast<int>(is_inside)) return;
  record.is_inside = 0;
  record.name.set(seen.operation, *seen.comm, seen.sequence);
  record.ranks = seen.ranks;
  record.since_ns = seen.since_ns;
  record.is_inside = static_cast<int>(is_inside);
}

void watch(watchdog_state& state, const std::stop_token& stop) {
  const auto pause =
      std::chrono::duration<double>(state.chosen.limit > 0.0 ? std::min(0.5, state.chosen.limit / 4) : 0.5);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any timer;  // a request to stop ends its wait
  while (!timer.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
    collectives_writer writer(state.mine);
    state.write_collectives(writer);
    writer.finish();
    state.mine.has_lines = static_cast<int>(has_line_function());
    answer(state);
    if (state.chosen.limit > 0.0) check_limited(state);
  }
}

}  // namespace

settings settings_of_environment() {
  settings result;
  result.limit = base::environment_seconds(base::settings::watchdog);
  result.is_watched = result.limit > 0.0;
  result.is_asked_for = base::environment(base::settings::watchdog).has_value();
  result.only_reports = !result.is_asked_for || base::environment_choice(base::settings::watchdog_action) ==
                                                    base::settings::stuck_action::report;
  return result;
}

void collectives_writer::add(const collective_seen& seen) {
  if (seen.operation == nullptr) return;
  if (!seen.is_inside) {
    if (!left_ || seen.since_ns > left_->since_ns) left_ = seen;
  } else if (next_record_ < static_cast<int>(std::size(mine_.records))) {
    write(mine_.records[next_record_++], seen, true);
  }
}

void collectives_writer::add_started(const char* operation, const std::string& comm, std::uint64_t sequence,
                                     std::int64_t since_ns) {
  if (next_listing_ == static_cast<int>(std::size(mine_.listings))) return;
  listing& listed = mine_.listings[next_listing_++];
  listed.name.set(operation, comm, sequence);
  listed.since_ns = since_ns;
  listed.is_shown = 1;
}

void collectives_writer::finish() {
  if (left_ && next_record_ == threads) write(mine_.records[next_record_++], *left_, false);
  while (next_record_ < static_cast<int>(std::size(mine_.records))) clear(mine_.records[next_record_++]);
  while (next_listing_ < static_cast<int>(std::size(mine_.listings))) mine_.listings[next_listing_++].is_shown = 0;
}

void start(const settings& chosen, board all_ranks, rank_record& mine, void (*write_collectives)(collectives_writer&)) {
  std::unique_ptr<watchdog_state> state(new watchdog_state{chosen, std::move(all_ranks), mine, write_collectives});
  published = &state->all_ranks;
  if (chosen.is_watched) record_of_scopes = &mine;
  if (chosen.is_asked_for) record_of_started_scopes = &mine;
  if (chosen.is_watched)
    state->thread = std::jthread([raw = state.get()](const std::stop_token& stop) { watch(*raw, stop); });
  the_watchdog = state.release();
}

void stop() {
  const std::shared_ptr<watchdog_state> state(the_watchdog.exchange(nullptr));
  forget();
  if (!state) return;
  mpi::keep_for_ever(state);
  state->thread = {};  // stops it, and waits for its end
}

void forget() noexcept {
  the_watchdog = nullptr;
  record_of_scopes = nullptr;
  record_of_started_scopes = nullptr;
}

}  // namespace syncyte::watchdog
