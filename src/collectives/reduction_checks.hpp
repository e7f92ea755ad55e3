#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/buffer.hpp"
#include "comm/agreement.hpp"

namespace syncyte::collectives {

/// The buffers of a reduction, checked; a null input means in place.
struct operands {
  std::optional<base::buffer> input;
  std::optional<base::buffer> output;  // none where a rank gets no result

  const base::buffer& given() const { return input ? *input : *output; }
  std::int64_t count() const { return given().elements(); }
  syncyte_dtype_t dtype() const { return given().dtype(); }
  const std::byte* source() const { return given().data(); }
  std::byte* target() const { return output ? output->data() : nullptr; }
};

operands checked_operands(const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
                          bool gets_result);

/// Their facts.
void add_operands(comm::agreement& terms, const operands& given, syncyte_op_t op);

}  // namespace syncyte::collectives
