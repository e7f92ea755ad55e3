// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

namespace syncyte::base {

// Texts for messages whose length does not grow with the number of ranks.

/// The items, separated by commas; of many the first ones and the last one: "a, b, c, d, e, f, ..., z".
std::string listed(const std::vector<std::string>& items);

/// Ranks in the given order, consecutive ones as ranges: "0, 2-5, 9"; of many ranges the first ones and the last one,
/// and the number of ranks: "0, 2, 4, 6, 8, 10, ..., 22 (12 ranks)".
std::string rank_numbers(std::span<const int> ranks);

/// rank_numbers() after "rank" or "ranks".
std::string ranks_text(std::span<const int> ranks);

}  // namespace syncyte::base
