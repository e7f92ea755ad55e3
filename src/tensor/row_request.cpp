// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/row_request.hpp"

#include <string>

#include "fabric/process_engine.hpp"

namespace syncyte::tensor {
namespace {

[[noreturn]] void refuse_to_add(const whole_tensor& of, const char* argument, std::int64_t position, std::int64_t row) {
  const bool is_wrapped = of.held()->node() == nullptr;
  base::refuse(SYNCYTE_ERR_UNSUPPORTED,
               {.argument = argument,
                .axis = position,
                .value = fmt::to_string(row),
                .expected = fmt::format("a row that this process can load and store: it belongs to rank {}, {}, and {} "
                                        "does not use the fabric: {}",
                                        of.layout().partition().owner(row),
                                        is_wrapped ? "whose wrapped memory is not shared" : "which is on another node",
                                        of.comm()->name(), fabric::reason_for_none())});
}

}  // namespace

row_request::row_request(const whole_tensor& of, const syncyte_buffer_t* rows_wanted, const syncyte_buffer_t* values,
                         const char* packed_name, bool is_written)
    : index(base::buffer(rows_wanted, "index")), name(packed_name) {
  const layout& shape = of.layout();
  const base::buffer given(values, packed_name);
  if (is_written) given.require_writable();
  given.require_dtype(shape.dtype()).require_host().require_contiguous();
  std::int64_t elements = 0;
  base::expect(!__builtin_mul_overflow(index.count(), shape.row_elements(), &elements), SYNCYTE_ERR_SHAPE,
               "number of indices", index.count(), "at most 2^63 - 1 elements, in rows of {}", shape.row_elements());
  given.require_elements(elements);
  index.require_inside(shape.rows());
  packed = given.data();
  is_empty = elements == 0;
  memory = base::range_of(given);
}

void require_mapped(const whole_tensor& of, const row_request& request) {
  const rows::row_map& mapped = of.held()->mapped_rows();
  if (mapped.covers(of.layout().rows())) return;
  for (std::int64_t position = 0; position < request.index.count(); ++position)
    if (const std::int64_t row = request.index[position]; mapped.find(row) == nullptr)
      refuse_to_add(of, "index", position, row);
}

void require_mapped(const whole_tensor& of, std::int64_t first, std::int64_t end) {
  for (std::int64_t row = first; row < end;) {
    const rows::row_range* const range = of.held()->mapped_rows().find_range(row);
    if (range == nullptr) refuse_to_add(of, "row of the box", -1, row);
    row = range->first + range->count;
  }
}

bool can_add_everywhere(const whole_tensor& of) {
  window::remote* const remote = of.held()->remote();
  return remote == nullptr || remote->can_add_rows();
}

}  // namespace syncyte::tensor
