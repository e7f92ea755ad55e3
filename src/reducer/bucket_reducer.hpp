// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/mover.hpp"
#include "comm/communicator.hpp"
#include "comm/node_memory.hpp"

namespace syncyte::reducer {

/// The buckets that a reducer sums.
struct description {
  std::vector<syncyte_dtype_t> dtypes;  // of the buckets
  std::vector<std::int64_t> elements;
  double scale = 1;
  std::optional<base::error> error;  // what the caller found wrong on this rank
};

/// Buckets of memory that all ranks sum in place, round by round: in a round each rank starts every bucket, in any
/// order, without waiting; after wait() all buckets hold the sums.
///
/// The ranks of a node reach each other's buckets in memory. A bucket that all of them have started is cut into chunks;
/// any rank in a function of the reducer claims the next chunk, adds it up and writes the sum to all. A rank that has
/// started a bucket need not call again for the others to finish it. Between nodes the first rank of each sends the
/// node's sums.
class bucket_reducer {
 public:
  /// Collective. Facts: buckets, their dtypes and lengths, scale.
  static std::shared_ptr<bucket_reducer> create(std::shared_ptr<comm::communicator> comm, description asked);
  ~bucket_reducer();  // gives up the round, without waiting
  bucket_reducer(const bucket_reducer&) = delete;
  bucket_reducer& operator=(const bucket_reducer&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  int buckets() const { return static_cast<int>(description_.elements.size()); }
  syncyte_dtype_t dtype(int bucket) const { return description_.dtypes[at(bucket)]; }
  std::int64_t elements(int bucket) const { return description_.elements[at(bucket)]; }
  /// This rank's memory of a bucket.
  std::byte* data(int bucket) const { return part_of(comm_->node().rank) + offsets_[at(bucket)]; }
  /// Throws SYNCYTE_ERR_ARGUMENT for a bucket that does not exist.
  void require_bucket(int bucket) const;

  /// This rank's bucket is full; the rank does not touch it until the round has ended. Then progress().
  void start(int bucket);
  /// Works on the sums of the buckets that are ready, without waiting.
  void progress();
  /// Waits until all ranks have started all buckets and the sums are there. Throws SYNCYTE_ERR_ARGUMENT if this rank
  /// has not started all, SYNCYTE_ERR_MISMATCH if a rank has given up the round, which then ends on all.
  void wait();
  /// Starts the remaining buckets as they are; wait() throws on all ranks, this one too. Does not wait.
  void give_up();

 private:
  struct node_state;    // in memory of the node
  struct bucket_state;  // one for each bucket, behind it

  bucket_reducer(std::shared_ptr<comm::communicator> comm, description asked);
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  // The layout of the node's memory: the first rank's part begins with the state and ends, where there are several
  // nodes, with the node's sums.
  std::size_t state_bytes() const;
  std::size_t part_bytes() const;
  std::byte* part_of(int node_rank) const;
  std::byte* sum_of(int bucket) const;
  node_state& state() const;
  bucket_state& state_of(int bucket) const;
  std::atomic<std::uint64_t>& refusal_of_round() const;

  bool has_one_node() const { return comm_->node().count == 1; }
  std::uint64_t chunks(int bucket) const;
  void mark_ready(int bucket);
  void mark_rest_ready();
  bool is_ready_on_node(int bucket) const;
  bool is_summed(int bucket) const;
  bool has_ended() const;
  void work_on(int bucket);
  void reduce_chunk(int bucket, std::uint64_t chunk) const;
  void make_progress();
  void exchange_sums();
  void end_round();
  void refuse_round();

  std::shared_ptr<comm::communicator> comm_;
  std::shared_ptr<comm::communicator> leaders_;  // the nodes' first ranks; null elsewhere, and where there is one node
  description description_;
  std::vector<std::size_t> offsets_;      // of the buckets in every part, and their end
  std::vector<std::size_t> sum_offsets_;  // of the buckets' sums, and their end
  std::shared_ptr<comm::node_memory> memory_;

  std::mutex mutex_;
  std::uint64_t round_ = 1;
  std::vector<bool> is_ready_;  // started by this rank in this round
  int first_open_ = 0;          // buckets before it are summed on this node
  // A leader's:
  std::optional<collectives::mover> exchange_;
  int exchanged_ = 0;  // sums that have come from all nodes; beyond the last: what the nodes refuse
  bool is_exchanging_ = false;
  std::shared_ptr<std::int64_t> refusal_ = std::make_shared<std::int64_t>();  // of all nodes
};

}  // namespace syncyte::reducer
