// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

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

/// The kernel of a request, which uses the target's room. The serving thread does not wait for long: the request is
/// deferred while its kernel runs, and so are others, until it has been answered or its caller no longer asks.
class served_kernel {
 public:
  explicit served_kernel(int device);
  ~served_kernel();
  served_kernel(const served_kernel&) = delete;
  served_kernel& operator=(const served_kernel&) = delete;

  /// queue(stream) queues the kernel, finish() is called when it has ended. Returns false if that has to wait: call it
  /// again. `may_repeat`: the kernel changes nothing.
  template <class Queue, class Finish>
  bool run(fabric::served_request& request, bool may_repeat, Queue&& queue, Finish&& finish) {
    const caller_request key{request.header.sender, request.header.session, request.header.number};
    if (request.done > 0 && key != current_ && !may_repeat) return true;  // given up and asked for again: it has ended
    if (request.done == 0 || key != current_) {
      if (!is_free(key)) return false;
      queue(stream_);
      request.done = 1;
      start(key);
    }
    if (!ends_soon()) return false;
    current_ = {};
    std::forward<Finish>(finish)();
    return true;
  }

 private:
  struct caller_request {
    std::uint64_t process = 0;
    std::uint32_t session = 0;
    std::uint64_t number = 0;
    bool operator==(const caller_request&) const = default;
  };

  bool is_free(const caller_request& asking);
  void start(const caller_request& key);
  bool ends_soon();

  void* stream_;
  std::unique_ptr<memory::device_event> ended_;
  caller_request current_;                            // whose kernel uses the room
  std::chrono::steady_clock::time_point last_asked_;  // when it was last called for
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
  void queue(window::memory_operation what, const window::equal_items& items, void* stream) const;

  syncyte_dtype_t dtype_;
  std::size_t row_bytes_, local_bytes_;
  std::shared_ptr<device_storage> held_;
  request_room room_;
  served_kernel kernel_;  // destroyed first: it waits for the kernel
};

}  // namespace syncyte::tensor
