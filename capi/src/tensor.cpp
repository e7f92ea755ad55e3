// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/tensor.h"

#include <cstddef>

#include "access/started.hpp"
#include "block_buffers.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"
#include "requests.hpp"
#include "tensor/counter_operations.hpp"
#include "tensor/optimizer.hpp"
#include "tensor/versions.hpp"

namespace syncyte::capi {
namespace {

/// Options of a new tensor. An error in them, or in the output parameter, is stored, for the collective to report on
/// all ranks.
tensor::tensor_options chosen_options(const syncyte_tensor_options_t* given, const syncyte_tensor_t* result) {
  tensor::tensor_options options;
  options.error = error_of([&] {
    out(result, "tensor");
    const auto chosen = options_or(given, syncyte_tensor_options_t SYNCYTE_TENSOR_OPTIONS_INIT);
    options.name = text_or_empty(chosen.name);
    options.label = text_or_empty(chosen.label);
    options.local_rows = chosen.local_rows;
    options.memory = chosen.memory;
    options.device = chosen.device;
    options.released = chosen.released;
    base::expect(chosen.row_locks == 0 || chosen.row_locks == 1, SYNCYTE_ERR_ARGUMENT, "options->row_locks",
                 chosen.row_locks, "0 or 1");
    base::expect(chosen.deterministic == 0 || chosen.deterministic == 1, SYNCYTE_ERR_ARGUMENT, "options->deterministic",
                 chosen.deterministic, "0 or 1");
    options.row_locks = chosen.row_locks == 1;
    options.deterministic = chosen.deterministic == 1;
  });
  return options;
}

optim::rule chosen_rule(syncyte_optimizer_t optimizer, double lr, const syncyte_optimizer_options_t* given) {
  const auto chosen = options_or(given, syncyte_optimizer_options_t SYNCYTE_OPTIMIZER_OPTIONS_INIT);
  const double eps = optimizer == SYNCYTE_OPTIMIZER_ADAGRAD ? 1e-10 : 1e-8;
  return {.optimizer = optimizer,
          .lr = lr,
          .momentum = chosen.momentum,
          .beta1 = chosen.beta1,
          .beta2 = chosen.beta2,
          .eps = chosen.eps < 0.0 ? eps : chosen.eps};
}

/// Throws unless the caller's handle is all that refers to the tensor: no view, no operation in flight.
void require_sole_reference(syncyte_tensor_t tensor, const std::shared_ptr<tensor::whole_tensor>& found) {
  constexpr int own = 2;  // of the table and of `found`
  const auto others = tables::tensor().references(tensor, "tensor") - 1 + found.use_count() - own;
  base::require(others == 0, SYNCYTE_ERR_BUSY,
                "{} is also in use by {} views, other references or operations in flight; expected none, because its "
                "memory moves",
                found->layout().text(), others);
}

/// A handle with a reference of its own; null for null.
syncyte_tensor_t new_handle(const std::shared_ptr<tensor::whole_tensor>& object) {
  return object ? tables::tensor().insert(object) : nullptr;
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

syncyte_status_t syncyte_tensor_create_by_layout(syncyte_comm_t comm, syncyte_dtype_t dtype, syncyte_layout_t layout,
                                                 int64_t slots, const syncyte_tensor_options_t* options,
                                                 syncyte_tensor_t* tensor) {
  return after_init("tensor_create_by_layout", [&] {
    const auto group = find_comm(comm);
    tensor::tensor_options chosen = chosen_options(options, tensor);
    std::shared_ptr<collectives::shared_layout> by;
    const auto error = error_of([&] { by = find_traced(tables::layout(), layout, "layout"); });
    if (!chosen.error) chosen.error = error;
    *tensor = tables::tensor().insert(tensor::whole_tensor::create_by_layout(group, dtype, by, slots, chosen));
  });
}

syncyte_status_t syncyte_tensor_open(syncyte_comm_t comm, const char* name, syncyte_tensor_t* tensor) {
  return after_init("tensor_open", [&] {
    const auto group = find_comm(comm);
    tensor::tensor_options chosen;
    chosen.error = error_of([&] {
      out(tensor, "tensor");
      chosen.name = text_or_empty(name);
      base::expect(!chosen.name.empty(), SYNCYTE_ERR_ARGUMENT, "name", name == nullptr ? "null" : "empty",
                   "the name of the tensor that other ranks create");
    });
    *tensor = tables::tensor().insert(tensor::whole_tensor::create_by_layout(group, 0, nullptr, 0, chosen));
  });
}

syncyte_status_t syncyte_tensor_layout(syncyte_tensor_t tensor, syncyte_layout_t* layout) {
  return lookup_after_init("tensor_layout", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    const tensor::block_memory* const blocks = object->layout().blocks();
    out(layout, "layout") = blocks != nullptr ? tables::layout().insert(blocks->layout()) : nullptr;
  });
}

syncyte_status_t syncyte_tensor_relocate(syncyte_tensor_t tensor, syncyte_layout_t layout, int64_t local_rows) {
  return after_init("tensor_relocate", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    tensor::relocation_target to{.by = {}, .local_rows = local_rows, .error = {}};
    to.error = error_of([&] {
      require_sole_reference(tensor, object);
      if (layout != nullptr) to.by = find_traced(tables::layout(), layout, "layout");
    });
    object->relocate(to);
  });
}

syncyte_status_t syncyte_tensor_publish(syncyte_tensor_t tensor, int64_t count, const syncyte_buffer_t* arrays,
                                        int64_t step) {
  return after_init("tensor_publish", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    object->versions().publish(*object, read_buffers(count, arrays, "arrays", "count"), step);
  });
}

syncyte_status_t syncyte_tensor_take(syncyte_tensor_t tensor, int64_t lower_length, const int64_t* lower,
                                     int64_t at_least, double timeout, const syncyte_buffer_t* output, int64_t* step) {
  return after_init("tensor_take", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(output);
    out(step, "step") = object->versions().take(*object, at_least, {lower, lower_length}, timeout, output);
  });
}

syncyte_status_t syncyte_tensor_describe(syncyte_tensor_t tensor, syncyte_buffer_t* global) {
  return lookup_after_init("tensor_describe", [&] {
    base::fill_struct(global, "global", find_traced(tables::tensor(), tensor, "tensor")->describe());
  });
}

syncyte_status_t syncyte_tensor_local(syncyte_tensor_t tensor, syncyte_buffer_t* view) {
  return lookup_after_init("tensor_local", [&] {
    base::fill_struct(view, "view", find_traced(tables::tensor(), tensor, "tensor")->local());
  });
}

syncyte_status_t syncyte_tensor_node(syncyte_tensor_t tensor, syncyte_buffer_t* view, int64_t* first_row) {
  return lookup_after_init("tensor_node", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    require_output(view, "view");
    syncyte_buffer_t found{};
    object->node(found, out(first_row, "first_row"));
    base::fill_struct(view, "view", found);
  });
}

syncyte_status_t syncyte_tensor_put_signal(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                           const syncyte_buffer_t* source, syncyte_tensor_t counters, int64_t element,
                                           int64_t value, syncyte_op_t op) {
  return after_init("tensor_put_signal", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    access::run<tensor::put_signal>(*object, index, source, tables::tensor().find(counters, "counters"), element, value,
                                    op);
  });
}

syncyte_status_t syncyte_tensor_iput_signal(syncyte_tensor_t tensor, const syncyte_buffer_t* index,
                                            const syncyte_buffer_t* source, syncyte_tensor_t counters, int64_t element,
                                            int64_t value, syncyte_op_t op, syncyte_request_t* request) {
  return after_init("tensor_iput_signal", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    trace_buffer(source);
    out(request, "request");
    give_request(access::start<tensor::put_signal>(object, index, source, tables::tensor().find(counters, "counters"),
                                                   element, value, op),
                 "tensor_iput_signal", request);
  });
}

syncyte_status_t syncyte_tensor_set_optimizer(syncyte_tensor_t tensor, syncyte_optimizer_t optimizer, double lr,
                                              const syncyte_optimizer_options_t* options) {
  return after_init("tensor_set_optimizer", [&] {
    const auto object = find_traced(tables::tensor(), tensor, "tensor");
    optim::rule rule;
    const auto error = error_of([&] { rule = chosen_rule(optimizer, lr, options); });
    tensor::set_optimizer(*object, rule, error);
  });
}

syncyte_status_t syncyte_tensor_optimizer_state(syncyte_tensor_t tensor, syncyte_tensor_t* state) {
  return lookup_after_init("tensor_optimizer_state", [&] {
    out(state, "state") = new_handle(find_traced(tables::tensor(), tensor, "tensor")->optimizer()->state());
  });
}

syncyte_status_t syncyte_tensor_optimizer_steps(syncyte_tensor_t tensor, syncyte_tensor_t* steps) {
  return lookup_after_init("tensor_optimizer_steps", [&] {
    out(steps, "steps") = new_handle(find_traced(tables::tensor(), tensor, "tensor")->optimizer()->steps());
  });
}
}
