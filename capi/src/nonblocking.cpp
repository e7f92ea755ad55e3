#include "syncyte/nonblocking.h"

#include <mutex>
#include <set>
#include <string>

#include "collectives/started_collective.hpp"
#include "comm_table.hpp"
#include "guard.hpp"

namespace syncyte::capi {
namespace {

/// A copy of the name that is never freed: the agreement uses it after the call has returned.
const char* kept(const char* operation) {
  static std::mutex mutex;
  static auto* const names = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return names->emplace(operation).first->c_str();
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;

extern "C" {

syncyte_status_t syncyte_comm_ifail(syncyte_comm_t comm, syncyte_status_t status, const char* operation) {
  return capi::started("comm_ifail", [&] {
    base::expect(operation != nullptr, SYNCYTE_ERR_ARGUMENT, "operation", "null", "a name");
    base::require(status != SYNCYTE_SUCCESS, SYNCYTE_ERR_ARGUMENT, "status is SYNCYTE_SUCCESS (0); expected an error");
    const base::error error(status, capi::last_error_reason().what(), capi::last_error_reason().fields());
    const auto group = capi::find_comm(comm);
    if (group->check() != comm::check_level::off) collectives::fail_collective(group, capi::kept(operation), error);
  });
}
}
