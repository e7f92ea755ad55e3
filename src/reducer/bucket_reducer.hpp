#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/calls.hpp"
#include "comm/communicator.hpp"
#include "comm/node_memory.hpp"

namespace syncyte::reducer {

/// The pieces that a reducer sums.
struct description {
  std::vector<syncyte_dtype_t> dtypes;  // of the pieces
  std::vector<std::int64_t> elements;
  double scale = 1;
  std::optional<base::error> error;  // what the caller found wrong on this rank
};

/// Pieces of memory that all ranks have alike and that are summed in place, round by round: in a round each rank brings
/// every piece, in any order, and goes on; when it has waited for the round all pieces hold the sums.
///
/// The ranks of a node reach each other's pieces in memory. A piece that all of them have brought is cut into chunks,
/// and whoever has time claims the next chunk, adds it up and writes the sum to all: a rank that has brought a piece
/// need not do anything more for the others to get it. Between nodes the first rank of each sends the node's sums.
class bucket_reducer {
 public:
  /// Collective. Facts: pieces, their dtypes and lengths, scale.
  static std::shared_ptr<bucket_reducer> create(std::shared_ptr<comm::communicator> comm, description asked);
  ~bucket_reducer();  // gives up the round, without waiting
  bucket_reducer(const bucket_reducer&) = delete;
  bucket_reducer& operator=(const bucket_reducer&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  int pieces() const { return static_cast<int>(description_.elements.size()); }
  syncyte_dtype_t dtype(int piece) const { return description_.dtypes[at(piece)]; }
  std::int64_t elements(int piece) const { return description_.elements[at(piece)]; }
  /// This rank's memory of a piece.
  std::byte* data(int piece) const { return part_of(comm_->node().rank) + offsets_[at(piece)]; }
  /// Throws SYNCYTE_ERR_ARGUMENT for a piece that does not exist.
  void require_piece(int piece) const;

  /// This rank has brought a piece, and does not touch it until the round has ended. Then progress().
  void start(int piece);
  /// Does what can be done without waiting.
  void progress();
  /// Waits until all ranks have brought all pieces and the sums are there. Throws SYNCYTE_ERR_ARGUMENT if this rank has
  /// not brought all, SYNCYTE_ERR_MISMATCH if a rank has given up the round, which is over then too.
  void wait();
  /// Brings all that is missing as it is: all ranks that wait(), this one too, get an error. Does not wait.
  void give_up();

 private:
  struct node_state;   // in memory of the node
  struct piece_state;  // one for each piece, behind it

  bucket_reducer(std::shared_ptr<comm::communicator> comm, description asked);
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  // The layout of the node's memory: the first rank's part begins with the state and ends, where there are several
  // nodes, with the node's sums.
  std::size_t state_bytes() const;
  std::size_t part_bytes() const;
  std::byte* part_of(int node_rank) const;
  std::byte* sum_of(int piece) const;
  node_state& state() const;
  piece_state& state_of(int piece) const;
  std::atomic<std::uint64_t>& refusal_of_round() const;

  bool has_one_node() const { return comm_->node().count == 1; }
  std::uint64_t chunks(int piece) const;
  void bring(int piece);
  void bring_rest();
  bool is_here(int piece) const;
  bool is_summed(int piece) const;
  bool has_ended() const;
  void work_on(int piece);
  void reduce_chunk(int piece, std::uint64_t chunk) const;
  void go_on();
  void exchange_sums();
  void end_round();
  void refuse();

  std::shared_ptr<comm::communicator> comm_;
  std::shared_ptr<comm::communicator> leaders_;  // the nodes' first ranks; null elsewhere, and where there is one node
  description description_;
  std::vector<std::size_t> offsets_;      // of the pieces in every part, and their end
  std::vector<std::size_t> sum_offsets_;  // of the pieces' sums, and their end
  std::shared_ptr<comm::node_memory> memory_;

  std::mutex mutex_;
  std::uint64_t round_ = 1;
  std::vector<bool> is_brought_;  // by this rank, in this round
  int first_open_ = 0;            // pieces before it are summed on this node
  // A leader's:
  std::optional<collectives::posted_calls> exchange_;
  int exchanged_ = 0;  // sums that have come from all nodes; beyond the last: what the nodes refuse
  bool is_exchanging_ = false;
  std::shared_ptr<std::int64_t> refusal_ = std::make_shared<std::int64_t>();  // of all nodes
};

}  // namespace syncyte::reducer
