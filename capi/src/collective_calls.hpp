// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "collectives/checks.hpp"
#include "guard.hpp"
#include "requests.hpp"
#include "syncyte/collectives.h"

namespace syncyte::capi {

/// The caller's options; an error in them is stored, for the collective to report on all ranks.
inline collectives::caller_facts facts_of(const syncyte_collective_options_t* given) {
  constexpr std::int64_t most_facts = 24;  // the caller's; collectives add some of their own
  collectives::caller_facts result;
  result.error = error_of([&] {
    const auto options = options_or(given, syncyte_collective_options_t SYNCYTE_COLLECTIVE_OPTIONS_INIT);
    base::expect(options.stream == nullptr, SYNCYTE_ERR_UNSUPPORTED, "options->stream", "set",
                 "null: streams are waited for before the call");
    const std::int64_t count = options.fact_count;
    base::expect(count >= 0 && count <= most_facts, SYNCYTE_ERR_ARGUMENT, "options->fact_count", count, "0 to {}",
                 most_facts);
    base::expect(options.facts != nullptr || count == 0, SYNCYTE_ERR_ARGUMENT, "options->facts", "null", "{} facts",
                 count);
    const base::struct_array facts(count, options.facts, "options->facts");
    for (std::int64_t i = 0; i < count; ++i)
      base::expect(facts[i].name != nullptr, SYNCYTE_ERR_ARGUMENT, {"options->facts", i}, "without a name", "a name");
    result.fact = options.fact;
    result.facts = facts;
  });
  return result;
}

/// Calls start(communicator, facts), which starts an operation, and returns its request to the caller.
template <class Start>
syncyte_status_t start_request(const char* operation, syncyte_comm_t comm, const syncyte_collective_options_t* options,
                               syncyte_request_t* request, Start&& start) {
  return after_init(operation, [&] {
    auto given = facts_of(options);
    const auto error = error_of([&] { out(request, "request"); });
    if (!given.error) given.error = error;
    give_request(start(find_comm(comm), given), operation, request);
  });
}

}  // namespace syncyte::capi
