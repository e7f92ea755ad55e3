#include "base/error.hpp"
#include "comm_table.hpp"
#include "guard.hpp"
#include "trace.hpp"

using namespace syncyte;

extern "C" {

syncyte_status_t syncyte_trace_set(syncyte_trace_fn_t hook, void* context) {
  return capi::guarded("trace_set", [&] { capi::set_trace_hook(hook, context); });
}

syncyte_status_t syncyte_trace_tell(syncyte_comm_t comm, const syncyte_trace_event_t* event) {
  return capi::guarded("trace_tell", [&] {
    base::expect(event != nullptr, SYNCYTE_ERR_ARGUMENT, "event", "null", "a struct");
    base::expect(event->struct_size == sizeof *event, SYNCYTE_ERR_ARGUMENT, "event->struct_size", event->struct_size,
                 "{}", sizeof *event);
    base::expect(event->operation != nullptr, SYNCYTE_ERR_ARGUMENT, "event->operation", "null", "a name");
    const auto group = capi::error_of([&] { capi::find_comm(comm); }) ? nullptr : capi::find_comm(comm);
    syncyte_trace_event_t completed = *event;
    if (group) completed.comm = group->name().c_str();
    capi::tell_call(completed);
  });
}

syncyte_status_t syncyte_stats(int64_t index, syncyte_operation_stats_t* stats) {
  return capi::guarded("stats", [&] {
    base::expect(stats != nullptr, SYNCYTE_ERR_ARGUMENT, "stats", "null", "a struct");
    base::expect(stats->struct_size >= sizeof *stats, SYNCYTE_ERR_ARGUMENT, "stats->struct_size", stats->struct_size,
                 "{}", sizeof *stats);
    std::int64_t left = index;
    const auto* counter = capi::operation_counter::newest();
    while (left > 0 && counter != nullptr) {
      counter = counter->next();
      --left;
    }
    base::expect(index >= 0 && counter != nullptr, SYNCYTE_ERR_INDEX, "index", index, "0 to the number of operations");
    counter->read(stats);
  });
}
}
