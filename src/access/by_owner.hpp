// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace syncyte::access {

/// A counter for each rank, for a counting sort by owner. All are 0 between sorts, so that a sort touches its owners'
/// counters only.
std::vector<std::size_t>& counters_of_owners(int ranks);

/// A list of elements, sorted by owner; each owner's elements keep their order. Making it takes time for the elements
/// and their owners, not for all ranks.
template <class Element>
class by_owner {
 public:
  struct part {
    int owner;
    std::span<const Element> elements;
  };

  /// `owners`: the rank of each element. element(i) makes the element at place i; it is called in order of the
  /// places, must not throw and must not sort by owner itself.
  template <class MakeElement>
  by_owner(int ranks, std::span<const std::int32_t> owners, MakeElement&& element);
  by_owner(by_owner&&) noexcept = default;

  /// The owners that have elements of the list, ascending.
  std::span<const part> parts() const { return parts_; }

 private:
  std::vector<Element> elements_;
  std::vector<part> parts_;  // of elements_
};

/// While elements are distributed, an owner's counter is the place of its next element. Memory is allocated first: an
/// exception must not leave counters that are not 0.
template <class Element>
template <class MakeElement>
by_owner<Element>::by_owner(int ranks, std::span<const std::int32_t> owners, MakeElement&& element)
    : elements_(owners.size()) {
  std::vector<std::size_t>& counters = counters_of_owners(ranks);
  const auto counter = [&](int owner) -> std::size_t& { return counters[static_cast<std::size_t>(owner)]; };
  parts_.reserve(std::min(owners.size(), static_cast<std::size_t>(ranks)));
  for (const std::int32_t owner : owners)
    if (counter(owner)++ == 0) parts_.push_back({owner, {}});
  std::ranges::sort(parts_, {}, &part::owner);
  std::size_t begin = 0;
  for (part& each : parts_) {
    std::size_t& count = counter(each.owner);
    each.elements = std::span(elements_).subspan(begin, count);
    begin += count;
    count = begin - count;
  }
  for (std::size_t i = 0; i < owners.size(); ++i) elements_[counter(owners[i])++] = element(i);
  for (const part& each : parts_) counter(each.owner) = 0;
}

}  // namespace syncyte::access
