// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "access/transfer.hpp"
#include "comm/deferred_frees.hpp"
#include "fabric/group.hpp"
#include "optim/update.hpp"
#include "rows/distinct_rows.hpp"
#include "tensor/device_row_updates.hpp"
#include "tensor/row_updates.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

/// The optimizer of a tensor: the state of all rows, and updates of rows of this node and others. Each rank has its own
/// hyperparameters.
class optimizer {
 public:
  /// Collective; `by` has been checked.
  static std::shared_ptr<optimizer> create(const whole_tensor& of, const optim::rule& by);

  void set_learning_rate(double lr) { lr_.store(lr, std::memory_order_relaxed); }

  /// Whether start() updates rows of other nodes.
  bool reaches_other_nodes() const { return ranks_ != nullptr; }

  /// Starts to update each row once. Rows that are mapped here are updated on return; all are, unless
  /// reaches_other_nodes(). The caller keeps the sums' source until the end. Null: all rows are updated.
  std::unique_ptr<access::transfer> start(rows::distinct_rows changed);

  /// Updates rows on devices, as device_row_updates::update(). Rows of other nodes are updated on return.
  void update_on_device(const whole_tensor& of, const device_request& request);

  /// The lock of row 0 on devices, for tests.
  std::byte* locks_on_devices() const { return device_rows_->locks(); }

  const std::shared_ptr<whole_tensor>& state() const { return state_; }  ///< null if there is none
  const std::shared_ptr<whole_tensor>& steps() const { return steps_; }  ///< null if updates are not counted

 private:
  explicit optimizer(const optim::rule& by) : rule_(by), lr_(by.lr) {}

  void make_state(const whole_tensor& of);
  void make_device_rows(const whole_tensor& of);
  optim::step next_step();
  void open(const std::shared_ptr<comm::communicator>& comm,
            const std::function<std::shared_ptr<fabric::target>()>& make);
  std::unique_ptr<access::transfer> update_everywhere(const optim::step& by, const layout& shape,
                                                      rows::distinct_rows changed);

  optim::rule rule_;
  std::atomic<double> lr_;
  std::shared_ptr<whole_tensor> state_;
  std::shared_ptr<whole_tensor> steps_;
  std::shared_ptr<row_updates> rows_;                // in host memory
  std::shared_ptr<device_row_updates> device_rows_;  // on devices
  std::shared_ptr<fabric::group> ranks_;             // null if all rows are mapped, or there is no fabric
  fabric::object_name name_{};
  std::unique_ptr<comm::deferred_reference> reference_;  // of the object that serves other nodes
};

/// Collective. `error`: the caller's error on this rank, if any, which all ranks get.
void set_optimizer(whole_tensor& of, const optim::rule& by, const std::optional<base::error>& error = {});
void set_learning_rate(const whole_tensor& of, double lr);

}  // namespace syncyte::tensor
