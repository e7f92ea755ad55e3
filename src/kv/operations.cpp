// SPDX-License-Identifier: BSD-3-Clause
#include "kv/operations.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace syncyte::kv {
namespace {

template <class Run, class Attempt>
constexpr operation make(std::uint16_t number, const char* name, bool reads, Run run, Attempt attempt) {
  return {number, name, reads, run, run, attempt};
}

}  // namespace

constexpr operation pull = make(
    1, "store_worker_pull", true, [](table& at, auto keys, float* values) { at.pull(keys, values); },
    [](table& at, auto keys, const std::byte*, std::byte* result) { return at.try_pull(keys, result); });

constexpr operation push = make(
    2, "store_worker_push", false, [](table& at, auto keys, float* values) { at.push(keys, values); },
    [](table& at, auto keys, const std::byte* given, std::byte*) { return at.try_push(keys, given); });

constexpr operation set = make(
    3, "store_worker_set", false, [](table& at, auto keys, float* values) { at.set(keys, values); },
    [](table& at, auto keys, const std::byte* given, std::byte*) { return at.try_set(keys, given); });

const operation& find_operation(std::uint16_t number) {
  static constexpr std::array all{&pull, &push, &set};
  static_assert(all.size() == most_operations);
  const auto found = std::ranges::find(all, number, &operation::number);
  base::require(found != all.end(), SYNCYTE_ERR_INTERNAL, "unknown operation {} of a table", number);
  return **found;
}

}  // namespace syncyte::kv
