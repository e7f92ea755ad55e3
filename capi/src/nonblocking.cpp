#include "syncyte/nonblocking.h"

#include <mutex>
#include <set>
#include <string>

#include "collective_options.hpp"
#include "collectives/collectives.hpp"
#include "comm_table.hpp"
#include "guard.hpp"
#include "requests.hpp"

namespace syncyte::capi {
namespace {

/// Calls start(communicator, extras), which starts an operation, and returns its request to the caller.
template <class Start>
syncyte_status_t start_request(const char* operation, syncyte_comm_t comm, const syncyte_collective_options_t* options,
                               syncyte_request_t* request, Start&& start) {
  return started(operation, [&] {
    auto given = extras(options);
    const auto error = error_of([&] { out(request, "request"); });
    if (!given.error) given.error = error;
    give_request(start(find_comm(comm), given), operation, request);
  });
}

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
using capi::start_request;
using capi::trace_buffer;
using capi::trace_peer;

extern "C" {

syncyte_status_t syncyte_comm_ibcast(syncyte_comm_t comm, int32_t root, const syncyte_collective_options_t* options,
                                     const syncyte_buffer_t* buffer, syncyte_request_t* request) {
  return start_request("comm_ibcast", comm, options, request, [&](const auto& group, const auto& extras) {
    trace_buffer(buffer);
    trace_peer(root);
    return collectives::ibcast(group, buffer, root, extras);
  });
}

syncyte_status_t syncyte_comm_iallreduce(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
                                         const syncyte_collective_options_t* options, const syncyte_buffer_t* output,
                                         syncyte_request_t* request) {
  return start_request("comm_iallreduce", comm, options, request, [&](const auto& group, const auto& extras) {
    trace_buffer(input != nullptr ? input : output);
    return collectives::iallreduce(group, input, output, op, extras);
  });
}

syncyte_status_t syncyte_comm_iallgather_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
                                               const int64_t* counts, int64_t counts_length,
                                               const syncyte_collective_options_t* options,
                                               const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request("comm_iallgather_along", comm, options, request, [&](const auto& group, const auto& extras) {
    trace_buffer(input);
    return collectives::iallgather_along(group, input, axis, {counts, counts_length}, output, extras);
  });
}

syncyte_status_t syncyte_comm_ireduce_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis,
                                                    const int64_t* counts, int64_t counts_length, syncyte_op_t op,
                                                    const syncyte_collective_options_t* options,
                                                    const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request(
      "comm_ireduce_scatter_along", comm, options, request, [&](const auto& group, const auto& extras) {
        trace_buffer(input);
        return collectives::ireduce_scatter_along(group, input, axis, {counts, counts_length}, op, output, extras);
      });
}

syncyte_status_t syncyte_comm_ialltoall_along(syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t gather_axis,
                                              const int64_t* gather_counts, int64_t gather_counts_length,
                                              int32_t scatter_axis, const int64_t* scatter_counts,
                                              int64_t scatter_counts_length,
                                              const syncyte_collective_options_t* options,
                                              const syncyte_buffer_t* output, syncyte_request_t* request) {
  return start_request("comm_ialltoall_along", comm, options, request, [&](const auto& group, const auto& extras) {
    trace_buffer(input);
    const collectives::axis_change change{
        gather_axis, {gather_counts, gather_counts_length}, scatter_axis, {scatter_counts, scatter_counts_length}};
    return collectives::ialltoall_along(group, input, change, output, extras);
  });
}

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
