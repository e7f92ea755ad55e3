// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/window.h"

#include <cstddef>

#include "guard.hpp"
#include "handle_tables.hpp"
#include "window/window.hpp"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_window_create(syncyte_comm_t comm, int64_t size, const syncyte_window_options_t* options,
                                       syncyte_window_t* window) {
  return after_init("window_create", [&] {
    const auto ranks = find_comm(comm);
    comm::collective_call call(*ranks, "window_create", comm::collective_call::always_agrees);
    std::string name, label;
    call.attempt([&] {
      out(window, "window");
      base::expect(size >= 0, SYNCYTE_ERR_ARGUMENT, "size", size, "0 or more");
      const auto chosen = options_or(options, syncyte_window_options_t SYNCYTE_WINDOW_OPTIONS_INIT);
      using known = base::known::memory;
      constexpr syncyte_memory_t host = SYNCYTE_MEMORY_HOST;
      base::expect(known::contains(chosen.memory), SYNCYTE_ERR_ARGUMENT, "options->memory", chosen.memory, "{} ({})",
                   known::name(host), host);
      base::expect(chosen.memory == host, SYNCYTE_ERR_UNSUPPORTED, "options->memory", known::name(chosen.memory),
                   "{} ({}), the only memory of windows", known::name(host), host);
      name = text_or_empty(chosen.name);
      label = text_or_empty(chosen.label);
    });
    *window = tables::window().insert(window::window::create(call, static_cast<std::size_t>(size), name, label));
  });
}

syncyte_status_t syncyte_window_pointer(syncyte_window_t window, int32_t rank, void** data) {
  return lookup_after_init("window_pointer", [&] {
    void*& result = out(data, "data");
    std::byte* const part = find_traced(tables::window(), window, "window")->pointer(rank);
    base::expect(part != nullptr, SYNCYTE_ERR_UNSUPPORTED, "rank", rank, "a rank of this node: that one is on another");
    result = part;
  });
}
}
