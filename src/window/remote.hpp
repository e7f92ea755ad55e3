// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "access/transfer.hpp"
#include "comm/deferred_frees.hpp"
#include "fabric/departure.hpp"
#include "syncyte/base.h"

namespace syncyte::window {

/// Pieces of one rank's memory that all have the same size, such as rows, and their copies here. Pieces at different
/// offsets do not overlap. The caller keeps lists and memory until the end.
struct remote_rows {
  int rank;
  std::size_t row_bytes;
  std::span<const std::size_t> offsets;  ///< of the rows in the rank's memory, in bytes
  std::byte* packed;                     ///< the rows here; only a get changes them
  std::span<const std::int64_t> places;  ///< row i is the row places[i] of `packed`; empty: row i is the row i

  std::byte* here(std::size_t i) const { return packed + inset(i); }
  std::size_t inset(std::size_t i) const {
    return (places.empty() ? i : static_cast<std::size_t>(places[i])) * row_bytes;
  }
};

using access::transfer;

/// Combines rows, or pieces of rows, with this rank's memory for another rank: the packed rows[i] of `bytes` each with
/// the memory at offsets[i]. A long row may come in parts, one in a call. Any thread may call it. Returns the number of
/// rows that it combined, from the first; fewer than all if another row's lock was held for about 100 us: call
/// it again for the rest. Throws SYNCYTE_ERR_PEER_DIED for a damaged row; rows before it have been combined.
using row_adder = std::function<std::size_t(std::span<const std::size_t> offsets, std::size_t bytes,
                                            const std::byte* rows, syncyte_op_t op)>;

enum class row_access { get, put, add };

/// A change of one element of 4 or 8 bytes.
struct element_change {
  int rank;
  std::size_t offset;
  syncyte_dtype_t dtype;
  syncyte_op_t op;
  alignas(std::int64_t) std::array<std::byte, sizeof(std::int64_t)> operand;
};

/// Memory of all ranks of a communicator, also of ranks on other nodes. Offsets are in bytes from the start of a rank's
/// memory and are not checked here. Every rank may be accessed, this rank and ranks whose memory is mapped here too.
class remote : public comm::collective_resource {
 public:
  /// Whether combine() and compare_swap() are atomic with the processor's atomics, for elements that have them
  /// (atomics::has_atomics()). If not, ranks that map the memory use combine() and compare_swap() as well.
  virtual bool is_atomic_with_processor() const = 0;
  /// Whether rows can be added.
  virtual bool can_add_rows() const = 0;

  /// Puts bytes. `source` may be re-used on return. Others see the bytes after flush().
  virtual void put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) = 0;

  // Each access has a started form. The caller keeps local memory, except operands that are copied, until the transfer
  // has ended: the access has then taken effect at the target. Null: it has taken effect. Accesses in flight at one
  // time take effect in any order. The form without start_ waits. `operation`: its name in messages, a string literal.

  virtual std::unique_ptr<transfer> start_put(int rank, std::size_t offset, const std::byte* source,
                                              std::size_t bytes) = 0;

  virtual std::unique_ptr<transfer> start_get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) = 0;
  void get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) {
    finish(start_get(rank, offset, target, bytes));
  }

  /// Gets, puts or combines the rows of all owners, whose transfers may overlap; a rank may be there several times. If
  /// a row of a put repeats, its last copy stays. `op` is of an add: it combines element by element, by the row_adder
  /// that the owner gave to open_remote(), and loses no addition; throws SYNCYTE_ERR_UNSUPPORTED unless can_add_rows().
  /// The lists stay until the end too.
  virtual std::unique_ptr<transfer> start_rows(const char* operation, row_access what,
                                               std::span<const remote_rows> owners, syncyte_op_t op) = 0;

  /// Atomic with each other, element by element. `previous` gets the old elements unless it is null. A single element
  /// of `source` is copied.
  virtual std::unique_ptr<transfer> start_combine(const char* operation, int rank, std::size_t offset,
                                                  syncyte_dtype_t dtype, syncyte_op_t op, const std::byte* source,
                                                  std::byte* previous, std::int64_t count) = 0;
  void combine(const char* operation, int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op,
               const std::byte* source, std::byte* previous, std::int64_t count) {
    finish(start_combine(operation, rank, offset, dtype, op, source, previous, count));
  }

  /// `expected` and `desired` are copied.
  virtual std::unique_ptr<transfer> start_compare_swap(const char* operation, int rank, std::size_t offset,
                                                       syncyte_dtype_t dtype, const void* expected, const void* desired,
                                                       void* previous) = 0;
  void compare_swap(const char* operation, int rank, std::size_t offset, syncyte_dtype_t dtype, const void* expected,
                    const void* desired, void* previous) {
    finish(start_compare_swap(operation, rank, offset, dtype, expected, desired, previous));
  }

  /// Asks a rank of another node whether it has come to finalize; null if that is impossible.
  virtual std::unique_ptr<fabric::departure_question> ask_departure(int) { return nullptr; }

  /// The change of an element as a last step, for add_last_step() of a transfer, which may be another object's.
  /// `operation`: name of the whole. If the step has no source, the change cannot be one: make it after the transfer.
  virtual access::last_step change_step(const char* operation, const element_change&) {
    return {operation, nullptr, nullptr};
  }

  virtual void flush(int rank) = 0;  // -1: all
  /// Makes other ranks' puts visible to loads, and this rank's stores visible to other ranks.
  virtual void synchronize_memory() = 0;

  /// Lets other ranks' accesses to this rank's memory proceed. Call it in loops that poll combine() or compare_swap().
  virtual void serve_others() = 0;

 private:
  static void finish(const std::unique_ptr<transfer>& started) {
    if (started) started->wait();
  }
};

}  // namespace syncyte::window
