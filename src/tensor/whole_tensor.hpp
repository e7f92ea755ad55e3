#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "syncyte/tensor.h"
#include "tensor/layout.hpp"
#include "tensor/storage.hpp"

namespace syncyte::tensor {

/// What a caller asks for; checked inside the collective, so that one rank's mistake is every rank's error.
struct tensor_options {
  std::string name;
  std::int64_t local_rows = -1;
  syncyte_memory_t memory = SYNCYTE_MEMORY_HOST;
  std::int64_t* released = nullptr;  // of wrapped memory: set to 1 when it is no longer used
  std::optional<base::error> error;  // what the caller found wrong on this rank
};

/// One N-dimensional array over the memory of all ranks: see syncyte/tensor.h for what each operation promises. Rows of
/// this node are loaded and stored directly; others are fetched from their owners, each owner's in few requests.
/// Counters are not atomic with scatter_add of rows of 16 bytes or more: the one uses atomics, the other row locks.
class whole_tensor {
 public:
  /// Collective. `shape`: `ndim` extents, neither checked before.
  static std::shared_ptr<whole_tensor> create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                              std::int32_t ndim, const std::int64_t* shape,
                                              const tensor_options& options);
  static std::shared_ptr<whole_tensor> wrap(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* local,
                                            const tensor_options& options);

  /// Drops this rank's reference; memory is freed at a collective point. Local, without MPI.
  ~whole_tensor();
  whole_tensor(const whole_tensor&) = delete;
  whole_tensor& operator=(const whole_tensor&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const layout& description() const { return layout_; }

  syncyte_buffer_t describe() const;
  void rows(int rank, std::int64_t& first, std::int64_t& count) const;
  void owner(std::int64_t count, const std::int64_t* rows, std::int32_t* ranks) const;
  syncyte_buffer_t local_view() const;
  syncyte_buffer_t node_view(std::int64_t& first_row) const;

  void gather(const syncyte_buffer_t* index, const syncyte_buffer_t* output);
  void scatter(const syncyte_buffer_t* index, const syncyte_buffer_t* source);
  void scatter_add(const syncyte_buffer_t* index, const syncyte_buffer_t* source);

  void get_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* output);
  void put_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source);

  std::int64_t fetch_add(std::int64_t element, std::int64_t operand);
  std::int64_t compare_swap(std::int64_t element, std::int64_t expected, std::int64_t desired);
  std::int64_t load(std::int64_t element);
  void store(std::int64_t element, std::int64_t value);
  /// The value that compared true; throws SYNCYTE_ERR_TIMEOUT.
  std::int64_t wait(std::int64_t element, syncyte_compare_t compare, std::int64_t value, double timeout);

  void flush();
  void sync();  // collective

 private:
  struct row_request;
  struct counter;

  whole_tensor(std::shared_ptr<comm::communicator> comm, layout shape, std::shared_ptr<storage> held);

  row_request check_rows(const syncyte_buffer_t* index, const syncyte_buffer_t* packed, const char* packed_name) const;
  void gather_everywhere(const row_request& request);
  void scatter_everywhere(const row_request& request);
  void require_direct(const row_request& request) const;

  base::buffer check_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* packed,
                         const char* packed_name) const;
  template <class Direct, class Remote>
  void for_each_part(std::int64_t first, std::int64_t count, Direct&& direct, Remote&& remote) const;

  counter find_counter(std::int64_t element) const;
  std::int64_t number_for_counter(std::int64_t value, const char* argument) const;

  std::shared_ptr<comm::communicator> comm_;
  layout layout_;
  std::shared_ptr<storage> storage_;
  std::uint64_t id_;  // among the communicator's collective resources; the same on all ranks
};

}  // namespace syncyte::tensor
