// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/device_request.hpp"

namespace syncyte::tensor {
namespace {

[[noreturn]] void refuse_overlap(const char* argument, const std::string& where) {
  base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = argument, .value = where, .expected = base::separate_memory});
}

}  // namespace

device_request::device_request(const whole_tensor& of, const syncyte_buffer_t* rows_wanted,
                               const syncyte_buffer_t* values, const char* packed_name, bool writes_packed)
    : held(*of.held()->on_device()),
      index(base::buffer(rows_wanted, "index"), held.device()),
      packed(values, packed_name),
      is_written(writes_packed) {
  const layout& shape = of.layout();
  if (is_written) packed.require_writable();
  packed.require_dtype(shape.dtype()).require_on(held.device()).require_contiguous().require_aligned();
  std::int64_t elements = 0;
  base::expect(!__builtin_mul_overflow(index.count(), shape.slice_elements(), &elements), SYNCYTE_ERR_SHAPE,
               "number of indices", index.count(), "at most 2^63 - 1 elements, in rows of {}", shape.slice_elements());
  packed.require_elements(elements);
  require_apart(of.held()->memory(), "the tensor's memory");
  if (is_written && elements > 0 && index.memory().meets(base::range_of(packed)))
    refuse_overlap("index", fmt::format("in the memory of {}", packed_name));
  held.begin();
  if (held.waits()) own_report_.emplace(held.device());
}

void device_request::end() const {
  held.queued();
  if (!own_report_) return;
  if (const auto skipped = own_report_->get().take()) held.refuse_skipped(*skipped);
}

/// The host does not know the rows: arrays must lie outside, unless they are only read.
void device_request::require_apart(base::byte_range memory, const char* name) const {
  if (packed.elements() == 0) return;
  if (base::range_of(packed).meets(memory)) refuse_overlap(packed.argument(), fmt::format("in {}", name));
  if (!is_written && index.memory().meets(memory)) refuse_overlap("index", fmt::format("in {}", name));
}

}  // namespace syncyte::tensor
