// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_rows.hpp"

#include "base/overlap.hpp"
#include "tensor/device_storage.hpp"

namespace syncyte::tensor {
namespace {

/// A checked list of rows with the packed memory that belongs to it, on the tensor's device.
struct device_request {
  device_storage& held;
  rows::device_index index;
  base::buffer packed;

  device_request(const whole_tensor& of, const syncyte_buffer_t* rows_wanted, const syncyte_buffer_t* values,
                 const char* packed_name, bool is_written)
      : held(*of.held()->on_device()),
        index(base::buffer(rows_wanted, "index"), held.device()),
        packed(values, packed_name) {
    const layout& shape = of.layout();
    if (is_written) packed.require_writable();
    packed.require_dtype(shape.dtype()).require_on(held.device()).require_contiguous().require_aligned();
    std::int64_t elements = 0;
    base::expect(!__builtin_mul_overflow(index.count(), shape.slice_elements(), &elements), SYNCYTE_ERR_SHAPE,
                 "number of indices", index.count(), "at most 2^63 - 1 elements, in rows of {}",
                 shape.slice_elements());
    packed.require_elements(elements);
    require_apart(of, is_written);
    held.check_indices();
  }

 private:
  /// The host does not know the rows: arrays must lie outside the tensor, unless they are only read.
  void require_apart(const whole_tensor& of, bool is_get) const {
    const base::byte_range rows = of.held()->memory(), list = index.memory(), values = base::range_of(packed);
    const auto refuse = [](const char* argument, const char* where) {
      base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = argument, .value = where, .expected = base::separate_memory});
    };
    if (packed.elements() == 0) return;
    if (values.meets(rows)) refuse(packed.argument(), "in the tensor's memory");
    if (is_get && list.meets(values)) refuse("index", "in the memory of output");
    if (!is_get && list.meets(rows)) refuse("index", "in the tensor's memory");
  }
};

}  // namespace

void gather_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* output) {
  const device_request request(of, index, output, "output", true);
  device_storage& held = request.held;
  rows::gather_rows(held.device(), held.table(), request.index, request.packed.data(), held.report(),
                    memory::thread_stream());
  held.queued();
}

void scatter_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  const device_request request(of, index, source, "source", false);
  device_storage& held = request.held;
  rows::scatter_rows(held.device(), held.table(), request.index, request.packed.data(), held.report(),
                     memory::thread_stream());
  held.queued();
}

void scatter_add_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  const device_request request(of, index, source, "source", false);
  device_storage& held = request.held;
  const layout& shape = of.layout();
  base::expect(rows::can_add_on_devices(shape.dtype()), SYNCYTE_ERR_UNSUPPORTED, "element type of the tensor",
               base::dtype_name(shape.dtype()),
               "int32, int64, float16, bfloat16, float32, float64, or a complex type, to which devices add");
  base::require(held.has_atomics(), SYNCYTE_ERR_UNSUPPORTED,
                "{} lies on devices that cannot add to each other's memory atomically, or of which no rank sees both "
                "(CUDA_VISIBLE_DEVICES), so that it cannot ask the driver",
                shape.text());
  rows::add_device_rows(held.device(), held.table(), request.index, request.packed.data(), shape.dtype(), held.report(),
                        memory::thread_stream());
  held.queued();
}

}  // namespace syncyte::tensor
