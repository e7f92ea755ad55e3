// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "base/buffer.hpp"
#include "base/overlap.hpp"
#include "tensor/device_storage.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

/// A checked list of rows with the packed memory that belongs to it, on the tensor's device.
struct device_request {
  /// `packed_name`: of the packed argument.
  device_request(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* packed,
                 const char* packed_name, bool is_written);

  /// Throws SYNCYTE_ERR_ARGUMENT if an array lies in memory that the operation changes, or reads. `name`: of that
  /// memory.
  void require_apart(base::byte_range memory, const char* name) const;

  /// Returns the report in which kernels note indices that they skip.
  const rows::index_report& report() const { return own_report_ ? own_report_->get() : held.report(); }
  /// Ends the operation, which was queued. Throws SYNCYTE_ERR_INDEX if it waits and has skipped an index.
  void end() const;

  device_storage& held;
  rows::device_index index;
  base::buffer packed;
  bool is_written;  ///< packed

 private:
  std::optional<rows::own_report> own_report_;  // if the operation waits
};

}  // namespace syncyte::tensor
