// SPDX-License-Identifier: BSD-3-Clause
#include "base/ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace syncyte::base {
namespace {

constexpr std::size_t most_items = 8;   // longest list that is shown whole
constexpr std::size_t first_items = 6;  // shown of a longer list

/// Consecutive ranks as one item, "2-5"; two of them stay two.
std::vector<std::string> ranges_of(std::span<const int> ranks) {
  std::vector<std::string> items;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t end = first + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - first == 2) --end;
    items.push_back(end - first == 1 ? fmt::to_string(ranks[first])
                                     : fmt::format("{}-{}", ranks[first], ranks[end - 1]));
    first = end;
  }
  return items;
}

}  // namespace

std::string listed(const std::vector<std::string>& items) {
  if (items.size() <= most_items) return fmt::format("{}", fmt::join(items, ", "));
  return fmt::format("{}, ..., {}", fmt::join(items.begin(), items.begin() + first_items, ", "), items.back());
}

std::string rank_numbers(std::span<const int> ranks) {
  const std::vector<std::string> items = ranges_of(ranks);
  const std::string text = listed(items);
  return items.size() <= most_items ? text : fmt::format("{} ({} ranks)", text, ranks.size());
}

std::string ranks_text(std::span<const int> ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", rank_numbers(ranks));
}

}  // namespace syncyte::base
