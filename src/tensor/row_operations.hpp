// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "access/transfer.hpp"
#include "tensor/row_request.hpp"
#include "window/remote.hpp"

namespace syncyte::tensor {

/// The differences between operations on rows.
struct row_kind {
  const char* name;  ///< for messages
  window::row_access what;
  const char* packed;  ///< name of the packed argument
  bool writes_packed;

  /// Runs the operation on a tensor in device memory.
  void (*run_on_device)(const whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* packed);
  /// Run the operation on all rows of a request, or on the rows at some positions. All of them are mapped.
  void (*run)(const whole_tensor& of, const row_request& request);
  void (*run_some)(const whole_tensor& of, const row_request& request, std::span<const std::int64_t> positions);
};

/// An operation on rows, whose two forms are access::run and access::start. Rows that this process has mapped are done
/// by begin(), rows of other owners in the transfer that it returns. On devices there is the blocking form alone.
class row_operation {
 public:
  std::unique_ptr<access::transfer> begin();
  void run();

 protected:
  row_operation(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* packed, const row_kind& what);

  bool is_on_device() const { return !request_; }

  whole_tensor& of_;
  std::optional<row_request> request_;  // none on devices, which check theirs

 private:
  std::unique_ptr<access::transfer> begin_boxes();

  const row_kind& kind_;
  const syncyte_buffer_t *index_, *packed_;  // as the caller gave them
};

class gather final : public row_operation {
 public:
  gather(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* output);
};

class scatter final : public row_operation {
 public:
  scatter(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source);
};

class scatter_add final : public row_operation {
 public:
  scatter_add(whole_tensor& of, const syncyte_buffer_t* index, const syncyte_buffer_t* source);
  std::unique_ptr<access::transfer> begin();
  void run();
};

}  // namespace syncyte::tensor
