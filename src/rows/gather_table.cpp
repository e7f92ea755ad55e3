// SPDX-License-Identifier: BSD-3-Clause
#include "rows/gather_table.hpp"

#include <array>
#include <vector>

#include "base/buffer.hpp"
#include "base/overlap.hpp"
#include "base/strided_copy.hpp"
#include "rows/convert_rows.hpp"

namespace syncyte::rows {
namespace {

/// Row 0 of the table, as a buffer.
base::buffer row_of(const base::buffer& table) {
  syncyte_buffer_t row = base::make_buffer(table.data(), table.dtype(), table.shape().subspan(1));
  for (int d = 1; d < table.ndim(); ++d) row.strides[d - 1] = table.stride(d);
  return {&row, "table"};
}

void require_output(const base::buffer& output, const base::buffer& row, std::int64_t count) {
  output.require_host().require_contiguous();
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(count, row.elements(), &elements))
    base::refuse(SYNCYTE_ERR_SHAPE, {.argument = "index",
                                     .value = fmt::format("of {} rows of {} elements", count, row.elements()),
                                     .expected = "at most 2^63 - 1 elements"});
  output.require_elements(elements);
}

/// Gathers rows whose elements are not contiguous: packs one row at a time, directly into the output if no conversion
/// is needed.
void gather_strided_rows(const row_map& map, const row_index& index, const base::buffer& row,
                         const base::buffer& output) {
  const auto dense = base::dense_strides(row.shape(), row.element_bytes());
  const std::size_t output_bytes = static_cast<std::size_t>(row.elements()) * output.element_bytes();
  const bool converts = row.dtype() != output.dtype();
  std::vector<std::byte> packed(converts ? row.bytes() : 0);
  const row_range only{0, 1, packed.data()};
  const row_map packed_map({&only, 1}, packed.size());
  const std::array<std::int64_t, 1> first{0};
  for (std::int64_t i = 0; i < index.count(); ++i) {
    std::byte* const target = output.data() + static_cast<std::size_t>(i) * output_bytes;
    base::copy_strided(converts ? packed.data() : target, dense, map.find(index[i]), row.strides(), row.shape(),
                       row.element_bytes());
    if (converts) gather_converted_rows(packed_map, row_index(std::span(first)), target, row.dtype(), output.dtype());
  }
}

}  // namespace

void gather_table(const syncyte_buffer_t* raw_table, const syncyte_buffer_t* raw_index,
                  const syncyte_buffer_t* raw_output) {
  const base::buffer table = base::buffer(raw_table, "table").require_host();
  base::expect(table.ndim() >= 1, SYNCYTE_ERR_SHAPE, "table", "of 0 dimensions", "1 or more");
  const row_index index(base::buffer(raw_index, "index"));
  const base::buffer output = base::buffer(raw_output, "output").require_writable();
  const base::buffer row = row_of(table);
  require_output(output, row, index.count());
  if (!can_convert(table.dtype(), output.dtype()))
    base::refuse(SYNCYTE_ERR_TYPE,
                 {.argument = "output",
                  .value = fmt::format("of {}", base::dtype_name(output.dtype())),
                  .expected = fmt::format("the table's {}; float16, bfloat16, float32 and float64 are converted",
                                          base::dtype_name(table.dtype()))});
  index.require_inside(table.extent(0));
  if (index.memory().meets(base::range_of(output)))
    base::refuse(SYNCYTE_ERR_ARGUMENT,
                 {.argument = "index", .value = "in the memory of output", .expected = base::separate_memory});
  base::require_apart(table, output);
  if (output.elements() == 0) return;
  const row_range all{0, table.extent(0), table.data()};
  const row_map map({&all, 1}, row.bytes(), table.stride(0));
  if (row.is_contiguous())
    gather_converted_rows(map, index, output.data(), table.dtype(), output.dtype());
  else
    gather_strided_rows(map, index, row, output);
}

}  // namespace syncyte::rows
