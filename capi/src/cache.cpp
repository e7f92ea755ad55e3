// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/cache.h"

#include "cache/region.hpp"
#include "cache/rendezvous.hpp"
#include "cache/slices.hpp"
#include "cache_rendezvous.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"

namespace syncyte::capi {
namespace {

cache::region_sizes chosen_sizes(const syncyte_cache_sizes_t* given) {
  const auto chosen = options_or(given, syncyte_cache_sizes_t SYNCYTE_CACHE_SIZES_INIT);
  const auto checked = [](std::int64_t bytes, const char* name) {
    base::expect(bytes >= 0, SYNCYTE_ERR_ARGUMENT, name, bytes, "1 or more, or 0 for the default");
    return static_cast<std::uint64_t>(bytes);
  };
  return {checked(chosen.parameter_bytes, "parameter_bytes"), checked(chosen.computation_bytes, "computation_bytes")};
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_cache_create(const syncyte_cache_sizes_t* options, syncyte_cache_t* cache) {
  return counted("cache_create", [&] {
    out(cache, "cache");
    *cache = tables::cache().insert(cache::region::allocate(chosen_sizes(options)));
  });
}

syncyte_status_t syncyte_cache_send(syncyte_cache_t cache, const syncyte_cache_rendezvous_t* options) {
  return counted("cache_send",
                 [&] { cache::send(tables::cache().find(cache, "cache")->file(), chosen_rendezvous(options)); });
}

syncyte_status_t syncyte_cache_receive(const syncyte_cache_rendezvous_t* options, syncyte_cache_t* cache) {
  return counted("cache_receive", [&] {
    out(cache, "cache");
    *cache = tables::cache().insert(cache::region::attach(cache::receive(chosen_rendezvous(options))));
  });
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
  return guarded("cache_holds", [&] { out(holds, "holds") = cache::holds(data) ? 1 : 0; });
}

syncyte_status_t syncyte_cache_free(void* data) {
  return guarded("cache_free", [&] { cache::release(data); });
}
}
