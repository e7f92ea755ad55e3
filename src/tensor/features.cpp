// SPDX-License-Identifier: BSD-3-Clause
// A tensor's row locks, deterministic adds and optimizer, and the functions that make and end a tensor with them.

#include <utility>

#include "tensor/row_locks.hpp"
#include "tensor/staged_adds.hpp"
#include "tensor/versions.hpp"
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

std::shared_ptr<whole_tensor> whole_tensor::create_by_layout(std::shared_ptr<comm::communicator> comm,
                                                             syncyte_dtype_t dtype,
                                                             const std::shared_ptr<collectives::shared_layout>& by,
                                                             std::int64_t slots, const tensor_options& options) {
  auto made = create_blocks(std::move(comm), dtype, by, slots, options);
  if (slots > 0) made->versions_ = tensor::versions::create(*made, slots, options.text());
  return made;
}

/// Makes what the options ask for beside the rows. Collective.
void whole_tensor::add_features(const tensor_options& options) {
  if (options.row_locks) row_locks_ = make_row_locks(*this, options.text());
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

const whole_tensor& whole_tensor::row_locks() const {
  if (row_locks_ == nullptr) [[unlikely]]
    base::fail(SYNCYTE_ERR_UNSUPPORTED, "{} was made without options->row_locks; expected 1 for lock and unlock",
               layout_.text());
  return *row_locks_;
}

const std::shared_ptr<optimizer>& whole_tensor::optimizer() const {
  if (optimizer_ == nullptr) [[unlikely]]
    base::fail(SYNCYTE_ERR_UNSUPPORTED, "{} has no optimizer; call tensor_set_optimizer() first", layout_.text());
  return optimizer_;
}

versions& whole_tensor::versions() const {
  if (versions_ == nullptr) [[unlikely]]
    base::fail(SYNCYTE_ERR_UNSUPPORTED,
               "{} was made without slots, which tensors by a layout in host memory may have; expected 1 or more for "
               "publish and take",
               layout_.text());
  return *versions_;
}

void whole_tensor::sync() {
  if (staged_) staged_->sync(*this);
  sync_rows();
}

}  // namespace syncyte::tensor
