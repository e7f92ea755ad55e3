// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "base/buffer.hpp"
#include "base/overlap.hpp"

namespace syncyte::rows {

/// A caller's list of row numbers: int32 or int64, contiguous, aligned, in host memory.
class row_index {
 public:
  /// Checks type and layout; throws SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE or SYNCYTE_ERR_UNSUPPORTED.
  explicit row_index(const base::buffer& index);
  explicit row_index(std::span<const std::int32_t> index) : data_(index.data()), count_(size(index)), is_wide_(false) {}
  explicit row_index(std::span<const std::int64_t> index) : data_(index.data()), count_(size(index)), is_wide_(true) {}

  std::int64_t count() const { return count_; }

  /// Calls visitor with a span of int32 or int64.
  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    const auto length = static_cast<std::size_t>(count_);
    if (is_wide_) return visitor(std::span(static_cast<const std::int64_t*>(data_), length));
    return visitor(std::span(static_cast<const std::int32_t*>(data_), length));
  }

  std::int64_t operator[](std::int64_t position) const {
    return visit([&](auto rows) { return static_cast<std::int64_t>(rows[static_cast<std::size_t>(position)]); });
  }

  base::byte_range memory() const {
    return base::range_of(data_,
                          static_cast<std::size_t>(count_) * (is_wide_ ? sizeof(std::int64_t) : sizeof(std::int32_t)));
  }

  /// Throws SYNCYTE_ERR_INDEX, naming the first index outside [0, extent) and its position. For an index that is not a
  /// row, such as a key, the message names argument[position].
  void require_inside(std::int64_t extent, const char* argument = nullptr) const;

 private:
  template <class T>
  static std::int64_t size(std::span<T> index) {
    return static_cast<std::int64_t>(index.size());
  }

  const void* data_;
  std::int64_t count_;
  bool is_wide_;
};

}  // namespace syncyte::rows
