// SPDX-License-Identifier: BSD-3-Clause
#include "rows/device_rows.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "rows/cuda/bodies.hpp"
#include "rows/device_launch.hpp"
#include "rows/index_type.hpp"
#include "rows/kernels.hpp"

namespace syncyte::rows {
namespace {

using cuda::bad_index;
using cuda::row_arguments;

/// Widest unit of a kernel, in bytes, that divides rows and addresses.
std::size_t widest_unit(const device_table& table, const std::byte* packed) {
  const auto all = std::bit_cast<std::uintptr_t>(table.data) | std::bit_cast<std::uintptr_t>(packed) | table.row_bytes |
                   static_cast<std::uintptr_t>(table.stride);
  constexpr std::uintptr_t widest = 16;
  return static_cast<std::size_t>(std::uintptr_t{1} << std::countr_zero(all | widest));
}

/// Queues a kernel; `elements` of each row are divided among its threads.
void launch(int device, const std::string& kernel, const device_table& table, const device_index& index,
            const std::byte* packed, std::int64_t elements, device_operation operation, const index_report& report,
            void* stream) {
  if (index.count() == 0) return;
  const int lane_bits = lane_bits_for(elements);
  const row_arguments given{.table = table.data,
                            .table_rows = table.rows,
                            .stride = table.stride,
                            .index = index.data(),
                            .count = index.count(),
                            .packed = const_cast<std::byte*>(packed),
                            .row_elements = elements,
                            .bad = static_cast<bad_index*>(report.noting(index)),
                            .operation = static_cast<std::uint32_t>(operation),
                            .lane_bits = lane_bits,
                            .is_wide = index.is_wide()};
  launch_kernel(device, kernel, &given, threads_of(index.count(), lane_bits), stream);
}

void copy(int device, const char* kernel, const device_table& table, const device_index& index, const std::byte* packed,
          device_operation operation, const index_report& report, void* stream) {
  const std::size_t unit = widest_unit(table, packed);
  launch(device, fmt::format("{}_{}", kernel, unit), table, index, packed,
         static_cast<std::int64_t>(table.row_bytes / unit), operation, report, stream);
}

/// The type whose numbers are added one by one: that of the parts of complex numbers.
syncyte_dtype_t added_type(syncyte_dtype_t dtype) {
  if (dtype == SYNCYTE_COMPLEX64) return SYNCYTE_FLOAT32;
  if (dtype == SYNCYTE_COMPLEX128) return SYNCYTE_FLOAT64;
  return dtype;
}

const char* name_of(device_operation operation) {
  switch (operation) {
    case device_operation::gather:
      return "gather";
    case device_operation::scatter:
      return "scatter";
    case device_operation::scatter_add:
      return "scatter_add";
    default:
      return "apply_gradients";
  }
}

}  // namespace

int lane_bits_for(std::int64_t elements) {
  constexpr int most = 5;
  return elements <= 1 ? 0 : std::min<int>(most, std::bit_width(static_cast<std::uint64_t>(elements - 1)));
}

std::int64_t threads_of(std::int64_t rows, int lane_bits) {
  constexpr std::int64_t most = std::int64_t{1} << 40;  // a kernel has fewer anyway
  return rows > most >> lane_bits ? most : rows << lane_bits;
}

void launch_kernel(int device, const std::string& kernel, const void* arguments, std::int64_t threads, void* stream) {
  memory::cuda_system().launch(device, kernel_image(), ("syncyte_" + kernel).c_str(), arguments, threads, stream);
}

device_index::device_index(const base::buffer& index, int device)
    : data_(index.data()), count_(index.elements()), is_wide_(is_wide_index(index)) {
  index.require_on(device).require_contiguous().require_aligned();
}

base::byte_range device_index::memory() const {
  return base::range_of(data_,
                        static_cast<std::size_t>(count_) * (is_wide_ ? sizeof(std::int64_t) : sizeof(std::int32_t)));
}

index_report::index_report(int device) : words_(memory::cuda_system().allocate_pinned(device, sizeof(bad_index))) {
  new (words_.get()) bad_index;
}

bool index_report::has_any() const {
  return static_cast<const volatile bad_index*>(data())->position != bad_index::none;
}

/// Kernels that still run may note a lower position meanwhile. One that has the lock writes the words.
std::optional<skipped_index> index_report::take() {
  static std::mutex taking;
  constexpr int most_looks = 1'000'000;  // a kernel needs microseconds, unless its device has failed
  auto& bad = *static_cast<bad_index*>(data());
  const std::lock_guard lock(taking);
  for (int look = 0; look < most_looks; ++look) {
    const std::atomic_ref noted(bad.position);
    std::uint64_t position = noted.load(std::memory_order_acquire);
    if (position == bad_index::none) return {};  // another thread has taken it
    const volatile bad_index& words = bad;
    const skipped_index found{static_cast<std::int64_t>(position), words.value, words.table_rows,
                              static_cast<device_operation>(std::uint32_t{words.operation})};
    std::atomic_thread_fence(std::memory_order_acquire);
    if (words.lock == 0 && noted.compare_exchange_strong(position, bad_index::none)) {
      bad.waits_end = 0;
      return found;
    }
    std::this_thread::yield();
  }
  return {};
}

namespace {

/// Reports that no operation uses, by device.
struct free_reports {
  std::mutex mutex;
  std::map<int, std::vector<std::unique_ptr<index_report>>> of;
};

free_reports& unused() {
  static auto* const all = new free_reports;  // leaked: threads may end after it
  return *all;
}

}  // namespace

own_report::own_report(int device) : device_(device) {
  const std::lock_guard lock(unused().mutex);
  auto& of_device = unused().of[device];
  if (of_device.empty()) {
    report_ = std::make_unique<index_report>(device);
  } else {
    report_ = std::move(of_device.back());
    of_device.pop_back();
  }
}

own_report::~own_report() {
  report_->take();  // of an operation that has failed
  const std::lock_guard lock(unused().mutex);
  unused().of[device_].push_back(std::move(report_));
}

void refuse_skipped(const skipped_index& skipped, const std::string& table) {
  const std::int64_t rows = skipped.table_rows;
  if (skipped.operation == device_operation::wait_for_lock)
    base::fail(SYNCYTE_ERR_PEER_DIED,
               "apply_gradients has not updated row {} of {}, and perhaps others: another process that updates it has "
               "not ended that; it may have died",
               skipped.value, table);
  base::refuse(
      SYNCYTE_ERR_INDEX,
      {.argument = "index",
       .axis = skipped.position,
       .value = fmt::to_string(skipped.value),
       .expected = fmt::format("0 to {}", rows - 1)},
      fmt::format("index {} at position {} is out of range; expected 0 to {} ({} rows); {} of {} has skipped it",
                  skipped.value, skipped.position, rows - 1, rows, name_of(skipped.operation), table));
}

void gather_rows(int device, const device_table& table, const device_index& index, std::byte* output,
                 const index_report& report, void* stream) {
  copy(device, "gather", table, index, output, device_operation::gather, report, stream);
}

void scatter_rows(int device, const device_table& table, const device_index& index, const std::byte* source,
                  const index_report& report, void* stream) {
  copy(device, "scatter", table, index, source, device_operation::scatter, report, stream);
}

bool can_add_on_devices(syncyte_dtype_t dtype) {
  switch (added_type(dtype)) {
    case SYNCYTE_INT32:
    case SYNCYTE_INT64:
    case SYNCYTE_FLOAT16:
    case SYNCYTE_BFLOAT16:
    case SYNCYTE_FLOAT32:
    case SYNCYTE_FLOAT64:
      return true;
    default:
      return false;
  }
}

void add_device_rows(int device, const device_table& table, const device_index& index, const std::byte* source,
                     syncyte_dtype_t dtype, const index_report& report, void* stream) {
  const syncyte_dtype_t added = added_type(dtype);
  const auto elements = static_cast<std::int64_t>(table.row_bytes / base::dtype_size(added));
  launch(device, fmt::format("add_{}", base::dtype_name(added)), table, index, source, elements,
         device_operation::scatter_add, report, stream);
}

void gather_converted_rows(int device, const device_table& table, const device_index& index, std::byte* output,
                           syncyte_dtype_t from, syncyte_dtype_t to, const index_report& report, void* stream) {
  if (from == to) return gather_rows(device, table, index, output, report, stream);
  const auto elements = static_cast<std::int64_t>(table.row_bytes / base::dtype_size(from));
  launch(device, fmt::format("{}_to_{}", base::dtype_name(from), base::dtype_name(to)), table, index, output, elements,
         device_operation::gather, report, stream);
}

}  // namespace syncyte::rows
