#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "access/started.hpp"
#include "comm/collective_call.hpp"
#include "comm/communicator.hpp"
#include "comm/node_memory.hpp"
#include "syncyte/window.h"
#include "window/remote.hpp"

namespace syncyte::window {

struct part_header;

/// One-sided access to memory of other ranks: see syncyte/window.h for what each operation promises. Where a rank's
/// part is mapped here, put and get copy; other parts are reached through window::remote. Atomics of mapped parts use
/// the processor if all parts are mapped, or if window::remote's atomics are atomic with the processor's; otherwise the
/// atomics of all parts go through window::remote.
///
/// Errors of bounds and arguments are thrown before anything moves. Thread-safe where MPI is (MPI_THREAD_MULTIPLE, or
/// one thread at a time).
class window : public std::enable_shared_from_this<window> {
 public:
  /// Collective within `call`, in which attempts may have failed: ends in an agreement, so that it succeeds or throws
  /// on all ranks. Zeroed memory of `bytes` on this rank, starting at a multiple of 64 bytes, with a lock.
  static std::shared_ptr<window> create(comm::collective_call& call, std::size_t bytes, const std::string& name,
                                        const std::string& label = "");

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const std::string& name() const { return name_; }

  /// Bytes of a rank's part; throws SYNCYTE_ERR_ARGUMENT for a number that is not a rank.
  std::int64_t size(int rank) const;
  /// A rank's part if it is mapped here, otherwise null.
  std::byte* pointer(int rank) const;

  /// `offset` and `bytes` within the part; SYNCYTE_ERR_INDEX otherwise. The source of a put may be re-used on return;
  /// other ranks see its bytes after flush(). A get is complete on return.
  void put_bytes(int rank, std::int64_t offset, const void* source, std::size_t bytes);
  void get_bytes(int rank, std::int64_t offset, void* target, std::size_t bytes);

  /// Element-wise and atomic; `offset` is a multiple of the element's size.
  void accumulate(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* source, std::int64_t count,
                  syncyte_op_t op);
  void fetch_op(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* operand, syncyte_op_t op,
                void* previous);
  void compare_swap(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* expected, const void* desired,
                    void* previous);

  /// Started forms. Source, target and previous stay until the end; single elements that are read are copied. An
  /// access is done at the target when it has ended.
  std::unique_ptr<access::started> iput_bytes(int rank, std::int64_t offset, const void* source, std::size_t bytes);
  std::unique_ptr<access::started> iget_bytes(int rank, std::int64_t offset, void* target, std::size_t bytes);
  std::unique_ptr<access::started> iaccumulate(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* source,
                                               std::int64_t count, syncyte_op_t op);
  std::unique_ptr<access::started> ifetch_op(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* operand,
                                             syncyte_op_t op, void* previous);
  std::unique_ptr<access::started> icompare_swap(int rank, std::int64_t offset, syncyte_dtype_t dtype,
                                                 const void* expected, const void* desired, void* previous);

  void lock(int rank, syncyte_lock_t kind);
  void unlock(int rank);

  /// Completes this rank's blocking operations on a rank, or on all with -1.
  void flush(int rank);
  /// Collective: flushes on all ranks, and lets each see what all wrote.
  void fence();

 private:
  window(std::shared_ptr<comm::communicator> comm, std::string name);

  std::vector<std::uint64_t> share_sizes(std::size_t mine);

  void require_rank(int rank) const;
  void require_bounds(int rank, std::int64_t offset, std::size_t bytes) const;
  void require_element(int rank, std::int64_t offset, std::size_t element, std::size_t bytes) const;

  void require_apart_from_part(const std::byte* part, int rank, std::int64_t offset, const void* operand,
                               std::size_t bytes, const char* argument) const;

  std::byte* find_part(int rank) const;
  part_header& header_of(int rank) const;
  /// A mapped part whose elements are changed by the processor's atomics, otherwise null.
  std::byte* atomic_part(int rank) const;
  std::unique_ptr<access::started> started(std::unique_ptr<transfer> in_flight) const;

  /// put, get, combine and compare_swap in memory that is mapped here, with their checks. False: the part is remote.
  bool put_here(int rank, std::int64_t offset, const void* source, std::size_t bytes);
  bool get_here(int rank, std::int64_t offset, void* target, std::size_t bytes);
  bool combine_here(int rank, std::int64_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const std::byte* source,
                    std::byte* previous, std::int64_t count);
  bool compare_swap_here(int rank, std::int64_t offset, syncyte_dtype_t dtype, const void* expected,
                         const void* desired, void* previous);

  void acquire_exclusive(int rank);
  void acquire_shared(int rank);
  struct lock_wait;
  void wait_for_lock(lock_wait& wait, std::uint64_t seen, int rank) const;
  std::uint64_t swap_lock_word(int rank, std::uint64_t expected, std::uint64_t desired);

  std::shared_ptr<comm::communicator> comm_;
  std::string name_;
  std::int64_t serial_ = 0;  // equal on all ranks, for fence to tell windows apart
  std::shared_ptr<comm::node_memory> memory_;
  std::shared_ptr<const std::uint64_t[]> sizes_;         // of every rank's part, without its header; in memory_
  std::shared_ptr<remote> remote_;                       // null if all parts are mapped
  std::unique_ptr<comm::deferred_reference> reference_;  // of remote_
  std::mutex locks_mutex_;
  struct held_lock {
    int rank;
    syncyte_lock_t kind;
  };
  std::vector<held_lock> held_;  // locks that this rank holds or waits for
};

}  // namespace syncyte::window
