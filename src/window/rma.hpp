// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "comm/collective_call.hpp"
#include "window/remote.hpp"
#include "window/remote_mutex.hpp"

namespace syncyte::window {

/// Access by MPI RMA, in one passive epoch from creation to free. Errors of MPI are thrown as SYNCYTE_ERR_MPI.
class rma final : public remote {
 public:
  /// Collective; ends in an agreement. Throws SYNCYTE_ERR_UNSUPPORTED on all ranks where this MPI has no one-sided
  /// communication between them.
  static std::shared_ptr<rma> create(comm::collective_call& call, std::span<std::byte> mine,
                                     std::shared_ptr<void> owner);

  ~rma() override = default;
  void free_collectively() noexcept override;

  bool is_atomic_with_processor() const override { return false; }
  bool can_add_rows() const override { return false; }

  void put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) override;

  // Started forms do the access at once.
  std::unique_ptr<transfer> start_put(int rank, std::size_t offset, const std::byte* source,
                                      std::size_t bytes) override;
  std::unique_ptr<transfer> start_get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) override;
  /// Transfers rows in few requests, not one per row. Cannot add.
  std::unique_ptr<transfer> start_rows(const char* operation, row_access what, std::span<const remote_rows> owners,
                                       syncyte_op_t op) override;
  /// Changes elements under a mutex of the target, a piece of 1 MiB at a time: see rma.cpp.
  std::unique_ptr<transfer> start_combine(const char* operation, int rank, std::size_t offset, syncyte_dtype_t dtype,
                                          syncyte_op_t op, const std::byte* source, std::byte* previous,
                                          std::int64_t count) override;
  std::unique_ptr<transfer> start_compare_swap(const char* operation, int rank, std::size_t offset,
                                               syncyte_dtype_t dtype, const void* expected, const void* desired,
                                               void* previous) override;

  void flush(int rank) override;
  void synchronize_memory() override;
  void serve_others() override;

 private:
  rma(const comm::communicator& comm, std::shared_ptr<void> owner) : mutex_(comm), owner_(std::move(owner)) {}

  void get_rows(std::span<const remote_rows> owners);
  void put_rows(std::span<const remote_rows> owners);
  template <class Step>
  void change(int rank, std::size_t offset, std::byte* elements, std::size_t bytes, const void* previous,
              bool needs_old, Step&& step);

  MPI_Win window_ = MPI_WIN_NULL;
  remote_mutex mutex_;  // of atomics
  std::shared_ptr<void> owner_;
};

}  // namespace syncyte::window
