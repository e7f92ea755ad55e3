// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_rows.hpp"

#include "tensor/device_request.hpp"

namespace syncyte::tensor {
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
  held.require_atomics();
  rows::add_device_rows(held.device(), held.table(), request.index, request.packed.data(), shape.dtype(), held.report(),
                        memory::thread_stream());
  held.queued();
}

}  // namespace syncyte::tensor
