// SPDX-License-Identifier: BSD-3-Clause
#include "base/buffer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/struct_size.hpp"

namespace syncyte::base {
namespace {

/// Formats extents as "2, 3". Checks call it only once they have failed: formatting would dominate the cost of a small
/// message.
auto listed(std::span<const std::int64_t> extents) { return fmt::join(extents, ", "); }

std::string layout_text(const syncyte_buffer_t& raw) {
  const auto dimensions = static_cast<std::size_t>(raw.ndim);
  return fmt::format("shape [{}] with strides [{}] (bytes)", listed({raw.shape, dimensions}),
                     listed({raw.strides, dimensions}));
}

/// Throws SYNCYTE_ERR_SHAPE unless the distance between any two elements of an array that is not empty, and a step
/// beyond each dimension, fit 64 bits. Code that follows the strides then needs no overflow checks.
void require_span(const syncyte_buffer_t& raw, std::size_t element_bytes, const char* argument) {
  std::int64_t below = 0;
  auto above = static_cast<std::int64_t>(element_bytes);
  bool overflow = false;
  for (int d = 0; d < raw.ndim; ++d) {
    if (raw.shape[d] == 1) continue;
    std::int64_t reach = 0;
    overflow |= __builtin_mul_overflow(raw.shape[d], raw.strides[d], &reach);
    std::int64_t& end = reach < 0 ? below : above;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  std::int64_t span = 0;
  overflow |= __builtin_sub_overflow(above, below, &span);
  if (overflow) [[unlikely]]
    refuse(SYNCYTE_ERR_SHAPE, {.object = argument,
                               .argument = "layout",
                               .ndim = raw.ndim,
                               .value = layout_text(raw),
                               .expected = "a span of at most 2^63 - 1 bytes"});
}

std::string memory_text(const syncyte_buffer_t& raw) {
  return raw.memory == SYNCYTE_MEMORY_HOST ? "the host's" : fmt::format("that of CUDA device {}", raw.device);
}

}  // namespace

std::int64_t checked_elements(std::span<const std::int64_t> shape, std::size_t element_bytes, const char* argument) {
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 0)
      refuse(SYNCYTE_ERR_SHAPE,
             {.argument = argument,
              .axis = static_cast<std::int64_t>(i),
              .ndim = static_cast<int>(shape.size()),
              .value = fmt::to_string(shape[i]),
              .expected = "0 or more"},
             fmt::format("{}: extent {} of dimension {} is negative", argument, shape[i], i));
  std::int64_t elements = 1;
  std::int64_t bytes = 0;
  bool overflow = false;
  for (const auto extent : shape) overflow |= __builtin_mul_overflow(elements, extent, &elements);
  overflow |= __builtin_mul_overflow(elements, static_cast<std::int64_t>(element_bytes), &bytes);
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (is_empty) return 0;
  if (overflow)
    refuse(SYNCYTE_ERR_SHAPE,
           {.argument = argument,
            .ndim = static_cast<int>(shape.size()),
            .value = fmt::format("[{}], more than 2^63 - 1 bytes", listed(shape)),
            .expected = "fewer"},
           fmt::format("{}: shape [{}] has more than 2^63 - 1 bytes", argument, listed(shape)));
  return elements;
}

namespace {

/// expect() for a member of a caller's struct: the error's object is the struct.
template <class Value, class... Arguments>
void expect_member(bool condition, syncyte_status_t status, const char* object, const char* member, const Value& value,
                   fmt::format_string<Arguments...> expected, Arguments&&... arguments) {
  if (!condition) [[unlikely]]
    refuse(status, {.object = object,
                    .argument = member,
                    .value = fmt::format("{}", value),
                    .expected = fmt::format(expected, std::forward<Arguments>(arguments)...)});
}

}  // namespace

buffer::buffer(const syncyte_buffer_t* raw, const char* argument) : raw_{}, argument_(argument) {
  expect(raw != nullptr, SYNCYTE_ERR_ARGUMENT, argument, "null", "a syncyte_buffer_t");
  raw_ = read_struct(raw, argument, raw_);
  element_bytes_ = dtype_size(raw_.dtype, argument);
  expect_member(raw_.ndim >= 0 && raw_.ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_SHAPE, argument, "ndim", raw_.ndim,
                "0 to {}", SYNCYTE_MAX_NDIM);
  elements_ = checked_elements(shape(), element_bytes_, argument);
  expect_member(known::memory::contains(raw_.memory), SYNCYTE_ERR_ARGUMENT, argument, "memory", raw_.memory, "{}",
                known::memory::text);
  expect_member(raw_.read_only == 0 || raw_.read_only == 1, SYNCYTE_ERR_ARGUMENT, argument, "read_only", raw_.read_only,
                "0 or 1");
  expect_member(raw_.data != nullptr || elements_ == 0, SYNCYTE_ERR_ARGUMENT, argument, "data", "null",
                "memory of {} elements", elements_);
  if (elements_ > 0) require_span(raw_, element_bytes_, argument);
}

bool buffer::is_contiguous() const {
  if (elements_ == 0) return true;
  auto expected = static_cast<std::int64_t>(element_bytes_);
  for (int dimension = raw_.ndim - 1; dimension >= 0; --dimension) {
    if (raw_.shape[dimension] != 1 && raw_.strides[dimension] != expected) return false;
    expected *= raw_.shape[dimension];
  }
  return true;
}

const buffer& buffer::require_host() const {
  if (raw_.memory != SYNCYTE_MEMORY_HOST) [[unlikely]]
    refuse(SYNCYTE_ERR_UNSUPPORTED,
           {.object = argument_,
            .argument = "memory",
            .value = memory_text(raw_),
            .expected = "the host's: device memory is not supported here; copy it to host memory first"});
  return *this;
}

const buffer& buffer::require_on(int device) const {
  if (raw_.memory != SYNCYTE_MEMORY_CUDA) [[unlikely]]
    refuse(SYNCYTE_ERR_ARGUMENT,
           {.object = argument_,
            .argument = "memory",
            .value = memory_text(raw_),
            .expected = fmt::format("that of CUDA device {}, as the tensor's or table's", device)});
  expect_member(raw_.device == device, SYNCYTE_ERR_ARGUMENT, argument_, "device", raw_.device,
                "{}, that of the tensor or table", device);
  return *this;
}

const buffer& buffer::require_contiguous() const {
  if (is_contiguous()) return *this;
  const std::string layout = layout_text(raw_);
  refuse(
      SYNCYTE_ERR_SHAPE,
      {.object = argument_, .argument = "layout", .ndim = raw_.ndim, .value = layout, .expected = "a contiguous array"},
      fmt::format("{}: {} is not contiguous; expected a dense row-major array", argument_, layout));
}

const buffer& buffer::require_writable() const {
  expect_member(raw_.read_only == 0, SYNCYTE_ERR_ARGUMENT, argument_, "read_only", raw_.read_only,
                "0: the memory would be written");
  for (int d = 0; d < ndim(); ++d)
    if (stride(d) == 0 && extent(d) > 1 && elements_ != 0) [[unlikely]]
      refuse(SYNCYTE_ERR_SHAPE, {.object = argument_,
                                 .argument = "strides",
                                 .axis = d,
                                 .ndim = raw_.ndim,
                                 .value = "0",
                                 .expected = "separate elements, because they would be written"});
  return *this;
}

const buffer& buffer::require_aligned() const {
  const std::size_t unit = is_complex(raw_.dtype) ? element_bytes_ / 2 : element_bytes_;
  const auto address = reinterpret_cast<std::uintptr_t>(raw_.data);
  expect_member((address & (unit - 1)) == 0 || elements_ == 0, SYNCYTE_ERR_SHAPE, argument_, "data", raw_.data,
                "a multiple of {} for elements of {}: copy it", unit, dtype_name(raw_.dtype));
  return *this;
}

const buffer& buffer::require_dtype(syncyte_dtype_t wanted) const {
  if (raw_.dtype != wanted)
    refuse(SYNCYTE_ERR_TYPE,
           {.object = argument_, .argument = "dtype", .value = dtype_name(raw_.dtype), .expected = dtype_name(wanted)});
  return *this;
}

const buffer& buffer::require_elements(std::int64_t wanted, const char* why) const {
  if (elements_ != wanted)
    refuse(SYNCYTE_ERR_SHAPE,
           {.object = argument_,
            .argument = "shape",
            .ndim = raw_.ndim,
            .value = fmt::format("[{}] of {} elements", listed(shape()), elements_),
            .expected = fmt::format("{}{}", wanted, why)},
           fmt::format("{}: shape [{}] has {} elements; expected {}{}", argument_, listed(shape()), elements_, wanted,
                       why));
  return *this;
}

syncyte_buffer_t make_buffer(void* data, syncyte_dtype_t dtype, std::span<const std::int64_t> shape) {
  syncyte_buffer_t result{};
  result.struct_size = sizeof result;
  result.data = data;
  result.dtype = dtype;
  result.ndim = static_cast<std::int32_t>(shape.size());
  auto stride = static_cast<std::int64_t>(dtype_size(dtype));
  for (std::size_t i = shape.size(); i-- > 0;) {
    result.shape[i] = shape[i];
    result.strides[i] = stride;
    // Unsigned, so that overflow is defined: it happens only if another extent is 0, or if checked_elements() throws.
    stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                       static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1)));
  }
  return result;
}

std::string shape_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace syncyte::base
