// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "memory/scratch.hpp"
#include "tensor/device_request.hpp"
#include "window/remote.hpp"

namespace syncyte::tensor {

/// A request for rows on devices of several nodes. The host reads its index: rows of this node are for kernels, those
/// of other nodes go through pinned memory, piece by piece. An operation has the tensor's rooms alone; it waits for the
/// thread's stream before it leaves them.
class device_exchange {
 public:
  /// Waits for the thread's stream; throws SYNCYTE_ERR_INDEX for an index out of range.
  device_exchange(const whole_tensor& of, const device_request& request);
  ~device_exchange();
  device_exchange(const device_exchange&) = delete;
  device_exchange& operator=(const device_exchange&) = delete;

  /// The request's rows, as the table of this node has them; kernels skip the others.
  rows::device_index here() const { return rows::device_index(here_); }
  /// Rows of other nodes, in the order of their positions.
  std::span<const std::int64_t> others() const { return others_; }

  /// Gets rows of other nodes into the packed memory. `name`: of the operation, in messages.
  void get(const char* name);
  /// Puts, or adds, packed rows to other nodes.
  void send(const char* name, window::row_access what);
  /// The packed rows of others(), in host memory.
  memory::scratch packed_of_others();

 private:
  using visit_piece = std::function<void(std::size_t first, const rows::device_index& places, std::byte* packed)>;

  void read_index();
  void for_each_piece(const visit_piece& visit);
  void gather_packed(const rows::device_index& places, std::byte* packed) const;
  void wait() const;
  rows::device_table packed_table() const;
  rows::row_index piece_of_others(std::size_t first, const rows::device_index& places) const;

  const whole_tensor& of_;
  const device_request& request_;
  const std::size_t row_bytes_;
  std::unique_lock<std::mutex> lock_;
  std::span<std::int64_t> here_;
  std::vector<std::int64_t> others_, places_;  // rows of other nodes, and their positions
};

}  // namespace syncyte::tensor
