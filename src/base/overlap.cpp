// SPDX-License-Identifier: BSD-3-Clause
#include "base/overlap.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/strided_copy.hpp"

namespace syncyte::base {
namespace {

/// Parts of an array that are contiguous; part i has the number i.
operand_parts parts_of(const buffer& array) {
  const paired_pieces pieces =
      find_paired_pieces(array.strides(), array.strides(), array.shape(), array.element_bytes());
  operand_parts result{{}, pieces.bytes};
  result.parts.reserve(pieces.offsets.size());
  for (const auto& [offset, same] : pieces.offsets)
    result.parts.push_back({array.data() + offset, std::ssize(result.parts)});
  return result;
}

/// Bytes of the contiguous parts of an array, and a number of bytes of which all distances between parts are multiples.
/// steps_of() makes it a divisor of the given `step`, too.
struct part_steps {
  std::int64_t bytes;
  std::int64_t step;
};

part_steps steps_of(const buffer& array, std::int64_t step) {
  auto bytes = static_cast<std::int64_t>(array.element_bytes());
  for (int d = array.ndim() - 1; d >= 0; --d) {
    if (array.extent(d) == 1) continue;
    if (array.stride(d) == bytes)
      bytes *= array.extent(d);
    else
      step = std::gcd(step, array.stride(d));
  }
  return {bytes, step};
}

/// Whether the strides alone tell that two arrays have no byte in common, for example two columns of a matrix.
bool are_interleaved(const buffer& first, const buffer& second) {
  const auto [first_bytes, first_step] = steps_of(first, 0);
  const auto [second_bytes, step] = steps_of(second, first_step);
  if (step == 0) return false;
  const std::int64_t distance = (second.data() - first.data()) % step;
  const std::int64_t offset = distance < 0 ? distance + step : distance;
  return offset >= first_bytes && offset + second_bytes <= step;
}

void sort(std::vector<operand_part>& parts) {
  const auto is_before = [](const operand_part& left, const operand_part& right) { return left.at < right.at; };
  if (!std::is_sorted(parts.begin(), parts.end(), is_before)) std::sort(parts.begin(), parts.end(), is_before);
}

/// find_overlap(); with `pairs`, parts that belong together may lie at the same address.
std::optional<overlap> find(operand_parts first, operand_parts second, bool pairs) {
  sort(first.parts);
  sort(second.parts);
  auto next = second.parts.begin();  // the first one that ends after the part of `first` begins
  for (const operand_part& one : first.parts) {
    while (next != second.parts.end() && next->at + second.bytes <= one.at) ++next;
    for (auto other = next; other != second.parts.end() && other->at < one.at + first.bytes; ++other)
      if (!pairs || other->number != one.number || other->at != one.at) return overlap{one.number, other->number};
  }
  return std::nullopt;
}

}  // namespace

byte_range range_of(const buffer& array) {
  if (array.elements() == 0) return {};
  std::int64_t below = 0;
  auto above = static_cast<std::int64_t>(array.element_bytes());
  for (int d = 0; d < array.ndim(); ++d) {
    const std::int64_t reach = (array.extent(d) - 1) * array.stride(d);
    (reach < 0 ? below : above) += reach;
  }
  return {array.data() + below, array.data() + above};
}

bool share_memory(const buffer& first, const buffer& second) {
  if (!range_of(first).meets(range_of(second))) return false;
  if (first.is_contiguous() && second.is_contiguous()) return true;
  return !are_interleaved(first, second) && find(parts_of(first), parts_of(second), false).has_value();
}

void require_apart(const buffer& read, const buffer& written) {
  if (share_memory(read, written)) [[unlikely]]
    refuse(SYNCYTE_ERR_ARGUMENT, {.argument = written.argument(),
                                  .value = fmt::format("memory that overlaps that of {}", read.argument()),
                                  .expected = separate_memory});
}

std::optional<overlap> find_overlap(operand_parts first, operand_parts second) {
  return find(std::move(first), std::move(second), true);
}

}  // namespace syncyte::base
