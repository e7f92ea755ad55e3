// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/target.hpp"
#include "memory/device_system.hpp"
#include "tensor/device_storage.hpp"
#include "window/memory_target.hpp"

namespace syncyte::tensor {

/// Host memory that devices access, with room for the items of a request.
class request_room {
 public:
  explicit request_room(int device);

  std::span<std::int64_t> list(std::size_t count) const {
    return {reinterpret_cast<std::int64_t*>(memory_.get() + fabric::most_payload), count};
  }
  std::byte* data() const { return memory_.get(); }

 private:
  memory::pinned_memory memory_;
};

/// This rank's rows on devices, at which it serves other nodes' requests: those of window::memory_operation that read,
/// write and add, by kernels on the library's own stream.
class device_target final : public fabric::target {
 public:
  device_target(const layout& shape, int rank, std::shared_ptr<device_storage> held);

  bool serve(fabric::served_request& request, fabric::answer& reply) override;

 private:
  struct rows_of_items {
    rows::device_table table;
    rows::device_index index;
  };
  rows_of_items find(const window::equal_items& items) const;
  void wait() const;

  syncyte_dtype_t dtype_;
  std::size_t row_bytes_, local_bytes_;
  std::shared_ptr<device_storage> held_;
  request_room room_;
};

}  // namespace syncyte::tensor
