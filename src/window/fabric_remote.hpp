// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "fabric/departure.hpp"
#include "fabric/group.hpp"
#include "window/fabric_requests.hpp"
#include "window/memory_target.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

/// Memory of all ranks of a communicator, reached by requests to their serving threads (memory_target). MPI is not
/// called. Each operation is done at its owners on return, so that flush() has nothing to wait for.
class fabric_remote final : public remote {
 public:
  /// `mine` serves the operations of memory_operation that are used. Collective; ends in an agreement.
  static std::shared_ptr<fabric_remote> create(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                               std::shared_ptr<fabric::target> mine);
  void free_collectively() noexcept override;

  bool is_atomic_with_processor() const override { return true; }
  bool can_add_rows() const override { return true; }

  void put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) override;
  std::unique_ptr<transfer> start_put(int rank, std::size_t offset, const std::byte* source,
                                      std::size_t bytes) override;
  std::unique_ptr<transfer> start_get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) override;
  std::unique_ptr<transfer> start_rows(const char* operation, row_access what, std::span<const remote_rows> owners,
                                       syncyte_op_t op) override;
  std::unique_ptr<transfer> start_combine(const char* operation, int rank, std::size_t offset, syncyte_dtype_t dtype,
                                          syncyte_op_t op, const std::byte* source, std::byte* previous,
                                          std::int64_t count) override;
  std::unique_ptr<transfer> start_compare_swap(const char* operation, int rank, std::size_t offset,
                                               syncyte_dtype_t dtype, const void* expected, const void* desired,
                                               void* previous) override;

  std::unique_ptr<fabric::departure_question> ask_departure(int rank) override {
    return std::make_unique<fabric::departure_question>(ranks_, rank);
  }

  access::last_step change_step(const char* operation, const element_change& what) override;

  void flush(int rank) override;
  void synchronize_memory() override;
  void serve_others() override {}

 private:
  fabric_remote(std::shared_ptr<fabric::group> ranks, fabric::object_name name)
      : ranks_(std::move(ranks)), name_(name) {}

  std::unique_ptr<fabric::request_source> row_requests(memory_operation what, const remote_rows& rows,
                                                       const std::byte* source, syncyte_op_t op,
                                                       std::size_t origin = 0) const;
  std::unique_ptr<transfer> start_bytes(const char* operation, memory_operation what, int rank, std::size_t offset,
                                        const std::byte* source, std::byte* target, std::size_t bytes);
  std::unique_ptr<fabric::request_source> element_change_requests(int rank, const element_requests::change& what) const;
  std::unique_ptr<transfer> start(const char* operation, int rank, std::unique_ptr<fabric::request_source> requests);

  std::shared_ptr<fabric::group> ranks_;
  const fabric::object_name name_;
};

}  // namespace syncyte::window
