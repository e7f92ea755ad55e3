// Optimizers of tensors: set_optimizer, apply_gradients and what belongs to them.

#include <bit>
#include <utility>

#include "comm/collective_call.hpp"
#include "rows/distinct_rows.hpp"
#include "tensor/optimizer.hpp"
#include "tensor/row_request.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

void whole_tensor::set_optimizer(const optim::rule& by, const std::optional<base::error>& error) {
  {
    comm::collective_call call(*comm_, "tensor_set_optimizer", comm::collective_call::always_agrees);
    call.attempt([&] {
      if (error) throw *error;
      optim::check(layout_.dtype());
      optim::check(by);
      base::require(std::bit_cast<std::uintptr_t>(storage_->local()) % layout_.element_bytes() == 0,
                    SYNCYTE_ERR_UNSUPPORTED, "{}: the wrapped memory is not aligned to its elements", layout_.text());
    });
    call.fact("creation number of the tensor", static_cast<std::int64_t>(id_));
    call.fact("optimizer", by.optimizer);
    call.fact("slots of state", optim::state_slots(by));
    call.agree();
  }
  optimizer_ = optimizer::create(comm_, by, layout_, storage_);
}

optimizer& whole_tensor::require_optimizer() const {
  base::require(optimizer_ != nullptr, SYNCYTE_ERR_UNSUPPORTED,
                "{} has no optimizer; call tensor_set_optimizer() first", layout_.text());
  return *optimizer_;
}

void whole_tensor::set_learning_rate(double lr) {
  optimizer& changed = require_optimizer();
  optim::check(optim::rule{.lr = lr});
  changed.set_learning_rate(lr);
}

/// Null: all is done.
std::unique_ptr<window::transfer> whole_tensor::start_gradients(const syncyte_buffer_t* index,
                                                                const syncyte_buffer_t* gradients) {
  optimizer& by = require_optimizer();
  const row_request request = check_rows(index, gradients, "gradients", false);
  if (layout_.row_elements() == 0) return nullptr;
  if (!by.reaches_other_nodes()) require_mapped(request);
  require_apart(request, false);
  if (by.state()) by.state()->require_not_in(request);
  return by.start(rows::distinct_rows(request.index, request.packed, layout_.row_bytes(), layout_.dtype()));
}

void whole_tensor::apply_gradients(const syncyte_buffer_t* index, const syncyte_buffer_t* gradients) {
  if (const auto started = start_gradients(index, gradients)) started->wait();
}

std::unique_ptr<window::started_access> whole_tensor::iapply_gradients(const syncyte_buffer_t* index,
                                                                       const syncyte_buffer_t* gradients) {
  // The object that serves the requests is kept by the optimizer, which the tensor may drop meanwhile.
  auto both = std::make_shared<std::pair<std::shared_ptr<whole_tensor>, std::shared_ptr<optimizer>>>(shared_from_this(),
                                                                                                     optimizer_);
  return std::make_unique<window::started_access>(std::move(both), start_gradients(index, gradients));
}

std::shared_ptr<whole_tensor> whole_tensor::optimizer_state() const { return require_optimizer().state(); }

std::shared_ptr<whole_tensor> whole_tensor::optimizer_steps() const { return require_optimizer().steps(); }

}  // namespace syncyte::tensor
