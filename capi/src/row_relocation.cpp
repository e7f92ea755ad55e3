// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/row_relocation.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "block_buffers.hpp"
#include "collective_calls.hpp"
#include "collectives/forms.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_comm_relocate_rows(syncyte_comm_t comm, int64_t destinations_length,
                                            const int32_t* destinations, int64_t count, const syncyte_buffer_t* arrays,
                                            const syncyte_collective_options_t* options,
                                            const syncyte_buffer_t* targets, int64_t* rows) {
  return after_init("comm_relocate_rows", [&] {
    const auto group = find_comm(comm);
    collectives::caller_facts caller;
    std::vector<syncyte_buffer_t> read, written;
    collectives::rows_to_move given{};
    const auto error = error_of([&] {
      caller = facts_of(options);
      given.rows = &out(rows, "rows");
      base::expect(destinations_length >= 0, SYNCYTE_ERR_ARGUMENT, "destinations_length", destinations_length,
                   "0 or more");
      base::expect(destinations_length == 0 || destinations != nullptr, SYNCYTE_ERR_ARGUMENT, "destinations", "null",
                   "{} ranks", destinations_length);
      given.destinations = {destinations, static_cast<std::size_t>(destinations_length)};
      read = read_buffers(count, arrays, "arrays", "count");
      if (targets != nullptr) written = read_buffers(count, targets, "targets", "count");
      given.arrays = read;
      given.targets = written;
    });
    if (!caller.error) caller.error = error;
    collectives::run<collectives::row_relocation>(*group, "comm_relocate_rows", caller, given);
  });
}
}
