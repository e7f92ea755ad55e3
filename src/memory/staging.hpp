// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "memory/device_system.hpp"

namespace syncyte::memory {

/// Copies between a device and host memory that is not pinned, on the library's own stream. Two pinned pieces take
/// turns: the host fills or reads one while the device copies the other. Throws base::error. Not thread-safe.
class staging {
 public:
  explicit staging(int device);
  ~staging();
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;

  /// Queues a copy to the device. The source may be changed at once.
  void put(std::byte* target, const std::byte* source, std::size_t bytes);
  /// Waits for all that was put.
  void wait();
  /// Copies from the device, and gives the bytes piece by piece.
  void get(const std::byte* source, std::size_t bytes, const std::function<void(std::span<const std::byte>)>& use);

 private:
  static constexpr std::size_t piece_bytes = std::size_t{4} << 20;
  struct piece {
    pinned_memory memory;
    std::unique_ptr<device_event> copied;  // after its last copy
    std::size_t bytes = 0;
  };
  piece& free_piece();

  int device_;
  std::array<piece, 2> pieces_;
  std::size_t turn_ = 0;
};

}  // namespace syncyte::memory
