// SPDX-License-Identifier: BSD-3-Clause
#include "guard.hpp"
#include "handle_tables.hpp"
#include "trace.hpp"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_trace_set(syncyte_trace_fn_t hook, void* context) {
  return guarded("trace_set", [&] { set_trace_hook(hook, context); });
}

syncyte_status_t syncyte_trace_tell(syncyte_comm_t comm, const syncyte_trace_event_t* event) {
  return guarded("trace_tell", [&] {
    syncyte_trace_event_t completed = base::read_struct(event, "event", syncyte_trace_event_t{});
    base::expect(completed.operation != nullptr, SYNCYTE_ERR_ARGUMENT, "event->operation", "null", "a name");
    std::shared_ptr<comm::communicator> group;
    if (!error_of([&] { group = find_comm(comm); })) completed.comm = group->name().c_str();
    record_call(completed);
  });
}

syncyte_status_t syncyte_stats(int64_t index, syncyte_operation_stats_t* stats) {
  return guarded("stats", [&] {
    require_output(stats, "stats");
    const operation_counter* counter = operation_counter::newest();
    for (std::int64_t left = index; left > 0 && counter != nullptr; --left) counter = counter->next();
    base::expect(index >= 0 && counter != nullptr, SYNCYTE_ERR_INDEX, "index", index, "0 to the number of operations");
    base::fill_struct(stats, "stats", counter->read());
  });
}
}
