// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file reducer.hpp
/// Sums of buckets of memory over ranks, in C++; syncyte/reducer.h explains them.

#include "syncyte/comm.hpp"
#include "syncyte/generated/methods.hpp"

namespace syncyte {

/// Type and size of a bucket.
struct reducer_bucket {
  dtype type;             ///< floating-point or complex
  std::int64_t elements;  ///< 0 or more
};

/// Buckets of memory that all ranks sum in place, round by round: each rank fills its buckets, starts them in any
/// order, and waits. Move-only. The memory of the buckets is valid as long as the reducer.
class reducer : public detail::reducer_methods {
 public:
  reducer() = default;
  explicit reducer(syncyte_reducer_t raw) noexcept : detail::reducer_methods(raw) {}

  /// Makes a reducer with zeroed buckets; sums are multiplied by `scale`. Collective.
  reducer(const communicator& comm, std::span<const reducer_bucket> buckets, double scale = 1) {
    std::vector<syncyte_dtype_t> dtypes;
    std::vector<std::int64_t> elements;
    for (const reducer_bucket& each : buckets) {
      dtypes.push_back(detail::raw(each.type));
      elements.push_back(each.elements);
    }
    const syncyte_reducer_options_t options{sizeof(options), scale};
    *this = reducer(detail::fetch<syncyte_reducer_t>(syncyte_reducer_create, comm.get(),
                                                     static_cast<std::int32_t>(buckets.size()), dtypes.data(),
                                                     elements.data(), &options));
  }

  /// Another reference to the same reducer.
  reducer retain() const { return reducer(retained_handle()); }

  /// This rank's memory of a bucket; do not use it from start() until wait() has returned. T is the bucket's type.
  template <element T>
  std::span<T> bucket(std::int32_t bucket) const {
    const auto raw = detail::fetch<syncyte_buffer_t>(syncyte_reducer_bucket, get(), bucket);
    if (static_cast<dtype>(raw.dtype) != dtype_of<T>)
      throw error(status::type, "reducer_bucket: bucket " + std::to_string(bucket) + " is " +
                                    std::string(name_of(static_cast<dtype>(raw.dtype))) + ", not " +
                                    std::string(name_of(dtype_of<T>)));
    return {static_cast<T*>(raw.data), static_cast<std::size_t>(raw.shape[0])};
  }
};

}  // namespace syncyte
