// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/ranks.hpp"

namespace syncyte::watchdog {
namespace {

double seconds_since(const std::atomic<std::int64_t>& begin, std::int64_t now) {
  return static_cast<double>(now - begin) * 1e-9;
}

std::string record_text(const thread_record& record, std::int64_t now) {
  const double seconds = seconds_since(record.since_ns, now);
  return record.is_inside != 0 ? fmt::format("inside {} for {:.1f} s", record.name.text(), seconds)
                               : fmt::format("in no operation; left {} {:.1f} s ago", record.name.text(), seconds);
}

/// Whether a rank is inside this operation, or has started it.
bool takes_part(const rank_record& seen, const operation_name& name) {
  return std::any_of(std::begin(seen.records), std::end(seen.records),
                     [&](const thread_record& record) { return record.is_inside != 0 && record.name.is(name); }) ||
         std::any_of(std::begin(seen.listings), std::end(seen.listings),
                     [&](const listing& listed) { return listed.is_shown != 0 && listed.name.is(name); });
}

/// The record to show for a rank: one that it is inside, otherwise the one that it left last.
const thread_record* shown_record(const rank_record& seen) {
  const thread_record* best = nullptr;
  for (const auto& record : seen.records) {
    if (record.name.operation[0] == '\0') continue;
    if (best == nullptr || record.is_inside > best->is_inside ||
        (record.is_inside == best->is_inside && record.since_ns > best->since_ns))
      best = &record;
  }
  return best;
}

std::string listings_text(const rank_record& seen, std::int64_t now) {
  std::string text;
  for (const listing& listed : seen.listings)
    if (listed.is_shown != 0)
      text += fmt::format("    started {:.1f} s ago, not completed: {}\n", seconds_since(listed.since_ns, now),
                          listed.name.text());
  if (seen.unlisted > 0) text += fmt::format("    and {} more that were started\n", seen.unlisted.load());
  return text;
}

/// Describes a rank whose process has ended.
std::string gone_text(const rank_record& seen) {
  const thread_record* const shown = shown_record(seen);
  if (shown == nullptr) return "gone: its process has ended\n";
  return fmt::format("gone: its process has ended; it {} {}\n", shown->is_inside != 0 ? "was inside" : "had left",
                     shown->name.text());
}

/// The source line that a rank is at, if it has a line function.
std::string line_text(const rank_record& seen) {
  if (seen.has_lines == 0) return "";
  return fmt::format("    at {}\n", seen.answered_ns < seen.asked_ns ? "unknown" : seen.line);
}

}  // namespace

const rank_record* board::find(int world_rank) const {
  const int node_rank = job_.node.node_rank(world_rank);
  return node_rank < 0 ? nullptr : &at(node_rank);
}

/// Names the ranks that a rank waits for: ranks of the node that are not inside the same operation; if all are, the
/// ranks of other nodes, whose operations are not known here. Ranks are named only if the operation is on the whole
/// world; the board knows the size of a smaller communicator, but not its members.
std::string board::awaited_text(const thread_record& waiting) const {
  if (waiting.is_inside == 0 || waiting.ranks == 0) return "";
  std::vector<int> absent;
  for (int node_rank = 0; node_rank < job_.node.size; ++node_rank)
    if (!job_.node.is_alive(node_rank) || !takes_part(at(node_rank), waiting.name))
      absent.push_back(at(node_rank).world_rank);
  const int present = job_.node.size - static_cast<int>(absent.size());
  if (present >= waiting.ranks) return "";
  if (waiting.ranks == job_.world_size) {
    const bool is_one_node = job_.node.size == job_.world_size;
    if (absent.empty()) return "; waits for " + elsewhere_text();
    return fmt::format("; waits for {}{}", base::ranks_text(absent),
                       is_one_node ? "" : ", and perhaps for " + elsewhere_text());
  }
  return fmt::format("; {1} of its {0} ranks are inside on this node", waiting.ranks.load(), present);
}

/// Names the ranks of other nodes, some of which may be inside.
std::string board::elsewhere_text() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < job_.world_size; ++rank)
    if (!job_.node.is_here(rank)) ranks.push_back(rank);
  if (ranks.size() == 1) return base::ranks_text(ranks) + ", on another node";
  return fmt::format("some of the {}, on other nodes", base::ranks_text(ranks));
}

void board::ask_for_lines() const {
  const std::int64_t now = now_ns();
  for (int node_rank = 0; node_rank < job_.node.size; ++node_rank)
    if (at(node_rank).has_lines != 0) at(node_rank).asked_ns = now;
}

bool board::have_answered() const {
  for (int node_rank = 0; node_rank < job_.node.size; ++node_rank) {
    const rank_record& seen = at(node_rank);
    if (seen.has_lines != 0 && seen.answered_ns < seen.asked_ns && job_.node.is_alive(node_rank)) return false;
  }
  return true;
}

std::string board::living_text(const rank_record& seen, std::int64_t now) const {
  const thread_record* const shown = shown_record(seen);
  return fmt::format("{}\n{}{}",
                     shown != nullptr ? record_text(*shown, now) + awaited_text(*shown) : "in no operation yet",
                     line_text(seen), listings_text(seen, now));
}

std::string board::text() const {
  const std::int64_t now = now_ns();
  std::string text;
  for (int node_rank = 0; node_rank < job_.node.size; ++node_rank) {
    const rank_record& seen = at(node_rank);
    text += fmt::format("  rank {} (pid {}): {}", seen.world_rank, seen.pid,
                        job_.node.is_alive(node_rank) ? living_text(seen, now) : gone_text(seen));
  }
  return text;
}

}  // namespace syncyte::watchdog
