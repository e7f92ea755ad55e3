// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer.hpp"
#include "kv/store.hpp"

namespace syncyte::kv {

/// A contiguous array in host memory. Throws the errors of base::buffer's checks.
base::buffer checked(const syncyte_buffer_t* raw, const char* argument, syncyte_dtype_t dtype);

/// Throws SYNCYTE_ERR_ARGUMENT, naming `first`, if two arrays of which one is written share memory.
void require_apart(const store& of, const base::buffer& first, const base::buffer& second);

std::span<std::int64_t> keys_of(const base::buffer& keys);

/// Checks keys that have no values.
std::span<const std::int64_t> checked_keys(store& of, const syncyte_buffer_t* raw);

/// Keys and their values, after all checks. An operation that reads the store writes the values.
struct request {
  request(store& of, const syncyte_buffer_t* raw_keys, const syncyte_buffer_t* raw_values, bool reads);

  std::span<const std::int64_t> keys;
  float* values;
  std::size_t count;  // of values
};

/// The arrays of a pull of distinct keys, after all checks. All but the keys are written.
struct unique_request {
  unique_request(store& of, const syncyte_buffer_t* raw_keys, const syncyte_buffer_t* raw_distinct,
                 const syncyte_buffer_t* raw_inverse, const syncyte_buffer_t* raw_values);

  request asked;
  std::span<std::int64_t> distinct, inverse;  // as many elements as keys
};

}  // namespace syncyte::kv
