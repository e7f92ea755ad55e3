#include "comm/long_wait.hpp"

#include "comm/departures.hpp"
#include "comm/interrupts.hpp"
#include "comm/watchdog_board.hpp"

namespace syncyte::comm {
namespace {

constexpr std::int64_t first_ns = 1'000'000;
constexpr std::int64_t pause_ns = 10'000'000;
constexpr std::int64_t arrival_ns = 50'000'000;
constexpr unsigned looks_per_question = 10;  // the application may have to take a lock to answer

}  // namespace

bool long_wait::look() {
  const std::int64_t now = watchdog::now_ns();
  if (begin_ns_ == 0) {
    begin_ns_ = now;
    next_ns_ = now + first_ns;
  }
  if (now < next_ns_) return false;
  next_ns_ = now + pause_ns;
  examine(scope_);
  if (++looks_ % looks_per_question == 0) ask_for_interrupt();
  pause_polling();
  return true;
}

bool long_wait::has_lasted(std::size_t bytes) const {
  return next_ns_ - begin_ns_ > arrival_ns + static_cast<std::int64_t>(bytes) * 10;
}

void plain_wait::examine(std::optional<watchdog_scope>& scope) {
  if (!scope) scope.emplace(operation_, title_, 0);
}

void members_wait::examine(std::optional<watchdog_scope>& scope) {
  if (!scope)
    scope.emplace(operation_, comm_.name(), sequence_, kind_ == transfer ? 0 : comm_.size(),
                  comm_.is_patient() ? watchdog_scope::patient : watchdog_scope::limited);
  if (!has_lasted()) return;
  if (kind_ == end) comm_.node().require_all_alive();
  if (kind_ != members) return;
  if (awaited_ >= 0) {
    if (has_departed(comm_, awaited_)) throw departed_error(comm_, awaited_, operation_);
    return;
  }
  if (const int rank = first_departed(comm_); rank >= 0) throw departed_error(comm_, rank, operation_);
}

}  // namespace syncyte::comm
