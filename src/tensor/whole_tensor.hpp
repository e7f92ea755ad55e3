// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "syncyte/tensor.h"
#include "tensor/layout.hpp"
#include "tensor/storage.hpp"

namespace syncyte::tensor {

class optimizer;
class staged_adds;
class versions;

/// Options of a new tensor. They are checked inside the collective, so that all ranks get one rank's error.
struct tensor_options {
  std::string name = {};  // equal on all ranks
  std::int64_t local_rows = -1;
  syncyte_memory_t memory = SYNCYTE_MEMORY_HOST;
  int device = -1;  // of this rank; -1: that of the thread's context
  bool row_locks = false;
  bool deterministic = false;
  std::int64_t* released = nullptr;       // set to 1 when wrapped memory is no longer used
  std::optional<base::error> error = {};  // the caller's error on this rank, if any
  const char* operation = nullptr;        // another name of the collective, for messages
  std::string label = {};                 // for messages, instead of the name; ranks may differ

  const std::string& text() const { return label.empty() ? name : label; }  // for messages
};

/// Arguments of whole_tensor::relocate() on this rank.
struct relocation_target {
  std::shared_ptr<collectives::shared_layout> by = {};  // null on ranks without it; on all: rows
  std::int64_t local_rows = -1;                         // as in tensor_options
  std::optional<base::error> error = {};                // the caller's error on this rank, if any
};

/// One N-dimensional array over the memory of all ranks; syncyte/tensor.h documents each operation. Operations that
/// have a started form are classes (row_operations, box_operations, counter_operations, apply_gradients) whose two
/// forms are access::run and access::start. Others on counters, row locks and the optimizer are functions beside them.
class whole_tensor {
 public:
  /// Collective. `shape` has `ndim` extents; create() checks both.
  static std::shared_ptr<whole_tensor> create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                              std::int32_t ndim, const std::int64_t* shape,
                                              const tensor_options& options);
  static std::shared_ptr<whole_tensor> wrap(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* local,
                                            const tensor_options& options);
  /// `by`: null on ranks that open what the others create; `dtype` and `slots` are ignored there.
  static std::shared_ptr<whole_tensor> create_by_layout(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                                        const std::shared_ptr<collectives::shared_layout>& by,
                                                        std::int64_t slots, const tensor_options& options);

  /// Drops this rank's reference; memory is freed at a collective point. Local, does not call MPI.
  ~whole_tensor();
  whole_tensor(const whole_tensor&) = delete;
  whole_tensor& operator=(const whole_tensor&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const tensor::layout& layout() const { return layout_; }
  /// Memory of the rows.
  const std::shared_ptr<storage>& held() const { return storage_; }
  /// Additions that wait for sync(); null unless tensor_options::deterministic changes them.
  staged_adds* staged() const { return staged_.get(); }
  /// Number among the communicator's collective resources, equal on all ranks.
  std::int64_t creation_number() const { return static_cast<std::int64_t>(id_); }
  /// Whether this process loads and stores an owner's rows, of which there is at least one.
  bool is_mapped(int owner) const;

  /// Throws SYNCYTE_ERR_UNSUPPORTED, naming the operation, if the tensor is in device memory.
  void require_host(const char* operation) const;

  syncyte_buffer_t describe() const;
  void rows(int rank, std::int64_t& first, std::int64_t& count) const;
  void owner(base::array_argument<std::int64_t> rows, std::int32_t* ranks) const;
  /// Returns the number of owners of a box; the arrays may be null.
  std::int64_t locate_box(base::array_argument<std::int64_t> lower, base::array_argument<std::int64_t> extent,
                          std::int64_t capacity, std::int32_t* ranks, std::int64_t* first, std::int64_t* rows) const;
  syncyte_buffer_t local() const;
  /// Lets a device of this process access the node's rows.
  void allow_device(int device) const;
  void node(syncyte_buffer_t& view, std::int64_t& first_row) const;

  /// The locks of a tensor made with tensor_options::row_locks; otherwise throws SYNCYTE_ERR_UNSUPPORTED.
  const whole_tensor& row_locks() const;
  /// Throws SYNCYTE_ERR_UNSUPPORTED if there is none.
  const std::shared_ptr<tensor::optimizer>& optimizer() const;
  void set_optimizer(std::shared_ptr<tensor::optimizer> by) { optimizer_ = std::move(by); }

  /// Throws SYNCYTE_ERR_UNSUPPORTED if it has no slots.
  tensor::versions& versions() const;

  /// Cuts the tensor anew; its memory is another one afterwards. Collective. No other thread uses the tensor.
  void relocate(const relocation_target& to);

  void flush() const;
  void sync();  // collective

 private:
  whole_tensor(std::shared_ptr<comm::communicator> comm, tensor::layout shape, std::shared_ptr<storage> held);
  static std::shared_ptr<whole_tensor> create_rows(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                                   std::int32_t ndim, const std::int64_t* shape,
                                                   const tensor_options& options);
  static std::shared_ptr<whole_tensor> wrap_rows(std::shared_ptr<comm::communicator> comm,
                                                 const syncyte_buffer_t* local, const tensor_options& options);
  /// Sets `slots` where the rank opens what the others create.
  static std::shared_ptr<whole_tensor> create_blocks(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                                     const std::shared_ptr<collectives::shared_layout>& by,
                                                     std::int64_t& slots, const tensor_options& options);
  syncyte_buffer_t describe_at(std::byte* data, std::span<const std::int64_t> shape) const;
  void check_target(const relocation_target& to) const;
  void check_layout(const relocation_target& to, std::span<const std::int32_t> have) const;
  std::shared_ptr<whole_tensor> with_other_parts(const relocation_target& to) const;
  void add_features(const tensor_options& options);
  void sync_rows();

  std::shared_ptr<comm::communicator> comm_;
  tensor::layout layout_;
  std::shared_ptr<storage> storage_;
  std::unique_ptr<staged_adds> staged_;
  std::shared_ptr<whole_tensor> row_locks_;       // null without tensor_options::row_locks
  std::shared_ptr<tensor::optimizer> optimizer_;  // null if there is none
  std::unique_ptr<tensor::versions> versions_;    // null without slots
  std::uint64_t id_;
};

}  // namespace syncyte::tensor
