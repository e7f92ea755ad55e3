#include <mutex>
#include <string>
#include <unordered_set>

#include "collectives/started_collective.hpp"
#include "comm/collective.hpp"
#include "comm_table.hpp"
#include "guard.hpp"
#include "syncyte/comm.h"
#include "syncyte/nonblocking.h"

namespace syncyte::capi {
namespace {

/// A copy of the name that is never freed: the watchdog and agreements read it after the call.
const char* kept(const char* name) {
  static auto* const names = new std::unordered_set<std::string>;  // leaked
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return names->emplace(name).first->c_str();
}

void agree(syncyte_comm_t comm, syncyte_status_t status, const char* operation, std::int32_t count,
           const syncyte_fact_t* facts, bool is_unlimited) {
  const auto group = find_comm(comm);
  comm::collective_call call(*group, operation != nullptr ? kept(operation) : "comm_agree",
                             comm::collective_call::lifecycle);
  if (is_unlimited) call.lift_time_limit();
  call.attempt([&] {
    base::expect(base::is_known_status(status), SYNCYTE_ERR_ARGUMENT, "status", status,
                 "SYNCYTE_SUCCESS (0) to SYNCYTE_ERR_INTERRUPTED (21)");
    if (status != SYNCYTE_SUCCESS) throw base::error(status, last_error_reason().what(), last_error_reason().fields());
    base::expect(operation != nullptr, SYNCYTE_ERR_ARGUMENT, "operation", "null", "a name");
    base::expect(count >= 0 && count <= 32, SYNCYTE_ERR_ARGUMENT, "count", count, "0 to 32");
    base::expect(facts != nullptr || count == 0, SYNCYTE_ERR_ARGUMENT, "facts", "null", "{} facts", count);
    for (int32_t i = 0; i < count; ++i)
      call.fact(facts[i].name != nullptr ? facts[i].name : "a fact without a name", facts[i].value);
  });
  call.agree();
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_comm_agree(syncyte_comm_t comm, syncyte_status_t status, const char* operation, int32_t count,
                                    const syncyte_fact_t* facts) {
  return started<forks_too>("comm_agree", [&] { agree(comm, status, operation, count, facts, false); });
}

syncyte_status_t syncyte_comm_agree_unlimited(syncyte_comm_t comm, syncyte_status_t status, const char* operation,
                                              int32_t count, const syncyte_fact_t* facts) {
  return started<forks_too>("comm_agree_unlimited", [&] { agree(comm, status, operation, count, facts, true); });
}

syncyte_status_t syncyte_collect(syncyte_comm_t comm) {
  return started("collect", [&] {
    const auto group = find_comm(comm);
    comm::collective_call(*group, "collect", comm::collective_call::lifecycle).agree();
  });
}

syncyte_status_t syncyte_comm_ifail(syncyte_comm_t comm, syncyte_status_t status, const char* operation) {
  return started("comm_ifail", [&] {
    base::expect(operation != nullptr, SYNCYTE_ERR_ARGUMENT, "operation", "null", "a name");
    base::expect(status != SYNCYTE_SUCCESS, SYNCYTE_ERR_ARGUMENT, "status", "SYNCYTE_SUCCESS (0)", "an error");
    const base::error error(status, last_error_reason().what(), last_error_reason().fields());
    const auto group = find_comm(comm);
    if (group->check() != comm::check_level::off) collectives::fail_collective(group, kept(operation), error);
  });
}
}
