// A tensor's row locks, deterministic adds and optimizer, and the functions that make and end a tensor with them.

#include <bit>
#include <utility>

#include "comm/collective_call.hpp"
#include "tensor/optimizer.hpp"
#include "tensor/row_locks.hpp"
#include "tensor/staged_adds.hpp"
#include "tensor/whole_tensor.hpp"

namespace syncyte::tensor {

std::shared_ptr<whole_tensor> whole_tensor::create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype,
                                                   std::int32_t ndim, const std::int64_t* shape,
                                                   const tensor_options& options) {
  auto made = create_rows(std::move(comm), dtype, ndim, shape, options);
  made->add_features(options);
  return made;
}

std::shared_ptr<whole_tensor> whole_tensor::wrap(std::shared_ptr<comm::communicator> comm,
                                                 const syncyte_buffer_t* local, const tensor_options& options) {
  auto made = wrap_rows(std::move(comm), local, options);
  made->add_features(options);
  return made;
}

/// Makes what the options ask for beside the rows. Collective.
void whole_tensor::add_features(const tensor_options& options) {
  if (options.row_locks) row_locks_ = std::make_unique<tensor::row_locks>(*this, options.text());
  if (options.deterministic && rows::exact_rows::needs(layout_.dtype()))
    staged_ = std::make_unique<staged_adds>(layout_.dtype(), layout_.row_elements(), layout_.row_bytes());
}

whole_tensor::whole_tensor(std::shared_ptr<comm::communicator> comm, tensor::layout shape,
                           std::shared_ptr<storage> held)
    : comm_(std::move(comm)),
      layout_(std::move(shape)),
      storage_(std::move(held)),
      id_(comm_->deferred().add(storage_)) {}

whole_tensor::~whole_tensor() { comm_->deferred().drop(id_); }

row_locks& whole_tensor::require_row_locks() const {
  if (row_locks_ == nullptr) [[unlikely]]
    base::fail(SYNCYTE_ERR_UNSUPPORTED, "{} was made without options->row_locks; expected 1 for lock and unlock",
               layout_.text());
  return *row_locks_;
}

void whole_tensor::lock(std::int64_t row) { require_row_locks().lock(row); }

void whole_tensor::unlock(std::int64_t row) { require_row_locks().unlock(row); }

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
    call.fact("creation number of the tensor", creation_number());
    call.fact("optimizer", by.optimizer);
    call.fact("slots of state", optim::state_slots(by));
    call.agree();
  }
  optimizer_ = optimizer::create(comm_, by, layout_, storage_);
}

const std::shared_ptr<optimizer>& whole_tensor::optimizer() const {
  if (optimizer_ == nullptr) [[unlikely]]
    base::fail(SYNCYTE_ERR_UNSUPPORTED, "{} has no optimizer; call tensor_set_optimizer() first", layout_.text());
  return optimizer_;
}

void whole_tensor::set_learning_rate(double lr) {
  tensor::optimizer& changed = *optimizer();
  optim::check(optim::rule{.lr = lr});
  changed.set_learning_rate(lr);
}

std::shared_ptr<whole_tensor> whole_tensor::optimizer_state() const { return optimizer()->state(); }

std::shared_ptr<whole_tensor> whole_tensor::optimizer_steps() const { return optimizer()->steps(); }

void whole_tensor::sync() {
  if (staged_) staged_->sync(*this);
  sync_rows();
}

}  // namespace syncyte::tensor
