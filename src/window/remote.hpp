#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "comm/collective_call.hpp"
#include "comm/deferred_frees.hpp"
#include "syncyte/base.h"
#include "window/remote_mutex.hpp"

namespace syncyte::window {

/// Memory of all ranks of a communicator, reached by MPI RMA, in one passive epoch from creation to free. Offsets are
/// in bytes from the start of a rank's memory and are not checked here. Errors of MPI are thrown as SYNCYTE_ERR_MPI.
class remote final : public comm::collective_resource {
 public:
  /// Collective; ends in an agreement. Throws SYNCYTE_ERR_UNSUPPORTED on all ranks where this MPI has no one-sided
  /// communication between them. `owner` keeps the memory and is held until the window is freed.
  static std::shared_ptr<remote> create(comm::collective_call& call, std::span<std::byte> mine,
                                        std::shared_ptr<void> owner);

  ~remote() override = default;
  void free_collectively() noexcept override;

  void put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes);
  void get(int rank, std::size_t offset, std::byte* target, std::size_t bytes);
  /// Many pieces of `bytes` each, packed one behind the other here; in few requests, not one per piece. Pieces of a put
  /// do not overlap.
  void put_rows(int rank, std::span<const std::size_t> offsets, std::size_t bytes, const std::byte* packed);
  void get_rows(int rank, std::span<const std::size_t> offsets, std::size_t bytes, std::byte* packed);

  /// Atomic with each other, element by element (a piece of 1 MiB at a time); done at the target on return. `previous`
  /// gets the old elements unless it is null.
  void combine(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const std::byte* source,
               std::byte* previous, std::int64_t count);
  void compare_swap(int rank, std::size_t offset, syncyte_dtype_t dtype, const void* expected, const void* desired,
                    void* previous);

  void flush(int rank);  // -1: all
  /// Makes what MPI has written visible to loads, and stores visible to MPI.
  void synchronise_memory();

 private:
  remote(const comm::communicator& comm, std::shared_ptr<void> owner) : mutex_(comm), owner_(std::move(owner)) {}

  template <class Step>
  void change(int rank, std::size_t offset, std::byte* elements, std::size_t bytes, const void* previous,
              bool needs_old, Step&& step);

  MPI_Win window_ = MPI_WIN_NULL;
  remote_mutex mutex_;  // of atomics
  std::shared_ptr<void> owner_;
};

}  // namespace syncyte::window
