#include "syncyte/tensor.h"

#include <cstddef>

#include "comm_table.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::capi {
namespace {

std::shared_ptr<tensor::whole_tensor> find_tensor(syncyte_tensor_t tensor) {
  return find_traced(tables::tensor(), tensor, "tensor");
}

/// Options of a new tensor. An error in them, or in the output parameter, is stored, for the collective to report on
/// all ranks.
tensor::tensor_options chosen_options(const syncyte_tensor_options_t* given, const syncyte_tensor_t* result) {
  tensor::tensor_options options;
  try {
    out(result, "tensor");
    constexpr syncyte_tensor_options_t defaults SYNCYTE_TENSOR_OPTIONS_INIT;
    const auto chosen = options_or(given, defaults, offsetof(syncyte_tensor_options_t, released));
    options.name = chosen.name != nullptr ? chosen.name : "";
    options.local_rows = chosen.local_rows;
    options.memory = chosen.memory;
    options.released = chosen.released;
  } catch (...) {
    options.error = base::current_error();
  }
  return options;
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_tensor_create(syncyte_comm_t comm, syncyte_dtype_t dtype, int32_t ndim, const int64_t* shape,
                                       const syncyte_tensor_options_t* options, syncyte_tensor_t* tensor) {
  return started("tensor_create", [&] {
    auto made = tensor::whole_tensor::create(find_comm(comm), dtype, ndim, shape, chosen_options(options, tensor));
    *tensor = tables::tensor().insert(std::move(made));
  });
}

syncyte_status_t syncyte_tensor_wrap(syncyte_comm_t comm, const syncyte_buffer_t* local,
                                     const syncyte_tensor_options_t* options, syncyte_tensor_t* tensor) {
  return started("tensor_wrap", [&] {
    auto made = tensor::whole_tensor::wrap(find_comm(comm), local, chosen_options(options, tensor));
    *tensor = tables::tensor().insert(std::move(made));
  });
}

syncyte_status_t syncyte_tensor_describe(syncyte_tensor_t tensor, syncyte_buffer_t* global) {
  return looked_up("tensor_describe", [&] { out(global, "global") = find_tensor(tensor)->describe(); });
}

syncyte_status_t syncyte_tensor_comm(syncyte_tensor_t tensor, syncyte_comm_t* comm) {
  return looked_up("tensor_comm", [&] {
    const auto found = find_tensor(tensor);
    out(comm, "comm");
    *comm = handle_of(found->comm());
  });
}

syncyte_status_t syncyte_tensor_rows(syncyte_tensor_t tensor, int32_t rank, int64_t* first, int64_t* count) {
  return looked_up("tensor_rows", [&] {
    out(first, "first");
    out(count, "count");
    find_tensor(tensor)->rows(rank, *first, *count);
  });
}

syncyte_status_t syncyte_tensor_owner(syncyte_tensor_t tensor, int64_t count, const int64_t* rows, int32_t* ranks) {
  return looked_up("tensor_owner", [&] { find_tensor(tensor)->owner(count, rows, ranks); });
}

syncyte_status_t syncyte_tensor_local(syncyte_tensor_t tensor, syncyte_buffer_t* view) {
  return looked_up("tensor_local", [&] { out(view, "view") = find_tensor(tensor)->local_view(); });
}

syncyte_status_t syncyte_tensor_node(syncyte_tensor_t tensor, syncyte_buffer_t* view, int64_t* first_row) {
  return looked_up("tensor_node", [&] {
    out(first_row, "first_row");
    out(view, "view");
    *view = find_tensor(tensor)->node_view(*first_row);
  });
}

syncyte_status_t syncyte_tensor_gather(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                       const syncyte_buffer_t* output) {
  return started<forks_too>("tensor_gather", [&] {
    find_tensor(tensor)->gather(index, output);
    trace_buffer(output);
  });
}

syncyte_status_t syncyte_tensor_scatter(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                        const syncyte_buffer_t* source) {
  return started("tensor_scatter", [&] {
    find_tensor(tensor)->scatter(index, source);
    trace_buffer(source);
  });
}

syncyte_status_t syncyte_tensor_scatter_add(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                            const syncyte_buffer_t* source) {
  return started("tensor_scatter_add", [&] {
    find_tensor(tensor)->scatter_add(index, source);
    trace_buffer(source);
  });
}

syncyte_status_t syncyte_tensor_get_box(syncyte_tensor_t tensor, const int64_t* lower, int64_t lower_length,
                                        const syncyte_buffer_t* output) {
  return started<forks_too>("tensor_get_box", [&] {
    find_tensor(tensor)->get_box({lower, lower_length}, output);
    trace_buffer(output);
  });
}

syncyte_status_t syncyte_tensor_put_box(syncyte_tensor_t tensor, const int64_t* lower, int64_t lower_length,
                                        const syncyte_buffer_t* source) {
  return started("tensor_put_box", [&] {
    find_tensor(tensor)->put_box({lower, lower_length}, source);
    trace_buffer(source);
  });
}

syncyte_status_t syncyte_tensor_fetch_add(syncyte_tensor_t tensor, int64_t element, int64_t operand,
                                          int64_t* previous) {
  return started("tensor_fetch_add", [&] {
    const int64_t before = find_tensor(tensor)->fetch_add(element, operand);
    if (previous != nullptr) *previous = before;
  });
}

syncyte_status_t syncyte_tensor_compare_swap(syncyte_tensor_t tensor, int64_t element, int64_t expected,
                                             int64_t desired, int64_t* previous) {
  return started("tensor_compare_swap", [&] {
    const int64_t before = find_tensor(tensor)->compare_swap(element, expected, desired);
    if (previous != nullptr) *previous = before;
  });
}

syncyte_status_t syncyte_tensor_load(syncyte_tensor_t tensor, int64_t element, int64_t* value) {
  return started<forks_too>("tensor_load", [&] { out(value, "value") = find_tensor(tensor)->load(element); });
}

syncyte_status_t syncyte_tensor_store(syncyte_tensor_t tensor, int64_t element, int64_t value) {
  return started("tensor_store", [&] { find_tensor(tensor)->store(element, value); });
}

syncyte_status_t syncyte_tensor_wait(syncyte_tensor_t tensor, int64_t element, syncyte_compare_t compare, int64_t value,
                                     double timeout, int64_t* found) {
  return started<forks_too>("tensor_wait", [&] {
    const int64_t seen = find_tensor(tensor)->wait(element, compare, value, timeout);
    if (found != nullptr) *found = seen;
  });
}

syncyte_status_t syncyte_tensor_flush(syncyte_tensor_t tensor) {
  return started("tensor_flush", [&] { find_tensor(tensor)->flush(); });
}

syncyte_status_t syncyte_tensor_sync(syncyte_tensor_t tensor) {
  return started("tensor_sync", [&] { find_tensor(tensor)->sync(); });
}
}
