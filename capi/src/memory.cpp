// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/memory.h"

#include <iterator>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "guard.hpp"
#include "memory/device.hpp"
#include "memory/device_system.hpp"
#include "memory/device_uses.hpp"
#include "memory/pool.hpp"

using namespace syncyte;
using namespace syncyte::capi;

namespace {

memory::place place_of(const base::buffer& checked) {
  memory::require_device(checked.memory(), checked.device());
  return {checked.data(), checked.memory(), checked.device()};
}

}  // namespace

extern "C" {

syncyte_status_t syncyte_memory_allocate(int64_t size, syncyte_memory_t memory, int32_t device, void** data) {
  return guarded("memory_allocate", [&] {
    void*& result = out(data, "data");
    base::expect(size >= 0, SYNCYTE_ERR_ARGUMENT, "size", size, "0 or more");
    result = memory::acquire(static_cast<std::size_t>(size), memory, device);
  });
}

syncyte_status_t syncyte_memory_free(void* data) {
  return guarded("memory_free", [&] { memory::release(data); });
}

syncyte_status_t syncyte_memory_trim(void) {
  return guarded("memory_trim", [] { memory::trim(); });
}

syncyte_status_t syncyte_memory_stats(syncyte_memory_stats_t* stats) {
  return guarded("memory_stats", [&] {
    const memory::pool_statistics host = memory::host_pool().statistics(), devices = memory::device_statistics();
    const auto bytes = [](std::size_t count) { return static_cast<std::int64_t>(count); };
    base::fill_struct(
        stats, "stats",
        {sizeof *stats, bytes(host.in_use), bytes(host.cached), bytes(host.limit), host.hits, host.misses,
         bytes(devices.in_use), bytes(devices.cached), bytes(devices.limit), devices.hits, devices.misses});
  });
}

syncyte_status_t syncyte_memory_describe(int64_t number, syncyte_device_use_t* use) {
  return guarded("memory_describe", [&] {
    thread_local std::vector<memory::device_use> listed;
    thread_local std::string device;
    require_output(use, "use");
    if (number == 0) listed = memory::device_uses();
    base::expect(number >= 0 && number < std::ssize(listed), SYNCYTE_ERR_INDEX, "number", number, "less than {}",
                 std::ssize(listed));
    const memory::device_use& each = listed[static_cast<std::size_t>(number)];
    device = memory::text_of(each.device);
    base::fill_struct(use, "use",
                      {sizeof *use, device.c_str(), each.holder.c_str(), static_cast<std::int64_t>(each.bytes)});
  });
}

syncyte_status_t syncyte_memory_set_stream(syncyte_memory_t memory, void* stream) {
  return guarded("memory_set_stream", [&] {
    base::expect(memory == SYNCYTE_MEMORY_CUDA, SYNCYTE_ERR_ARGUMENT, "memory", memory, "SYNCYTE_MEMORY_CUDA");
    memory::set_thread_stream(stream);
  });
}

syncyte_status_t syncyte_memory_device_count(syncyte_memory_t memory, int32_t* count) {
  return guarded("memory_device_count", [&] { out(count, "count") = memory::backend_of(memory).count(); });
}

syncyte_status_t syncyte_memory_copy(const syncyte_buffer_t* target, const syncyte_buffer_t* source, void* stream) {
  return guarded("memory_copy", [&] {
    const base::buffer to(target, "target");
    const base::buffer from(source, "source");
    to.require_contiguous().require_writable();
    from.require_contiguous();
    base::expect(to.bytes() == from.bytes(), SYNCYTE_ERR_SHAPE, "target's number of bytes", to.bytes(),
                 "{}, as the source's", from.bytes());
    memory::copy(place_of(to), place_of(from), to.bytes(), stream);
  });
}
}
