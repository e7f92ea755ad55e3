// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_rows.hpp"

#include "tensor/device_exchange.hpp"
#include "tensor/device_request.hpp"

namespace syncyte::tensor {
namespace {

/// Runs an operation: run_here(rows) queues the kernel for rows of this node, exchange(others) does the other rows. It
/// is complete on return if there are other nodes.
template <class RunHere, class Exchange>
void run(const whole_tensor& of, const device_request& request, RunHere&& run_here, Exchange&& exchange) {
  if (of.held()->remote() == nullptr) {
    run_here(request.index);
  } else {
    device_exchange others(of, request);
    run_here(others.here());
    exchange(others);
  }
  request.end();
}

}  // namespace

void gather_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* output) {
  const device_request request(of, index, output, "output", true);
  const device_storage& held = request.held;
  run(
      of, request,
      [&](const rows::device_index& rows) {
        rows::gather_rows(held.device(), held.table(), rows, request.packed.data(), request.report(),
                          memory::thread_stream());
      },
      [](device_exchange& others) { others.get("tensor_gather"); });
}

void scatter_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  const device_request request(of, index, source, "source", false);
  const device_storage& held = request.held;
  run(
      of, request,
      [&](const rows::device_index& rows) {
        rows::scatter_rows(held.device(), held.table(), rows, request.packed.data(), request.report(),
                           memory::thread_stream());
      },
      [](device_exchange& others) { others.send("tensor_scatter", window::row_access::put); });
}

void scatter_add_on_device(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source) {
  const device_request request(of, index, source, "source", false);
  const device_storage& held = request.held;
  const layout& shape = of.layout();
  base::expect(rows::can_add_on_devices(shape.dtype()), SYNCYTE_ERR_UNSUPPORTED, "element type of the tensor",
               base::dtype_name(shape.dtype()),
               "int32, int64, float16, bfloat16, float32, float64, or a complex type, to which devices add");
  held.require_atomics();
  run(
      of, request,
      [&](const rows::device_index& rows) {
        rows::add_device_rows(held.device(), held.table(), rows, request.packed.data(), shape.dtype(), request.report(),
                              memory::thread_stream());
      },
      [](device_exchange& others) { others.send("tensor_scatter_add", window::row_access::add); });
}

}  // namespace syncyte::tensor
