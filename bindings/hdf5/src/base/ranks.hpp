// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "syncyte/comm.hpp"

namespace syncyte::hdf5 {

/// The ranks that save or load together. All functions except rank(), size() and level() are collective; all ranks
/// throw the same error.
class ranks {
 public:
  explicit ranks(syncyte_comm_t comm) : comm_(comm), rank_(comm_->rank()), size_(comm_->size()) {}

  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return size_; }
  bool is_rank_0() const { return rank_ == 0; }
  check_level level() const { return comm_->level(); }

  /// Returns if no rank has an error and facts are equal; otherwise all ranks throw the same error.
  void agree(syncyte_status_t own, const char* operation, const std::vector<fact>& facts = {}) const;
  /// Runs `function` and agrees on its status. It may take long on a rank that reads or writes a file: the watchdog
  /// does not report the ranks that wait for it.
  void together(const char* operation, const std::function<void()>& function) const;

  void broadcast(void* data, std::size_t bytes) const;
  /// Broadcasts a string or a vector of bytes, whose size only rank 0 knows. `operation` is for errors.
  template <class Bytes>
  void broadcast_resized(const char* operation, Bytes& bytes) const {
    std::uint64_t size = bytes.size();
    broadcast(&size, sizeof size);
    together(operation, [&] { bytes.resize(size); });
    broadcast(bytes.data(), size);
  }
  /// Gathers the values of all ranks, in rank order; each rank gives the same number of values.
  std::vector<std::int64_t> gather(const std::vector<std::int64_t>& values) const;
  /// Replaces each value by the exclusive or of all ranks' values.
  void xor_over_ranks(std::vector<std::uint32_t>& values) const;

 private:
  borrowed<communicator> comm_;
  std::int32_t rank_;
  std::int32_t size_;
};

}  // namespace syncyte::hdf5
