#include "syncyte/window.h"

#include <cstddef>

#include "base/buffer.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"
#include "requests.hpp"
#include "window/window.hpp"

namespace syncyte::capi {
namespace {

/// The window of an operation on a rank, which is recorded for the trace.
std::shared_ptr<window::window> find_window(syncyte_window_t handle, std::int32_t rank) {
  trace_peer(rank);
  return find_traced(tables::window(), handle, "window");
}

/// The window and the buffer of a transfer. Windows transfer contiguous host memory.
struct transfer {
  transfer(syncyte_window_t handle, std::int32_t rank, const syncyte_buffer_t* raw, const char* argument)
      : on(find_window(handle, rank)), buffer(raw, argument) {
    buffer.require_host().require_contiguous();
    trace_bytes(buffer.bytes(), buffer.dtype());
  }

  std::shared_ptr<window::window> on;
  base::buffer buffer;
};

}  // namespace
}  // namespace syncyte::capi

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
    std::byte* const part = find_window(window, rank)->pointer(rank);
    base::expect(part != nullptr, SYNCYTE_ERR_UNSUPPORTED, "rank", rank, "a rank of this node: that one is on another");
    result = part;
  });
}

syncyte_status_t syncyte_window_put(syncyte_window_t window, int32_t rank, int64_t offset,
                                    const syncyte_buffer_t* source) {
  return after_init("window_put", [&] {
    const auto [target, from] = transfer(window, rank, source, "source");
    target->put_bytes(rank, offset, from.data(), from.bytes());
  });
}

syncyte_status_t syncyte_window_get(syncyte_window_t window, int32_t rank, int64_t offset,
                                    const syncyte_buffer_t* target) {
  return after_init<forks_too>("window_get", [&] {
    const auto [source, to] = transfer(window, rank, target, "target");
    to.require_writable();
    source->get_bytes(rank, offset, to.data(), to.bytes());
  });
}

syncyte_status_t syncyte_window_accumulate(syncyte_window_t window, int32_t rank, int64_t offset,
                                           const syncyte_buffer_t* source, syncyte_op_t op) {
  return after_init("window_accumulate", [&] {
    const auto [target, from] = transfer(window, rank, source, "source");
    target->accumulate(rank, offset, from.dtype(), from.data(), from.elements(), op);
  });
}

syncyte_status_t syncyte_window_iput(syncyte_window_t window, int32_t rank, int64_t offset,
                                     const syncyte_buffer_t* source, syncyte_request_t* request) {
  return after_init("window_iput", [&] {
    const auto [target, from] = transfer(window, rank, source, "source");
    out(request, "request");
    give_request(target->iput_bytes(rank, offset, from.data(), from.bytes()), "window_iput", request);
  });
}

syncyte_status_t syncyte_window_iget(syncyte_window_t window, int32_t rank, int64_t offset,
                                     const syncyte_buffer_t* target, syncyte_request_t* request) {
  return after_init("window_iget", [&] {
    const auto [source, to] = transfer(window, rank, target, "target");
    to.require_writable();
    out(request, "request");
    give_request(source->iget_bytes(rank, offset, to.data(), to.bytes()), "window_iget", request);
  });
}

syncyte_status_t syncyte_window_iaccumulate(syncyte_window_t window, int32_t rank, int64_t offset,
                                            const syncyte_buffer_t* source, syncyte_op_t op,
                                            syncyte_request_t* request) {
  return after_init("window_iaccumulate", [&] {
    const auto [target, from] = transfer(window, rank, source, "source");
    out(request, "request");
    give_request(target->iaccumulate(rank, offset, from.dtype(), from.data(), from.elements(), op),
                 "window_iaccumulate", request);
  });
}
}
