// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/buffer.hpp"
#include "base/overlap.hpp"
#include "memory/device_system.hpp"

namespace syncyte::rows {

/// Rows 0 to rows - 1 in device memory, each of contiguous bytes, at equal distances.
struct device_table {
  std::byte* data;
  std::int64_t rows;
  std::size_t row_bytes;
  std::int64_t stride;  ///< bytes from one row to the next
};

/// A caller's list of row numbers in device memory: int32 or int64, contiguous, aligned. Its values are unknown to the
/// host.
class device_index {
 public:
  /// Checks type, place and layout; throws SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE or SYNCYTE_ERR_ARGUMENT.
  device_index(const base::buffer& index, int device);
  /// A list in host memory that devices access. Numbers that are not rows of the table stand for rows elsewhere:
  /// operations skip them without a report.
  explicit device_index(std::span<const std::int64_t> rows)
      : data_(rows.data()), count_(static_cast<std::int64_t>(rows.size())), is_wide_(true), may_lack_rows_(true) {}

  const void* data() const { return data_; }
  std::int64_t count() const { return count_; }
  bool is_wide() const { return is_wide_; }
  bool may_lack_rows() const { return may_lack_rows_; }
  base::byte_range memory() const;

 private:
  const void* data_;
  std::int64_t count_;
  bool is_wide_;
  bool may_lack_rows_ = false;
};

/// Operations on rows; the values are for messages.
enum class device_operation : std::uint32_t { gather, scatter, scatter_add, update, wait_for_lock };

/// An index outside its table, which a kernel has skipped; or a row whose lock it has waited for in vain.
struct skipped_index {
  std::int64_t position;
  std::int64_t value;
  std::int64_t table_rows;
  device_operation operation;
};

/// Memory in which kernels note the first index that they skip. Kernels of several streams may share it.
class index_report {
 public:
  explicit index_report(int device);

  void* data() const { return words_.get(); }
  /// Returns the memory in which kernels note an index of a list that they skip; null if they do not note it.
  void* noting(const device_index& of) const { return of.may_lack_rows() ? nullptr : data(); }
  /// Whether a kernel has noted an index.
  bool has_any() const;
  /// Returns what kernels have noted since the last call. They may still run: the next call returns what they note.
  std::optional<skipped_index> take();

 private:
  memory::pinned_memory words_;
};

/// A report of one operation, which its thread waits for. Its memory is used again.
class own_report {
 public:
  explicit own_report(int device);
  ~own_report();
  own_report(const own_report&) = delete;
  own_report& operator=(const own_report&) = delete;

  index_report& get() const { return *report_; }

 private:
  int device_;
  std::unique_ptr<index_report> report_;
};

/// Throws SYNCYTE_ERR_INDEX for a skipped index. `table` is its name.
[[noreturn]] void refuse_skipped(const skipped_index& skipped, const std::string& table);

// All are queued on a stream of the device, and return before the rows are copied. Indices outside the table are
// skipped, and the first is noted in the report. They throw SYNCYTE_ERR_UNSUPPORTED where kernels cannot run.

/// output[i] = table[index[i]], for packed rows.
void gather_rows(int device, const device_table& table, const device_index& index, std::byte* output,
                 const index_report& report, void* stream);

/// table[index[i]] = source[i]. If a row repeats, one of its sources stays.
void scatter_rows(int device, const device_table& table, const device_index& index, const std::byte* source,
                  const index_report& report, void* stream);

/// Whether add_device_rows() adds numbers of the type.
bool can_add_on_devices(syncyte_dtype_t dtype);

/// table[index[i]] += source[i], each number atomically with those of other devices. Sums of floating-point numbers
/// depend on the order.
void add_device_rows(int device, const device_table& table, const device_index& index, const std::byte* source,
                     syncyte_dtype_t dtype, const index_report& report, void* stream);

/// gather_rows() that converts, between types of can_convert().
void gather_converted_rows(int device, const device_table& table, const device_index& index, std::byte* output,
                           syncyte_dtype_t from, syncyte_dtype_t to, const index_report& report, void* stream);

}  // namespace syncyte::rows
