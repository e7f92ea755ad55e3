// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/cache.h"

#include "cache/region.hpp"
#include "cache/rendezvous.hpp"
#include "cache/slices.hpp"
#include "cache/stream_slices.hpp"
#include "cache_rendezvous.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"

namespace syncyte::capi {
namespace {

std::shared_ptr<cache::region> make_region(const syncyte_cache_sizes_t* given) {
  const auto chosen = options_or(given, syncyte_cache_sizes_t SYNCYTE_CACHE_SIZES_INIT);
  const auto checked = [](std::int64_t bytes, const char* name) {
    base::expect(bytes >= 0, SYNCYTE_ERR_ARGUMENT, name, bytes, "1 or more, or 0 for the default");
    return static_cast<std::uint64_t>(bytes);
  };
  const cache::region_sizes sizes{checked(chosen.parameter_bytes, "parameter_bytes"),
                                  checked(chosen.computation_bytes, "computation_bytes")};
  return cache::region::allocate(sizes, chosen.memory, chosen.device, text_or_empty(chosen.framework));
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_cache_create(const syncyte_cache_sizes_t* options, syncyte_cache_t* cache) {
  return counted("cache_create", [&] {
    out(cache, "cache");
    *cache = tables::cache().insert(make_region(options));
  });
}

syncyte_status_t syncyte_cache_send(syncyte_cache_t cache, const syncyte_cache_rendezvous_t* options) {
  return counted("cache_send",
                 [&] { cache::send(tables::cache().find(cache, "cache")->files(), chosen_rendezvous(options)); });
}

syncyte_status_t syncyte_cache_receive(const syncyte_cache_rendezvous_t* options, syncyte_cache_t* cache) {
  return counted("cache_receive", [&] {
    out(cache, "cache");
    *cache = tables::cache().insert(cache::region::attach(cache::receive(chosen_rendezvous(options))));
  });
}

syncyte_status_t syncyte_cache_check_framework(syncyte_cache_t cache, const char* framework) {
  return guarded("cache_check_framework",
                 [&] { tables::cache().find(cache, "cache")->check_framework(text_or_empty(framework)); });
}

syncyte_status_t syncyte_cache_sizes(syncyte_cache_t cache, int64_t* parameter_bytes, int64_t* computation_bytes) {
  return guarded("cache_sizes", [&] {
    const cache::region_sizes sizes = tables::cache().find(cache, "cache")->sizes();
    auto& parameters = out(parameter_bytes, "parameter_bytes");
    auto& computation = out(computation_bytes, "computation_bytes");
    parameters = static_cast<int64_t>(sizes.parameters);
    computation = static_cast<int64_t>(sizes.computation);
  });
}

syncyte_status_t syncyte_cache_device(syncyte_cache_t cache, syncyte_memory_t* memory, int32_t* device) {
  return guarded("cache_device", [&] {
    const auto found = tables::cache().find(cache, "cache");
    auto& kind = out(memory, "memory");
    auto& number = out(device, "device");
    kind = found->memory();
    number = found->device();
  });
}

syncyte_status_t syncyte_cache_data(syncyte_cache_t cache, void** data) {
  return guarded("cache_data", [&] { out(data, "data") = tables::cache().find(cache, "cache")->data(); });
}

syncyte_status_t syncyte_cache_touch(syncyte_cache_t cache, int64_t offset, int64_t size) {
  return counted("cache_touch", [&] { tables::cache().find(cache, "cache")->touch(offset, size); });
}

syncyte_status_t syncyte_cache_insert(syncyte_cache_t cache, int64_t offset, int64_t size) {
  return counted("cache_insert", [&] { cache::insert(tables::cache().find(cache, "cache"), offset, size); });
}

syncyte_status_t syncyte_cache_clear(void) {
  return counted("cache_clear", [] { cache::clear(); });
}

syncyte_status_t syncyte_cache_allocate(int64_t size, void** data) {
  return guarded("cache_allocate", [&] {
    base::expect(size >= 0, SYNCYTE_ERR_ARGUMENT, "size", size, "0 or more");
    out(data, "data");
    *data = cache::acquire(static_cast<std::uint64_t>(size));
  });
}

syncyte_status_t syncyte_cache_holds(const void* data, int32_t* holds) {
  return guarded("cache_holds",
                 [&] { out(holds, "holds") = cache::holds(data) || cache::is_in_stream_slice(data) ? 1 : 0; });
}

syncyte_status_t syncyte_cache_free(void* data) {
  return guarded("cache_free", [&] { cache::release(data); });
}

syncyte_status_t syncyte_cache_insert_on_stream(syncyte_cache_t cache, void* stream, int64_t offset, int64_t size,
                                                int32_t may_overlap) {
  return counted("cache_insert_on_stream", [&] {
    base::expect(may_overlap == 0 || may_overlap == 1, SYNCYTE_ERR_ARGUMENT, "may_overlap", may_overlap, "0 or 1");
    cache::insert_on_stream(tables::cache().find(cache, "cache"), stream, offset, size, may_overlap == 1);
  });
}

syncyte_status_t syncyte_cache_clear_stream(int32_t device, void* stream) {
  return counted("cache_clear_stream", [&] { cache::clear_stream({device, stream}); });
}

syncyte_status_t syncyte_cache_clear_both(int32_t device, void* stream) {
  return counted("cache_clear_both", [&] {
    cache::expect_clear();
    cache::clear_stream({device, stream});
    cache::clear();
  });
}

syncyte_status_t syncyte_cache_stream_has_slice(int32_t device, void* stream, int32_t* has) {
  return guarded("cache_stream_has_slice", [&] { out(has, "has") = cache::has_slice({device, stream}) ? 1 : 0; });
}

syncyte_status_t syncyte_cache_allocate_on_stream(int32_t device, void* stream, int64_t size, void** data) {
  return guarded("cache_allocate_on_stream", [&] {
    base::expect(size >= 0, SYNCYTE_ERR_ARGUMENT, "size", size, "0 or more");
    out(data, "data");
    *data = cache::acquire_on_stream({device, stream}, static_cast<std::uint64_t>(size));
  });
}

syncyte_status_t syncyte_cache_record_stream(int32_t device, void* stream, const void* data, void* other) {
  return guarded("cache_record_stream", [&] { cache::record_stream({device, stream}, data, other); });
}

syncyte_status_t syncyte_cache_free_on_stream(int32_t device, void* stream, void* data) {
  return guarded("cache_free_on_stream", [&] { cache::release_on_stream({device, stream}, data); });
}
}
