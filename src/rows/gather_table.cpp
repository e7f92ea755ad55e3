// SPDX-License-Identifier: BSD-3-Clause
#include "rows/gather_table.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "base/buffer.hpp"
#include "base/environment.hpp"
#include "base/overlap.hpp"
#include "base/settings.hpp"
#include "base/strided_copy.hpp"
#include "memory/device.hpp"
#include "rows/convert_rows.hpp"
#include "rows/device_rows.hpp"

namespace syncyte::rows {
namespace {

/// Row 0 of the table, as a buffer. A table without rows may have no memory.
base::buffer row_of(const base::buffer& table) {
  alignas(std::max_align_t) static std::byte nowhere[1];
  std::byte* const data = table.data() == nullptr ? nowhere : table.data();
  syncyte_buffer_t row = base::make_buffer(data, table.dtype(), table.shape().subspan(1));
  for (int d = 1; d < table.ndim(); ++d) row.strides[d - 1] = table.stride(d);
  return {&row, "table"};
}

void require_output(const base::buffer& output, const base::buffer& row, std::int64_t count) {
  output.require_contiguous();
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(count, row.elements(), &elements))
    base::refuse(SYNCYTE_ERR_SHAPE, {.argument = "index",
                                     .value = fmt::format("of {} rows of {} elements", count, row.elements()),
                                     .expected = "at most 2^63 - 1 elements"});
  output.require_elements(elements);
}

void require_conversion(const base::buffer& table, const base::buffer& output) {
  if (can_convert(table.dtype(), output.dtype())) return;
  base::refuse(SYNCYTE_ERR_TYPE,
               {.argument = "output",
                .value = fmt::format("of {}", base::dtype_name(output.dtype())),
                .expected = fmt::format("the table's {}; float16, bfloat16, float32 and float64 are converted",
                                        base::dtype_name(table.dtype()))});
}

void require_apart(const base::byte_range& index, const base::buffer& table, const base::buffer& output) {
  if (index.meets(base::range_of(output)))
    base::refuse(SYNCYTE_ERR_ARGUMENT,
                 {.argument = "index", .value = "in the memory of output", .expected = base::separate_memory});
  base::require_apart(table, output);
}

constexpr const char* table_name = "a table (gather_rows)";

/// Indices that kernels for tables have skipped, by device.
class device_reports {
 public:
  index_report& of(int device) {
    const std::lock_guard lock(mutex_);
    return reports_.try_emplace(device, device).first->second;
  }
  void check(int device) {
    const std::lock_guard lock(mutex_);
    const auto found = reports_.find(device);
    if (found == reports_.end() || !found->second.has_any()) return;
    if (const auto skipped = found->second.take()) refuse_skipped(*skipped, table_name);
  }

 private:
  std::mutex mutex_;  // guards the member below
  std::map<int, index_report> reports_;
};

device_reports& reports() {
  static auto* const all = new device_reports;  // leaked: kernels may run while the process ends
  return *all;
}

/// gather_table() of a table in device memory.
void gather_device_table(const base::buffer& table, const base::buffer& row, const base::buffer& listed,
                         const base::buffer& output) {
  const int device = table.device();
  memory::require_device(table.memory(), device);
  const device_index index(listed, device);
  output.require_on(device).require_aligned();
  table.require_aligned();
  require_output(output, row, index.count());
  require_conversion(table, output);
  base::expect(row.is_contiguous(), SYNCYTE_ERR_UNSUPPORTED, "table", "of rows that are not contiguous",
               "contiguous rows, which kernels read");
  require_apart(index.memory(), table, output);
  reports().check(device);
  void* const stream = memory::thread_stream();
  const device_table rows{table.data(), table.extent(0), row.bytes(), table.stride(0)};
  const auto queue = [&](const index_report& report) {
    gather_converted_rows(device, rows, index, output.data(), table.dtype(), output.dtype(), report, stream);
  };
  const bool is_checked = base::environment_choice(base::settings::check) == base::settings::check_level::full;
  if (stream != nullptr && !is_checked) return queue(reports().of(device));
  base::require(!memory::cuda_system().is_captured(device, stream), SYNCYTE_ERR_UNSUPPORTED,
                "a gather with {}=full waits, and cannot be captured into a CUDA graph", base::settings::check.name);
  const own_report report(device);
  queue(report.get());
  memory::cuda_backend().synchronize(device, stream);
  if (const auto skipped = report.get().take()) refuse_skipped(*skipped, table_name);
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

void check_device_gathers(int device) { reports().check(device); }

void gather_table(const syncyte_buffer_t* raw_table, const syncyte_buffer_t* raw_index,
                  const syncyte_buffer_t* raw_output) {
  const base::buffer table(raw_table, "table");
  base::expect(table.ndim() >= 1, SYNCYTE_ERR_SHAPE, "table", "of 0 dimensions", "1 or more");
  const base::buffer listed(raw_index, "index");
  const base::buffer output = base::buffer(raw_output, "output").require_writable();
  const base::buffer row = row_of(table);
  if (table.memory() != SYNCYTE_MEMORY_HOST) return gather_device_table(table, row, listed, output);
  const row_index index(listed);
  require_output(output.require_host(), row, index.count());
  require_conversion(table, output);
  index.require_inside(table.extent(0));
  require_apart(index.memory(), table, output);
  if (output.elements() == 0) return;
  const row_range all{0, table.extent(0), table.data()};
  const row_map map({&all, 1}, row.bytes(), table.stride(0));
  if (row.is_contiguous())
    gather_converted_rows(map, index, output.data(), table.dtype(), output.dtype());
  else
    gather_strided_rows(map, index, row, output);
}

}  // namespace syncyte::rows
