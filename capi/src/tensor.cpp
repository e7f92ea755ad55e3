#include "syncyte/tensor.h"

#include <cstddef>

#include "guard.hpp"
#include "handle_tables.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::capi {
namespace {

/// Options of a new tensor. An error in them, or in the output parameter, is stored, for the collective to report on
/// all ranks.
tensor::tensor_options chosen_options(const syncyte_tensor_options_t* given, const syncyte_tensor_t* result) {
  tensor::tensor_options options;
  options.error = error_of([&] {
    out(result, "tensor");
    const auto chosen = options_or(given, syncyte_tensor_options_t SYNCYTE_TENSOR_OPTIONS_INIT,
                                   offsetof(syncyte_tensor_options_t, released));
    options.name = chosen.name != nullptr ? chosen.name : "";
    options.local_rows = chosen.local_rows;
    options.memory = chosen.memory;
    options.released = chosen.released;
  });
  return options;
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_tensor_create(syncyte_comm_t comm, syncyte_dtype_t dtype, int32_t ndim, const int64_t* shape,
                                       const syncyte_tensor_options_t* options, syncyte_tensor_t* tensor) {
  return after_init("tensor_create", [&] {
    *tensor = tables::tensor().insert(
        tensor::whole_tensor::create(find_comm(comm), dtype, ndim, shape, chosen_options(options, tensor)));
  });
}

syncyte_status_t syncyte_tensor_wrap(syncyte_comm_t comm, const syncyte_buffer_t* local,
                                     const syncyte_tensor_options_t* options, syncyte_tensor_t* tensor) {
  return after_init("tensor_wrap", [&] {
    *tensor =
        tables::tensor().insert(tensor::whole_tensor::wrap(find_comm(comm), local, chosen_options(options, tensor)));
  });
}
}
