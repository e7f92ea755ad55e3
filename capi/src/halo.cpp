#include "syncyte/halo.h"

#include <memory>
#include <utility>

#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "collective_calls.hpp"
#include "comm_table.hpp"
#include "guard.hpp"
#include "halo/plan.hpp"
#include "halo/transfer.hpp"
#include "handle_tables.hpp"
#include "requests.hpp"

namespace syncyte::capi {
namespace {

std::shared_ptr<halo::plan> find_halo(syncyte_halo_t halo) { return find_traced(tables::halo(), halo, "halo"); }

/// Arrays passed by the caller. `shape` describes the user's array; the arrays after it have an entry for each
/// dimension of the grid.
struct halo_arrays {
  std::int32_t ndim;
  const std::int64_t* shape;
  base::array_argument<std::int32_t> axes;
  base::array_argument<std::int64_t> low;
  base::array_argument<std::int64_t> high;
};

template <class To, class From>
void assign(std::vector<To>& to, const base::array_argument<From>& from, const char* name, int ndim) {
  const auto checked = from.checked(name, ndim, "dimension of the grid");
  to.assign(checked.begin(), checked.end());
}

void read(const comm::communicator& cart, const halo_arrays& given, halo::description& asked) {
  const comm::cartesian_grid* const grid = cart.grid();
  base::expect(given.ndim >= 0 && given.ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_SHAPE, "ndim", given.ndim, "1 to {}",
               SYNCYTE_MAX_NDIM);
  base::expect(given.shape != nullptr || given.ndim == 0, SYNCYTE_ERR_ARGUMENT, "shape", "null", "{} extents",
               given.ndim);
  asked.shape.assign(given.shape, given.shape + given.ndim);
  if (grid == nullptr) return;  // the collective reports this error
  if (given.axes.values != nullptr) assign(asked.axes, given.axes, "axes", grid->ndim());
  assign(asked.low, given.low, "low", grid->ndim());
  assign(asked.high, given.high, "high", grid->ndim());
}

halo::description asked_halo(const comm::communicator& cart, const halo_arrays& given,
                             const syncyte_halo_options_t* options, const syncyte_halo_t* result) {
  halo::description asked;
  asked.error = error_of([&] {
    out(result, "halo");
    asked.has_corners = options_or(options, syncyte_halo_options_t SYNCYTE_HALO_OPTIONS_INIT).corners != 0;
    read(cart, given, asked);
  });
  return asked;
}

/// The interior of a contiguous array at address 0, as a buffer.
syncyte_buffer_t interior_of(const halo::plan& halo) {
  syncyte_buffer_t result = base::make_buffer(nullptr, halo.dtype(), halo.shape());
  const halo::box box = halo.interior();
  std::intptr_t offset = 0;
  for (std::size_t d = 0; d < halo.shape().size(); ++d) {
    offset += box.first[d] * result.strides[d];
    result.shape[d] = box.extents[d];
  }
  result.data = reinterpret_cast<void*>(offset);
  return result;
}

/// The halo of a transfer; records the array's bytes for the trace.
std::shared_ptr<halo::plan> traced_halo(syncyte_halo_t halo, const syncyte_buffer_t* array) {
  auto found = find_halo(halo);
  trace_buffer(array);
  trace_peer(found->only_neighbour());
  return found;
}

void transfer(syncyte_halo_t halo, const syncyte_buffer_t* array, halo::operation way,
              const collectives::extras& given = {}) {
  halo::transfer(traced_halo(halo, array), array, way, given).wait_or_leave();
}

void start_transfer(syncyte_halo_t halo, const syncyte_buffer_t* array, halo::operation way, const char* operation,
                    syncyte_request_t* request) {
  out(request, "request");
  give_request(std::make_unique<halo::transfer>(traced_halo(halo, array), array, way), operation, request);
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_halo_create(syncyte_comm_t cart, syncyte_dtype_t dtype, int32_t ndim, const int64_t* shape,
                                     const int32_t* axes, int64_t axes_length, const int64_t* low, int64_t low_length,
                                     const int64_t* high, int64_t high_length, const syncyte_halo_options_t* options,
                                     syncyte_halo_t* halo) {
  return started("halo_create", [&] {
    const auto group = find_comm(cart);
    auto asked =
        asked_halo(*group, {ndim, shape, {axes, axes_length}, {low, low_length}, {high, high_length}}, options, halo);
    asked.dtype = dtype;
    auto made = halo::plan::create(group, std::move(asked));
    *halo = tables::halo().insert(std::move(made));
  });
}

syncyte_status_t syncyte_halo_describe(syncyte_halo_t halo, syncyte_buffer_t* array, syncyte_buffer_t* interior) {
  return looked_up("halo_describe", [&] {
    const auto found = find_halo(halo);
    out(array, "array") = base::make_buffer(nullptr, found->dtype(), found->shape());
    if (interior != nullptr) *interior = interior_of(*found);
  });
}

syncyte_status_t syncyte_halo_exchange(syncyte_halo_t halo, const syncyte_buffer_t* array) {
  return started("halo_exchange", [&] { transfer(halo, array, halo::operation::exchange); });
}

syncyte_status_t syncyte_halo_accumulate(syncyte_halo_t halo, const syncyte_buffer_t* array) {
  return started("halo_accumulate", [&] { transfer(halo, array, halo::operation::accumulate); });
}

syncyte_status_t syncyte_halo_transfer(syncyte_halo_t halo, int32_t adjoint,
                                       const syncyte_collective_options_t* options, const syncyte_buffer_t* array) {
  const halo::operation way = adjoint != 0 ? halo::operation::accumulate : halo::operation::exchange;
  return started(adjoint != 0 ? "halo_accumulate" : "halo_exchange",
                 [&] { transfer(halo, array, way, extras(options)); });
}

syncyte_status_t syncyte_halo_iexchange(syncyte_halo_t halo, const syncyte_buffer_t* array,
                                        syncyte_request_t* request) {
  return started("halo_iexchange",
                 [&] { start_transfer(halo, array, halo::operation::exchange, "halo_iexchange", request); });
}

syncyte_status_t syncyte_halo_iaccumulate(syncyte_halo_t halo, const syncyte_buffer_t* array,
                                          syncyte_request_t* request) {
  return started("halo_iaccumulate",
                 [&] { start_transfer(halo, array, halo::operation::accumulate, "halo_iaccumulate", request); });
}
}
