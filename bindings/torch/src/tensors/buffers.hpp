// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "syncyte/base.hpp"

namespace syncyte::torch_binding {

/// A tensor's memory, which is only read, without a copy. The tensor must outlive the buffer.
const_buffer const_buffer_of(const at::Tensor& tensor);

/// const_buffer_of() for memory that is written.
buffer buffer_of(const at::Tensor& tensor);

/// A tensor as it is moved, in the same memory: of bytes where Syncyte lacks its type of one byte, such as
/// float8. An undefined tensor is returned as it is.
at::Tensor movable(const at::Tensor& tensor);

/// Torch's name of an element type.
at::ScalarType scalar_type_of(syncyte_dtype_t dtype);

/// An uninitialized CPU tensor whose memory comes from Syncyte's pool of recycled buffers and goes back to it. Unlike
/// from_blob it can be resized. An operation on a device's tensors gets other memory (operation_memory.hpp).
at::Tensor empty_from_pool(at::IntArrayRef sizes, at::ScalarType dtype);

/// A contiguous copy in such memory, for an operation to keep or to write. A tensor from a device is a copy already.
at::Tensor copy_to_pool(const at::Tensor& source);

/// Throws what Python shows as the matching exception: IndexError, TypeError, ValueError, NotImplementedError,
/// otherwise RuntimeError.
[[noreturn]] void throw_error(syncyte_status_t status, const std::string& message);

/// Throws the thread's last error so, unless status is success.
void check(syncyte_status_t status);

/// A call of the C++ interface: its result, or its error as check() throws it. Inlined, because small operations take
/// microseconds.
template <class Call>
[[gnu::always_inline]] inline auto checked(Call call) {
  try {
    return call();
  } catch (const error& caught) {
    throw_error(detail::raw(caught.code()), caught.what());
  }
}

}  // namespace syncyte::torch_binding
