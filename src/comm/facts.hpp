#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include "comm/agreement.hpp"

namespace syncyte::comm {

/// Counts that must be equal on all ranks, as facts; the names must outlive the call.
void add_counts(agreement& terms, std::span<const std::int64_t> counts, const char* sum_name, const char* hash_name);

/// "word[0]", "word[1]" and so on: names of facts, for a static variable, since names must outlive the call.
using indexed_names = std::array<std::string, SYNCYTE_MAX_NDIM>;
indexed_names make_indexed_names(const char* word);

/// One fact for each value of `word`, a list with an entry per dimension.
template <class Values>
void add_facts(agreement& terms, const char* word, const indexed_names& names, const Values& values) {
  const auto count = static_cast<int>(std::size(values));
  for (int i = 0; i < count && i < SYNCYTE_MAX_NDIM; ++i) {
    const auto at = static_cast<std::size_t>(i);
    terms.fact(names[at].c_str(), static_cast<std::int64_t>(values[at]), {word, i, count});
  }
}

}  // namespace syncyte::comm
