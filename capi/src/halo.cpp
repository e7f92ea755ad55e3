// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/halo.h"

#include <memory>
#include <utility>

#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "collective_calls.hpp"
#include "guard.hpp"
#include "halo/grid_halo.hpp"
#include "handle_tables.hpp"
#include "requests.hpp"

namespace syncyte::capi {
namespace {

std::shared_ptr<halo::grid_halo> find_halo(syncyte_halo_t halo) { return find_traced(tables::halo(), halo, "halo"); }

template <class T>
void assign(std::vector<T>& to, const T* values, std::int64_t length, const char* name, int ndim) {
  const auto checked = base::array_argument<T>(values, length).checked(name, ndim, "dimension of the grid");
  to.assign(checked.begin(), checked.end());
}

/// The interior of a contiguous array at address 0, as a buffer.
syncyte_buffer_t interior_of(const halo::grid_halo& halo) {
  syncyte_buffer_t result = base::make_buffer(nullptr, halo.dtype(), halo.shape());
  const distribution::box box = halo.interior();
  std::intptr_t offset = 0;
  for (std::size_t d = 0; d < halo.shape().size(); ++d) {
    offset += box.first[d] * result.strides[d];
    result.shape[d] = box.count[d];
  }
  result.data = reinterpret_cast<void*>(offset);
  return result;
}

/// The halo of a transfer; records the array's bytes for the trace.
std::shared_ptr<halo::grid_halo> traced_halo(syncyte_halo_t halo, const syncyte_buffer_t* array) {
  auto found = find_halo(halo);
  trace_buffer(array);
  trace_peer(found->only_neighbour());
  return found;
}

void run_transfer(syncyte_halo_t halo, const syncyte_buffer_t* array, halo::operation way,
                  const syncyte_collective_options_t* options) {
  halo::start(traced_halo(halo, array), array, way, facts_of(options))->wait_or_leave();
}

void start_transfer(syncyte_halo_t halo, const syncyte_buffer_t* array, halo::operation way, const char* operation,
                    syncyte_request_t* request) {
  out(request, "request");
  give_request(halo::start(traced_halo(halo, array), array, way), operation, request);
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_halo_create(syncyte_comm_t cart, syncyte_dtype_t dtype, int32_t ndim, const int64_t* shape,
                                     int64_t low_length, const int64_t* low, int64_t high_length, const int64_t* high,
                                     int64_t axes_length, const int32_t* axes, const syncyte_halo_options_t* options,
                                     syncyte_halo_t* halo) {
  return after_init("halo_create", [&] {
    const auto group = find_comm(cart);
    halo::description asked;
    asked.dtype = dtype;
    asked.error = error_of([&] {
      out(halo, "halo");
      const std::int32_t corners = options_or(options, syncyte_halo_options_t SYNCYTE_HALO_OPTIONS_INIT).corners;
      base::expect(corners == 0 || corners == 1, SYNCYTE_ERR_ARGUMENT, "options->corners", corners, "0 or 1");
      asked.has_corners = corners != 0;
      base::expect(ndim >= 0 && ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_SHAPE, "ndim", ndim, "1 to {}", SYNCYTE_MAX_NDIM);
      base::expect(shape != nullptr || ndim == 0, SYNCYTE_ERR_ARGUMENT, "shape", "null", "{} extents", ndim);
      asked.shape.assign(shape, shape + ndim);
      if (group->grid() == nullptr) return;  // the collective reports this error
      const int grid_ndim = group->grid()->ndim();
      if (axes != nullptr) assign(asked.axes, axes, axes_length, "axes", grid_ndim);
      assign(asked.low, low, low_length, "low", grid_ndim);
      assign(asked.high, high, high_length, "high", grid_ndim);
    });
    *halo = tables::halo().insert(halo::grid_halo::create(group, std::move(asked)));
  });
}

syncyte_status_t syncyte_halo_describe(syncyte_halo_t halo, syncyte_buffer_t* array, syncyte_buffer_t* interior) {
  return lookup_after_init("halo_describe", [&] {
    const auto found = find_halo(halo);
    if (interior != nullptr) require_output(interior, "interior");
    base::fill_struct(array, "array", base::make_buffer(nullptr, found->dtype(), found->shape()));
    if (interior != nullptr) base::fill_struct(interior, "interior", interior_of(*found));
  });
}

syncyte_status_t syncyte_halo_exchange(syncyte_halo_t halo, const syncyte_buffer_t* array) {
  return syncyte_halo_transfer(halo, 0, nullptr, array);
}

syncyte_status_t syncyte_halo_accumulate(syncyte_halo_t halo, const syncyte_buffer_t* array) {
  return syncyte_halo_transfer(halo, 1, nullptr, array);
}

syncyte_status_t syncyte_halo_transfer(syncyte_halo_t halo, int32_t adjoint,
                                       const syncyte_collective_options_t* options, const syncyte_buffer_t* array) {
  if (adjoint == 0)
    return after_init("halo_exchange", [&] { run_transfer(halo, array, halo::operation::exchange, options); });
  return after_init("halo_accumulate", [&] { run_transfer(halo, array, halo::operation::accumulate, options); });
}

syncyte_status_t syncyte_halo_iexchange(syncyte_halo_t halo, const syncyte_buffer_t* array,
                                        syncyte_request_t* request) {
  return after_init("halo_iexchange",
                    [&] { start_transfer(halo, array, halo::operation::exchange, "halo_iexchange", request); });
}

syncyte_status_t syncyte_halo_iaccumulate(syncyte_halo_t halo, const syncyte_buffer_t* array,
                                          syncyte_request_t* request) {
  return after_init("halo_iaccumulate",
                    [&] { start_transfer(halo, array, halo::operation::accumulate, "halo_iaccumulate", request); });
}
}
