// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/reducer.h"

#include <memory>
#include <utility>

#include "base/buffer.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"
#include "reducer/bucket_reducer.hpp"

namespace syncyte::capi {
namespace {

std::shared_ptr<reducer::bucket_reducer> find_reducer(syncyte_reducer_t reducer) {
  return find_traced(tables::reducer(), reducer, "reducer");
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_reducer_create(syncyte_comm_t comm, int32_t buckets, const syncyte_dtype_t* dtypes,
                                        const int64_t* elements, const syncyte_reducer_options_t* options,
                                        syncyte_reducer_t* reducer) {
  return after_init("reducer_create", [&] {
    reducer::description asked;
    asked.error = error_of([&] {
      out(reducer, "reducer");
      base::expect(buckets > 0, SYNCYTE_ERR_ARGUMENT, "buckets", buckets, "1 or more");
      base::expect(dtypes != nullptr && elements != nullptr, SYNCYTE_ERR_ARGUMENT,
                   dtypes == nullptr ? "dtypes" : "elements", "null", "{} of them", buckets);
      asked.dtypes.assign(dtypes, dtypes + buckets);
      asked.elements.assign(elements, elements + buckets);
      asked.scale = options_or(options, syncyte_reducer_options_t SYNCYTE_REDUCER_OPTIONS_INIT).scale;
    });
    *reducer = tables::reducer().insert(reducer::bucket_reducer::create(find_comm(comm), std::move(asked)));
  });
}

syncyte_status_t syncyte_reducer_bucket(syncyte_reducer_t reducer, int32_t bucket, syncyte_buffer_t* buffer) {
  return lookup_after_init<callers::ranks>("reducer_bucket", [&] {
    const auto found = find_reducer(reducer);
    require_output(buffer, "buffer");
    found->require_bucket(bucket);
    const std::int64_t shape[] = {found->elements(bucket)};
    base::fill_struct(buffer, "buffer", base::make_buffer(found->data(bucket), found->dtype(bucket), shape));
  });
}

syncyte_status_t syncyte_reducer_start(syncyte_reducer_t reducer, int32_t bucket) {
  return after_init("reducer_start", [&] {
    const auto found = find_reducer(reducer);
    found->start(bucket);
    trace_bytes(static_cast<std::size_t>(found->elements(bucket)) * base::dtype_size(found->dtype(bucket)),
                found->dtype(bucket));
  });
}
}
