// SPDX-License-Identifier: BSD-3-Clause
#include "kv/operations.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace syncyte::kv {
constexpr operation pull{
    1,
    "store_worker_pull",
    true,
    false,
    [](table& at, auto keys, float* values) { at.pull(keys, values); },
    [](table& at, auto keys, float* values, absent_keys& absent, auto&) { at.pull(keys, values, absent); },
    [](held_keys& at, auto keys, auto newest, float* values, absent_keys& absent) {
      at.pull(keys, newest, values, absent);
    },
    [](table& at, auto keys, const std::byte*, std::byte* result, absent_keys& absent) {
      return at.try_pull(keys, result, absent);
    },
    [](table& at, std::int64_t slot, std::byte* values) { return at.try_pull_shared(slot, values); },
    [](held_keys& at, std::int64_t slot, const std::byte*, std::byte* result) { return at.try_pull(slot, result); }};

constexpr operation push{
    2,
    "store_worker_push",
    false,
    false,
    [](table& at, auto keys, float* values) { at.push(keys, values); },
    [](table& at, auto keys, float* values, absent_keys& absent, auto& shared) {
      at.push(keys, values, absent, shared);
    },
    [](held_keys& at, auto keys, auto newest, float* values, absent_keys& absent) {
      at.push(keys, newest, values, absent);
    },
    [](table& at, auto keys, const std::byte* given, std::byte*, absent_keys& absent) {
      return at.try_push(keys, given, absent);
    },
    [](table& at, std::int64_t slot, std::byte* values) { return at.try_push_shared(slot, values); },
    [](held_keys& at, std::int64_t slot, const std::byte* given, std::byte*) { return at.try_push(slot, given); },
    [](std::span<float> values, const float* given) {
      for (float& each : values) each += *given++;
    }};

constexpr operation set{
    3,
    "store_worker_set",
    false,
    true,
    [](table& at, auto keys, float* values) { at.set(keys, values); },
    [](table& at, auto keys, float* values, absent_keys& absent, auto&) { at.set(keys, values, absent); },
    [](held_keys& at, auto keys, auto newest, float* values, absent_keys& absent) {
      at.set(keys, newest, values, absent);
    },
    [](table& at, auto keys, const std::byte* given, std::byte*, absent_keys& absent) {
      return at.try_set(keys, given, absent);
    },
    nullptr,
    [](held_keys& at, std::int64_t slot, const std::byte* given, std::byte*) { return at.try_set(slot, given); },
    [](std::span<float> values, const float* given) { std::copy_n(given, values.size(), values.begin()); }};

const operation& find_operation(std::uint16_t number) {
  static constexpr std::array all{&pull, &push, &set};
  static_assert(all.size() == most_operations);
  const auto found = std::ranges::find(all, number, &operation::number);
  base::require(found != all.end(), SYNCYTE_ERR_INTERNAL, "unknown operation {} of a table", number);
  return **found;
}

}  // namespace syncyte::kv
