#include "kv/key_layout.hpp"

namespace syncyte::kv {

key_layout::key_layout(std::int64_t keys, std::int64_t length)
    : keys_(keys), length_(length), pairs_(length / 2 + length % 2) {}

key_layout::key_layout(std::span<const std::int64_t> places)
    : keys_(static_cast<std::int64_t>(places.size()) - 1), places_(places) {}

std::vector<std::int64_t> key_layout::places(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> result;
  result.reserve(lengths.size() + 1);
  std::int64_t pairs = 0;
  for (const std::int64_t length : lengths) {
    result.push_back(2 * pairs + length % 2);
    pairs += length / 2 + length % 2;
  }
  result.push_back(2 * pairs);
  return result;
}

}  // namespace syncyte::kv
