#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/partition.hpp"
#include "comm/communicator.hpp"
#include "kv/sampling.hpp"
#include "kv/slab.hpp"
#include "kv/table.hpp"
#include "kv/worker_meeting.hpp"
#include "syncyte/kv.h"

namespace syncyte::kv {

/// What a caller asks for; checked inside the collective, so that one rank's mistake is every rank's error.
struct store_options {
  std::string name;
  std::int32_t workers = 1;
  std::optional<base::error> error;  // what the caller found wrong on this rank
};

/// Parameters under keys, in memory that the ranks of a node share: see syncyte/kv.h for what each operation promises.
class store {
 public:
  /// Collective. `lengths`: `length_count` of them, neither checked before.
  static std::shared_ptr<store> create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                       std::int64_t keys, std::int64_t length_count, const std::int64_t* lengths,
                                       const store_options& options);

  /// Drops this rank's reference; memory is freed at a collective point. Local, without MPI.
  ~store();
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const std::string& text() const { return text_; }  // store "name", for messages
  table& values() { return table_; }
  worker_meeting& workers() { return workers_; }

  std::int64_t keys() const { return table_.layout().keys(); }
  /// These throw SYNCYTE_ERR_INDEX.
  void lengths(std::span<const std::int64_t> keys, std::int64_t* lengths) const;
  void owner(std::span<const std::int64_t> keys, std::int32_t* ranks) const;

  void set_sampling(const syncyte_kv_sampling_t& asked);
  /// Throws SYNCYTE_ERR_ARGUMENT where there is none.
  std::shared_ptr<sampling> find_sampling() const;

  enum class meeting { is_plain, begins_setup, ends_setup };

  /// All ranks meet; what any rank wrote before is seen by all after. Collective. `wrong`: what this rank found before.
  void meet(const char* operation, meeting what, const std::optional<base::error>& wrong);

 private:
  store(std::shared_ptr<comm::communicator> comm, std::string text, std::int32_t workers, std::shared_ptr<slab> held);

  std::shared_ptr<comm::communicator> comm_;
  std::string text_;
  base::partition parts_;
  table table_;
  worker_meeting workers_;
  std::uint64_t id_;  // among the communicator's collective resources; the same on all ranks
  bool is_in_setup_ = false;

  mutable std::mutex sampling_mutex_;
  std::shared_ptr<sampling> sampling_;
};

}  // namespace syncyte::kv
