#include "syncyte/reducer.h"

#include <memory>
#include <utility>

#include "base/buffer.hpp"
#include "comm_table.hpp"
#include "guard.hpp"
#include "reducer/bucket_reducer.hpp"

namespace syncyte::capi {
namespace {

using reducer_table = handle_table<syncyte_reducer_t, reducer::bucket_reducer>;

reducer_table& reducers() {
  static auto* const the_table = new reducer_table("reducer");  // leaked: static destructors may drop handles
  return *the_table;
}

std::shared_ptr<reducer::bucket_reducer> find_reducer(syncyte_reducer_t reducer) {
  auto found = reducers().find(reducer, "reducer");
  trace_comm(found->comm()->name());
  return found;
}

reducer::description asked_reducer(std::int32_t buckets, const syncyte_dtype_t* dtypes, const std::int64_t* elements,
                                   const syncyte_reducer_options_t* options, const syncyte_reducer_t* result) {
  reducer::description asked;
  asked.error = error_of([&] {
    out(result, "reducer");
    base::expect(buckets > 0, SYNCYTE_ERR_ARGUMENT, "buckets", buckets, "1 or more");
    base::expect(dtypes != nullptr && elements != nullptr, SYNCYTE_ERR_ARGUMENT,
                 dtypes == nullptr ? "dtypes" : "elements", "null", "{} of them", buckets);
    asked.dtypes.assign(dtypes, dtypes + buckets);
    asked.elements.assign(elements, elements + buckets);
    asked.scale = options_or(options, syncyte_reducer_options_t SYNCYTE_REDUCER_OPTIONS_INIT).scale;
  });
  return asked;
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using capi::find_reducer;
using capi::guarded;
using capi::looked_up;
using capi::reducers;
using capi::started;

extern "C" {

syncyte_status_t syncyte_reducer_create(syncyte_comm_t comm, int32_t buckets, const syncyte_dtype_t* dtypes,
                                        const int64_t* elements, const syncyte_reducer_options_t* options,
                                        syncyte_reducer_t* reducer) {
  return started("reducer_create", [&] {
    const auto group = capi::find_comm(comm);
    auto made =
        reducer::bucket_reducer::create(group, capi::asked_reducer(buckets, dtypes, elements, options, reducer));
    *reducer = reducers().insert(std::move(made));
  });
}

syncyte_status_t syncyte_reducer_retain(syncyte_reducer_t reducer) {
  return guarded("reducer_retain", [&] { reducers().retain(reducer, "reducer"); });
}

syncyte_status_t syncyte_reducer_release(syncyte_reducer_t reducer) {
  return guarded("reducer_release", [&] { reducers().release(reducer, "reducer"); });
}

syncyte_status_t syncyte_reducer_destroy(syncyte_reducer_t* reducer) {
  return guarded("reducer_destroy", [&] { reducers().destroy(reducer, "reducer"); });
}

syncyte_status_t syncyte_reducer_bucket(syncyte_reducer_t reducer, int32_t bucket, syncyte_buffer_t* buffer) {
  return looked_up<capi::callers::ranks>("reducer_bucket", [&] {
    const auto found = find_reducer(reducer);
    capi::out(buffer, "buffer");
    found->require_bucket(bucket);
    const std::int64_t shape[] = {found->elements(bucket)};
    *buffer = base::make_buffer(found->data(bucket), found->dtype(bucket), shape);
  });
}

syncyte_status_t syncyte_reducer_start(syncyte_reducer_t reducer, int32_t bucket) {
  return started("reducer_start", [&] {
    const auto found = find_reducer(reducer);
    found->start(bucket);
    capi::trace_bytes(static_cast<std::size_t>(found->elements(bucket)) * base::dtype_size(found->dtype(bucket)),
                      found->dtype(bucket));
  });
}

syncyte_status_t syncyte_reducer_progress(syncyte_reducer_t reducer) {
  return started("reducer_progress", [&] { find_reducer(reducer)->progress(); });
}

syncyte_status_t syncyte_reducer_wait(syncyte_reducer_t reducer) {
  return started("reducer_wait", [&] { find_reducer(reducer)->wait(); });
}

syncyte_status_t syncyte_reducer_give_up(syncyte_reducer_t reducer) {
  return started("reducer_give_up", [&] { find_reducer(reducer)->give_up(); });
}
}
