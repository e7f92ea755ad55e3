// SPDX-License-Identifier: BSD-3-Clause
#include "kv/worker_arguments.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "base/overlap.hpp"

namespace syncyte::kv {

base::buffer checked(const syncyte_buffer_t* raw, const char* argument, syncyte_dtype_t dtype) {
  return base::buffer(raw, argument).require_host().require_dtype(dtype).require_contiguous().require_aligned();
}

void require_apart(const store& of, const base::buffer& first, const base::buffer& second) {
  if (base::range_of(first).meets(base::range_of(second)))
    base::refuse(SYNCYTE_ERR_ARGUMENT, {.object = of.text(),
                                        .argument = first.argument(),
                                        .value = fmt::format("in the memory of {}", second.argument()),
                                        .expected = base::separate_memory});
}

std::span<std::int64_t> keys_of(const base::buffer& keys) {
  return {reinterpret_cast<std::int64_t*>(keys.data()), static_cast<std::size_t>(keys.elements())};
}

std::span<const std::int64_t> checked_keys(store& of, const syncyte_buffer_t* raw) {
  const auto keys = keys_of(checked(raw, "keys", SYNCYTE_INT64));
  of.check(keys);
  return keys;
}

request::request(store& of, const syncyte_buffer_t* raw_keys, const syncyte_buffer_t* raw_values, bool reads) {
  const base::buffer named = checked(raw_keys, "keys", SYNCYTE_INT64);
  const base::buffer given = checked(raw_values, "values", SYNCYTE_FLOAT32);
  keys = keys_of(named);
  if (reads) require_apart(of, named, given.require_writable());
  const std::int64_t expected = of.check(keys);
  if (given.elements() != expected)
    base::refuse(SYNCYTE_ERR_SHAPE, {.object = of.text(),
                                     .argument = "values",
                                     .value = fmt::format("of {} elements", given.elements()),
                                     .expected = fmt::format("{}, the sum of the keys' lengths", expected)});
  values = reinterpret_cast<float*>(given.data());
  count = static_cast<std::size_t>(expected);
}

unique_request::unique_request(store& of, const syncyte_buffer_t* raw_keys, const syncyte_buffer_t* raw_distinct,
                               const syncyte_buffer_t* raw_inverse, const syncyte_buffer_t* raw_values)
    : asked(of, raw_keys, raw_values, true) {
  const std::array all{checked(raw_keys, "keys", SYNCYTE_INT64), checked(raw_distinct, "distinct", SYNCYTE_INT64),
                       checked(raw_inverse, "inverse", SYNCYTE_INT64), checked(raw_values, "values", SYNCYTE_FLOAT32)};
  for (const base::buffer& each : {all[1], all[2]})
    each.require_writable().require_elements(std::ssize(asked.keys), "one for each key");
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = i + 1; k < all.size(); ++k) require_apart(of, all[i], all[k]);
  distinct = keys_of(all[1]);
  inverse = keys_of(all[2]);
}

}  // namespace syncyte::kv
