#include "comm/facts.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <numeric>

namespace syncyte::comm {

void add_counts(agreement& terms, std::span<const std::int64_t> counts, const char* sum_name, const char* hash_name) {
  terms.fact(sum_name, std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  terms.fact(hash_name, static_cast<std::int64_t>(XXH3_64bits(counts.data(), counts.size_bytes())));
}

indexed_names make_indexed_names(const char* word) {
  indexed_names names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("{}[{}]", word, i);
  return names;
}

}  // namespace syncyte::comm
