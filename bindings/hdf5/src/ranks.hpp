#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "syncyte/comm.h"

namespace syncyte::hdf5 {

/// The ranks that save or load together. All functions but rank() and size() are collective; errors are thrown on all
/// ranks alike.
class ranks {
 public:
  explicit ranks(syncyte_comm_t comm);

  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return size_; }
  bool first() const { return rank_ == 0; }
  /// How much the ranks compare: 0 off, 1 on, 2 full (SYNCYTE_CHECK). Local.
  std::int32_t check_level() const;

  /// All ranks go on if all are well; otherwise all throw the same.
  void agree(syncyte_status_t status, const char* operation, const std::vector<syncyte_fact_t>& facts = {}) const;
  /// agree() on how `function` ends here. It may take long on one rank, which reads or writes a file: the watchdog lets
  /// the others wait.
  void together(const char* operation, const std::function<void()>& function) const;

  void broadcast(void* data, std::size_t bytes) const;
  /// Equal contributions of all ranks, in order of ranks.
  std::vector<std::int64_t> gather(const std::vector<std::int64_t>& values) const;
  /// Exclusive or over all ranks, in place.
  void combine(std::vector<std::uint32_t>& values) const;

 private:
  syncyte_comm_t comm_;
  std::int32_t rank_ = 0;
  std::int32_t size_ = 0;
};

}  // namespace syncyte::hdf5
