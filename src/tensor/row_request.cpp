// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/row_request.hpp"

#include <string>

#include "fabric/process_engine.hpp"

namespace syncyte::tensor {
namespace {

[[noreturn]] void refuse_to_add(const whole_tensor& of, const char* argument, std::int64_t position, std::int64_t row,
                                int owner) {
  const bool is_wrapped = of.held()->node() == nullptr;
  base::refuse(
      SYNCYTE_ERR_UNSUPPORTED,
      {.argument = argument,
       .axis = position,
       .value = fmt::to_string(row),
       .expected = fmt::format("a row that this process can load and store: it belongs to rank {}, {}, and {} "
                               "does not use the fabric: {}",
                               owner, is_wrapped ? "whose wrapped memory is not shared" : "which is on another node",
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
  base::expect(!__builtin_mul_overflow(index.count(), shape.slice_elements(), &elements), SYNCYTE_ERR_SHAPE,
               "number of indices", index.count(), "at most 2^63 - 1 elements, in rows of {}", shape.slice_elements());
  given.require_elements(elements);
  index.require_inside(shape.shape()[0]);
  packed = given.data();
  is_empty = elements == 0;
  memory = base::range_of(given);
}

void require_mapped(const whole_tensor& of, const row_request& request) {
  const rows::row_map& mapped = of.held()->mapped_rows();
  if (mapped.covers(of.layout().rows())) return;
  for (std::int64_t position = 0; position < request.index.count(); ++position)
    if (const std::int64_t row = request.index[position]; mapped.find(row) == nullptr)
      refuse_to_add(of, "index", position, row, of.layout().partition().owner(row));
}

void require_mapped(const whole_tensor& of, base::array_argument<std::int64_t> lower,
                    std::span<const std::int64_t> extent) {
  of.layout().for_each_part({lower.values, extent.size()}, extent, [&](const owned_part& part) {
    if (!of.is_mapped(part.owner)) refuse_to_add(of, "row of the box", -1, lower.values[0] + part.inset[0], part.owner);
  });
}

bool can_add_everywhere(const whole_tensor& of) {
  window::remote* const remote = of.held()->remote();
  return remote == nullptr || remote->can_add_rows();
}

}  // namespace syncyte::tensor
