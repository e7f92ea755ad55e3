#pragma once

#include <ATen/core/Tensor.h>

#include "syncyte.h"

namespace syncyte::torch_binding {

/// The C interface's description of a tensor: its memory, without a copy. The tensor must outlive the buffer.
syncyte_buffer_t buffer_of(const at::Tensor& tensor);

/// An uninitialized CPU tensor whose memory comes from Syncyte's pool of recycled buffers and goes back to it. Unlike
/// from_blob it can be resized. An operation on a device's tensors gets other memory (operation_memory.hpp).
at::Tensor empty_from_pool(at::IntArrayRef sizes, at::ScalarType dtype);

/// A contiguous copy in such memory, for an operation to keep or to write. A tensor from a device is a copy already.
at::Tensor copy_to_pool(const at::Tensor& source);

/// Throws what Python shows as the matching exception (IndexError, TypeError, ValueError, NotImplementedError,
/// otherwise RuntimeError), with Syncyte's message, unless status is success.
void check(syncyte_status_t status);

}  // namespace syncyte::torch_binding
