// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Arrays of int32 with strides. Elements get values from their indices, and the memory beside them a fixed value, so
// that a test finds wrong elements and writes beside the array.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/buffer.hpp"

namespace syncyte::test {

using extents = std::vector<std::int64_t>;

enum class strides { dense, gaps, transposed };

class strided_array {
 public:
  static constexpr std::int32_t untouched = -77;

  strided_array(extents shape, strides how) : shape_(std::move(shape)), strides_(shape_.size()) {
    std::int64_t step = how == strides::gaps ? 2 : 1;
    const std::size_t n = shape_.size();
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t d = how == strides::transposed ? i : n - 1 - i;
      strides_[d] = step;
      step *= std::max<std::int64_t>(shape_[d], 1) + (how == strides::gaps ? 1 : 0);
    }
    memory_.assign(static_cast<std::size_t>(step) + 1, untouched);
  }

  syncyte_buffer_t buffer() {
    syncyte_buffer_t result = base::make_buffer(memory_.data(), SYNCYTE_INT32, shape_);
    for (std::size_t d = 0; d < shape_.size(); ++d) result.strides[d] = 4 * strides_[d];
    return result;
  }

  std::int32_t at(const extents& indices) const { return memory_[place_of(indices)]; }

  /// Calls visitor(element, indices) for all elements.
  template <class Visitor>
  void for_each(Visitor&& visitor) {
    for (const auto extent : shape_)
      if (extent == 0) return;
    extents at(shape_.size(), 0);
    while (true) {
      visitor(memory_[place_of(at)], at);
      std::size_t d = at.size();
      while (d > 0 && ++at[d - 1] == shape_[d - 1]) at[--d] = 0;
      if (d == 0) return;
    }
  }

  /// Sets each element to value(indices).
  template <class Value>
  strided_array& fill(Value&& value) {
    for_each([&](std::int32_t& element, const extents& at) { element = value(at); });
    return *this;
  }

  /// Checks that each element is value(indices), and that nothing beside the elements was written.
  template <class Value>
  void expect(Value&& value) {
    for_each([&](std::int32_t& element, const extents& at) {
      ASSERT_EQ(element, value(at));
      element = untouched;
    });
    for (const std::int32_t each : memory_) ASSERT_EQ(each, untouched) << "written beside the array";
  }

 private:
  std::size_t place_of(const extents& at) const {
    return static_cast<std::size_t>(std::inner_product(at.begin(), at.end(), strides_.begin(), std::int64_t{0}));
  }

  extents shape_;
  extents strides_;  // in elements
  std::vector<std::int32_t> memory_;
};

}  // namespace syncyte::test
