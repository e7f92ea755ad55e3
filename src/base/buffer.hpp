// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/dtype.hpp"

namespace syncyte::base {

/// Product of extents; throws SYNCYTE_ERR_SHAPE if one is negative or the product times `element_bytes` passes 2^63
/// - 1.
std::int64_t checked_elements(std::span<const std::int64_t> shape, std::size_t element_bytes, const char* argument);

/// A caller's buffer after its checks: its dtype and memory kind are known, its extents do not overflow, data is not
/// null if there are elements, and the span of its strides fits 64 bits. `argument` is the parameter's name in
/// messages.
class buffer {
 public:
  buffer(const syncyte_buffer_t* raw, const char* argument);

  syncyte_dtype_t dtype() const { return raw_.dtype; }
  syncyte_memory_t memory() const { return raw_.memory; }
  int device() const { return raw_.device; }
  int ndim() const { return raw_.ndim; }
  std::int64_t extent(int dimension) const { return raw_.shape[dimension]; }
  std::int64_t stride(int dimension) const { return raw_.strides[dimension]; }
  std::span<const std::int64_t> strides() const { return {raw_.strides, static_cast<std::size_t>(raw_.ndim)}; }
  std::span<const std::int64_t> shape() const { return {raw_.shape, static_cast<std::size_t>(raw_.ndim)}; }
  std::int64_t elements() const { return elements_; }
  std::size_t element_bytes() const { return element_bytes_; }
  std::size_t bytes() const { return static_cast<std::size_t>(elements_) * element_bytes_; }
  std::byte* data() const { return static_cast<std::byte*>(raw_.data); }
  bool is_contiguous() const;
  const char* argument() const { return argument_; }

  /// Checks. Each throws the error in its comment, or returns *this, so that checks can be chained.
  const buffer& require_host() const;  // SYNCYTE_ERR_UNSUPPORTED for other memory
  /// SYNCYTE_ERR_ARGUMENT unless the memory is that of a CUDA device.
  const buffer& require_on(int device) const;
  const buffer& require_contiguous() const;  // SYNCYTE_ERR_SHAPE
  /// SYNCYTE_ERR_ARGUMENT for constant memory, SYNCYTE_ERR_SHAPE for a stride of 0.
  const buffer& require_writable() const;
  const buffer& require_aligned() const;                      // SYNCYTE_ERR_SHAPE for misaligned elements
  const buffer& require_dtype(syncyte_dtype_t wanted) const;  // SYNCYTE_ERR_TYPE
  const buffer& require_elements(std::int64_t wanted, const char* why = "") const;  // SYNCYTE_ERR_SHAPE

 private:
  syncyte_buffer_t raw_;
  const char* argument_;
  std::size_t element_bytes_;
  std::int64_t elements_;
};

/// Describes a contiguous row-major array in host memory.
syncyte_buffer_t make_buffer(void* data, syncyte_dtype_t dtype, std::span<const std::int64_t> shape);

/// "[3, 4]"
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace syncyte::base
