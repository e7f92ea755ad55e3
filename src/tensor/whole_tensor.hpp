#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "optim/update.hpp"
#include "syncyte/tensor.h"
#include "tensor/layout.hpp"
#include "tensor/storage.hpp"
#include "window/started_access.hpp"

namespace syncyte::tensor {

class optimizer;
struct staged_adds;

/// Options of a new tensor. They are checked inside the collective, so that all ranks get one rank's error.
struct tensor_options {
  std::string name;  // equal on all ranks
  std::int64_t local_rows = -1;
  syncyte_memory_t memory = SYNCYTE_MEMORY_HOST;
  bool row_locks = false;
  bool deterministic = false;
  std::int64_t* released = nullptr;  // set to 1 when wrapped memory is no longer used
  std::optional<base::error> error;  // the caller's error on this rank, if any
  std::string label = {};            // for messages, instead of the name; ranks may differ

  const std::string& text() const { return label.empty() ? name : label; }  // for messages
};

/// One N-dimensional array over the memory of all ranks; syncyte/tensor.h documents each operation. Rows of this node
/// are loaded and stored directly; other rows are transferred in a few requests to each owner. Counters are not atomic
/// with scatter_add of rows of 16 bytes or more: counters use atomics, scatter_add uses row locks.
class whole_tensor : public std::enable_shared_from_this<whole_tensor> {
 public:
  /// Collective. `shape` has `ndim` extents; create() checks both.
  static std::shared_ptr<whole_tensor> create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                              std::int32_t ndim, const std::int64_t* shape,
                                              const tensor_options& options);
  static std::shared_ptr<whole_tensor> wrap(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* local,
                                            const tensor_options& options);

  /// Drops this rank's reference; memory is freed at a collective point. Local, does not call MPI.
  ~whole_tensor();
  whole_tensor(const whole_tensor&) = delete;
  whole_tensor& operator=(const whole_tensor&) = delete;

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const layout& description() const { return layout_; }
  /// Memory of the rows.
  const std::shared_ptr<storage>& held() const { return storage_; }

  syncyte_buffer_t describe() const;
  void rows(int rank, std::int64_t& first, std::int64_t& count) const;
  void owner(base::array_argument<std::int64_t> rows, std::int32_t* ranks) const;
  syncyte_buffer_t local() const;
  void node(syncyte_buffer_t& view, std::int64_t& first_row) const;

  void gather(const syncyte_buffer_t* index, const syncyte_buffer_t* output);
  void scatter(const syncyte_buffer_t* index, const syncyte_buffer_t* source);
  void scatter_add(const syncyte_buffer_t* index, const syncyte_buffer_t* source);
  /// scatter(), then a change of an element of `counters` by SYNCYTE_OP_SUM or SYNCYTE_OP_REPLACE.
  void put_signal(const syncyte_buffer_t* index, const syncyte_buffer_t* source, whole_tensor& counters,
                  std::int64_t element, syncyte_op_t op, std::int64_t value);

  /// Collective. `error`: the caller's error on this rank, if any, which all ranks get.
  void set_optimizer(const optim::rule& by, const std::optional<base::error>& error = {});
  void set_learning_rate(double lr);
  void apply_gradients(const syncyte_buffer_t* index, const syncyte_buffer_t* gradients);
  std::shared_ptr<whole_tensor> optimizer_state() const;
  std::shared_ptr<whole_tensor> optimizer_steps() const;

  /// Started forms. Packed memory stays until the end.
  std::unique_ptr<window::started_access> igather(const syncyte_buffer_t* index, const syncyte_buffer_t* output);
  std::unique_ptr<window::started_access> iscatter(const syncyte_buffer_t* index, const syncyte_buffer_t* source);
  std::unique_ptr<window::started_access> iscatter_add(const syncyte_buffer_t* index, const syncyte_buffer_t* source);
  std::unique_ptr<window::started_access> iapply_gradients(const syncyte_buffer_t* index,
                                                           const syncyte_buffer_t* gradients);
  /// The counter changes without calls of test() or wait().
  std::unique_ptr<window::started_access> iput_signal(const syncyte_buffer_t* index, const syncyte_buffer_t* source,
                                                      const std::shared_ptr<whole_tensor>& counters,
                                                      std::int64_t element, syncyte_op_t op, std::int64_t value);

  void get_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* output);
  void put_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source);
  void accumulate_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source, syncyte_op_t op,
                      const void* alpha);
  /// Started forms. The caller's memory stays until the end of a get; others have read it on return.
  std::unique_ptr<window::started_access> iget_box(base::array_argument<std::int64_t> lower,
                                                   const syncyte_buffer_t* output);
  std::unique_ptr<window::started_access> iput_box(base::array_argument<std::int64_t> lower,
                                                   const syncyte_buffer_t* source);
  std::unique_ptr<window::started_access> iaccumulate_box(base::array_argument<std::int64_t> lower,
                                                          const syncyte_buffer_t* source, syncyte_op_t op,
                                                          const void* alpha);
  /// Returns the number of owners; the arrays may be null.
  std::int64_t locate_box(base::array_argument<std::int64_t> lower, base::array_argument<std::int64_t> extent,
                          std::int64_t capacity, std::int32_t* ranks, std::int64_t* first, std::int64_t* rows) const;

  std::int64_t fetch_add(std::int64_t element, std::int64_t operand);
  /// Started form; `previous` may be null. It stays until the end, and is written by the call that finds the end.
  std::unique_ptr<window::started_access> ifetch_add(std::int64_t element, std::int64_t operand,
                                                     std::int64_t* previous);
  std::int64_t compare_swap(std::int64_t element, std::int64_t expected, std::int64_t desired);
  /// Started form, as ifetch_add().
  std::unique_ptr<window::started_access> icompare_swap(std::int64_t element, std::int64_t expected,
                                                        std::int64_t desired, std::int64_t* previous);
  std::int64_t load(std::int64_t element);
  void store(std::int64_t element, std::int64_t value);
  /// Returns the value for which the comparison holds; throws SYNCYTE_ERR_TIMEOUT.
  std::int64_t wait(std::int64_t element, syncyte_compare_t compare, std::int64_t value, double timeout);

  /// Tensors made with tensor_options::row_locks.
  void lock(std::int64_t row);
  void unlock(std::int64_t row);

  void flush();
  void sync();  // collective

 private:
  struct row_request;
  class row_transfer;
  struct counter;
  enum class direction { from_tensor, to_tensor };

  whole_tensor(std::shared_ptr<comm::communicator> comm, layout shape, std::shared_ptr<storage> held);
  static std::shared_ptr<whole_tensor> create_rows(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                                   std::int32_t ndim, const std::int64_t* shape,
                                                   const tensor_options& options);
  static std::shared_ptr<whole_tensor> wrap_rows(std::shared_ptr<comm::communicator> comm,
                                                 const syncyte_buffer_t* local, const tensor_options& options);

  row_request check_rows(const syncyte_buffer_t* index, const syncyte_buffer_t* packed, const char* packed_name,
                         bool is_written) const;
  std::unique_ptr<window::transfer> start(const syncyte_buffer_t* index, const syncyte_buffer_t* packed,
                                          window::row_access what);
  void access_mapped(const row_request& request, window::row_access what);
  void access_mapped_at(const row_request& request, std::span<const std::int64_t> positions, window::row_access what);
  bool is_mapped(int owner) const;
  void require_mapped(const row_request& request) const;
  void require_apart(const row_request& request, bool is_get) const;
  void require_not_in(const row_request& request) const;
  void require_addable(std::int64_t first, std::int64_t end) const;
  [[noreturn]] void refuse_to_add(const char* argument, std::int64_t position, std::int64_t row) const;

  optimizer& require_optimizer() const;

  base::buffer check_box(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* packed,
                         const char* packed_name) const;
  void require_inside(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent) const;
  base::buffer check_copy(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* packed,
                          direction way) const;
  void require_apart(base::array_argument<std::int64_t> lower, const base::buffer& box, bool is_get) const;
  std::size_t piece_bytes_of(const base::buffer& box) const;
  void copy_all(base::array_argument<std::int64_t> lower, const syncyte_buffer_t& raw, const base::buffer& whole,
                direction way);
  std::unique_ptr<window::transfer> copy_box(base::array_argument<std::int64_t> lower, const base::buffer& user,
                                             direction way, std::size_t most_bytes);
  /// Whether additions wait for sync(): those of a deterministic tensor.
  bool stages(syncyte_op_t op) const { return staged_ != nullptr && op == SYNCYTE_OP_SUM; }
  base::buffer check_combining(base::array_argument<std::int64_t> lower, const syncyte_buffer_t* source,
                               syncyte_op_t op) const;
  std::unique_ptr<window::transfer> combine_box(base::array_argument<std::int64_t> lower, const base::buffer& user,
                                                syncyte_op_t op, const void* alpha, std::size_t most_bytes);

  std::unique_ptr<window::transfer> start_put_signal(const syncyte_buffer_t* index, const syncyte_buffer_t* source,
                                                     whole_tensor& counters, std::int64_t element, syncyte_op_t op,
                                                     std::int64_t value);
  std::unique_ptr<window::transfer> start_gradients(const syncyte_buffer_t* index, const syncyte_buffer_t* gradients);

  counter find_counter(std::int64_t element) const;
  std::unique_ptr<window::transfer> start_change(std::int64_t element, syncyte_op_t op, std::int64_t operand,
                                                 std::int64_t* previous);
  bool signal_after(window::transfer& rows, std::int64_t element, syncyte_op_t op, std::int64_t value);
  void require_signal(std::int64_t element, syncyte_op_t op, std::int64_t value) const;
  std::int64_t number_for_counter(std::int64_t value, const char* argument) const;

  void stage_rows(const row_request& request);
  struct taken_sums;
  void take_staged(taken_sums& to);
  void stage_again(taken_sums& taken);
  std::shared_ptr<whole_tensor> share_records(taken_sums& taken);
  void add_staged();

  void make_row_locks(const std::string& name);
  whole_tensor& require_row_lock(std::int64_t row) const;
  bool has_remote_lock(std::int64_t row) const;
  void require_lock_holder_alive(int holder, std::int64_t row) const;
  void wait_for_lock(whole_tensor& locks, std::int64_t row, std::int64_t mine, std::int64_t seen) const;

  std::shared_ptr<comm::communicator> comm_;
  layout layout_;
  std::shared_ptr<storage> storage_;
  void add_features(const tensor_options& options);

  std::unique_ptr<staged_adds> staged_;      // null unless tensor_options::deterministic changes the adds
  std::shared_ptr<whole_tensor> row_locks_;  // null without tensor_options::row_locks
  std::shared_ptr<optimizer> optimizer_;     // null if there is none
  std::uint64_t id_;                         // number among the communicator's collective resources, equal on all ranks
};

}  // namespace syncyte::tensor
