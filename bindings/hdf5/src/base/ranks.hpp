#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "syncyte/comm.h"

namespace syncyte::hdf5 {

/// A number that all ranks must share, with its name for the message.
struct fact {
  const char* name;
  std::int64_t value;
};

/// The ranks that save or load together. All functions except rank(), size() and check_level() are collective; all
/// ranks throw the same error.
class ranks {
 public:
  explicit ranks(syncyte_comm_t comm);

  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return size_; }
  bool is_rank_0() const { return rank_ == 0; }
  /// Check level (SYNCYTE_CHECK): 0 off, 1 on, 2 full. Local.
  std::int32_t check_level() const;

  /// Returns if no rank has an error and facts are equal; otherwise all ranks throw the same error.
  void agree(syncyte_status_t status, const char* operation, const std::vector<fact>& facts = {}) const;
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
  syncyte_comm_t comm_;
  std::int32_t rank_ = 0;
  std::int32_t size_ = 0;
};

}  // namespace syncyte::hdf5
