// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/optimizer.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "access/item_requests.hpp"
#include "access/owners_transfer.hpp"
#include "comm/collective_call.hpp"
#include "rows/add_rows.hpp"
#include "tensor/counter.hpp"
#include "tensor/device_exchange.hpp"
#include "tensor/device_update_target.hpp"
#include "tensor/update_items.hpp"

namespace syncyte::tensor {
namespace {

/// The object that serves other nodes' updates; it is removed when all ranks have dropped the optimizer.
class served_updates final : public comm::collective_resource {
 public:
  served_updates(std::shared_ptr<fabric::group> ranks, fabric::object_name name)
      : ranks_(std::move(ranks)), name_(name) {}
  void free_collectively() noexcept override { ranks_->through().targets().remove(name_); }

 private:
  std::shared_ptr<fabric::group> ranks_;
  fabric::object_name name_;
};

/// Slots of a row's state. A row of fewer than rows::locked_row_bytes has no lock, so an update takes the lock of the
/// state's row, which gets more slots where it would be too short to have one.
std::int64_t slots_of(const optim::rule& by, const layout& shape) {
  const std::int64_t needed = optim::state_slots(by);
  const auto bytes = static_cast<std::int64_t>(base::dtype_size(optim::state_dtype(shape.dtype())));
  const std::int64_t slot = shape.row_elements() * bytes;
  if (shape.row_bytes() >= rows::locked_row_bytes || slot == 0) return needed;
  return std::max<std::int64_t>(needed, (static_cast<std::int64_t>(rows::locked_row_bytes) + slot - 1) / slot);
}

/// Options of tensors that an optimizer needs beside the values.
tensor_options options_beside(const whole_tensor& of, const char* what) {
  tensor_options options;
  options.label = fmt::format("{} of {}", what, of.layout().text());
  options.local_rows = of.layout().partition().count(of.comm()->rank());
  if (const device_storage* const there = of.held()->on_device()) {
    options.memory = SYNCYTE_MEMORY_CUDA;
    options.device = there->device();
  }
  return options;
}

/// Calls visit(owner, its rows and their gradients) for each owner of sorted rows.
template <class Visit>
void for_each_owner(const distribution::partition& partition, const rows::distinct_rows& changed, Visit&& visit) {
  row_gradients rest{changed.rows(), changed.sums()};
  while (!rest.rows.empty()) {
    const int owner = partition.owner(rest.rows.front());
    const auto end = std::ranges::lower_bound(rest.rows, partition.first(owner + 1));
    const auto count = static_cast<std::size_t>(end - rest.rows.begin());
    visit(owner, row_gradients{rest.rows.first(count), rest.sums.first(count)});
    rest = {rest.rows.subspan(count), rest.sums.subspan(count)};
  }
}

}  // namespace

std::shared_ptr<optimizer> optimizer::create(const whole_tensor& of, const optim::rule& by) {
  std::shared_ptr<optimizer> result(new optimizer(by));
  result->make_state(of);
  const int rank = of.comm()->rank();
  if (of.held()->on_device() != nullptr)
    result->make_device_rows(of);
  else
    result->rows_ =
        std::make_shared<row_updates>(by, of.layout(), of.held(), result->state_ ? result->state_->held() : nullptr);
  if (of.held()->remote() == nullptr) return result;
  result->open(of.comm(), [&]() -> std::shared_ptr<fabric::target> {
    if (result->rows_) return std::make_shared<update_target>(result->rows_, rank);
    return std::make_shared<device_update_target>(of.layout(), rank, result->device_rows_);
  });
  return result;
}

void set_optimizer(whole_tensor& of, const optim::rule& by, const std::optional<base::error>& error) {
  const layout& shape = of.layout();
  {
    comm::collective_call call(*of.comm(), "tensor_set_optimizer", comm::collective_call::always_agrees);
    call.attempt([&] {
      if (error) throw *error;
      shape.require_rows();
      if (const device_storage* const there = of.held()->on_device()) there->require_atomics();
      optim::check(shape.dtype());
      optim::check(by);
      base::require(std::bit_cast<std::uintptr_t>(of.held()->local()) % shape.element_bytes() == 0,
                    SYNCYTE_ERR_UNSUPPORTED, "{}: the wrapped memory is not aligned to its elements", shape.text());
    });
    call.fact("creation number of the tensor", of.creation_number());
    call.fact("optimizer", by.optimizer);
    call.fact("slots of state", optim::state_slots(by));
    call.agree();
  }
  of.set_optimizer(optimizer::create(of, by));
}

void set_learning_rate(const whole_tensor& of, double lr) {
  optimizer& changed = *of.optimizer();
  optim::check(optim::rule{.lr = lr});
  changed.set_learning_rate(lr);
}

/// Makes tensors of the state, partitioned as the values, and of the number of steps, which is in host memory.
void optimizer::make_state(const whole_tensor& of) {
  const layout& shape = of.layout();
  if (optim::counts_steps(rule_)) {
    tensor_options options;
    options.label = "optimizer of " + shape.text();
    constexpr std::int64_t one = 1;
    steps_ = whole_tensor::create(of.comm(), SYNCYTE_INT64, 1, &one, options);
  }
  const std::int64_t extents[] = {shape.rows(), slots_of(rule_, shape), shape.row_elements()};
  if (extents[1] == 0) return;
  state_ =
      whole_tensor::create(of.comm(), optim::state_dtype(shape.dtype()), 3, extents, options_beside(of, "optimizer"));
}

void optimizer::make_device_rows(const whole_tensor& of) {
  const std::int64_t rows = of.layout().rows();
  const auto locks =
      whole_tensor::create(of.comm(), SYNCYTE_INT32, 1, &rows, options_beside(of, "locks of the optimizer"));
  device_rows_ = std::make_shared<device_row_updates>(rule_, of.layout(), of.held(), state_ ? state_->held() : nullptr,
                                                      locks->held());
}

/// Lets ranks of other nodes update rows of this rank, where there is a fabric.
void optimizer::open(const std::shared_ptr<comm::communicator>& comm,
                     const std::function<std::shared_ptr<fabric::target>()>& make) {
  comm::collective_call call(*comm, "tensor_set_optimizer", comm::collective_call::always_agrees);
  std::shared_ptr<fabric::target> target;
  call.attempt([&] { target = make(); });
  call.agree();
  ranks_ = fabric::group::of(call);
  if (!ranks_) return;
  name_ = ranks_->add_object(call, std::move(target));
  reference_ = std::make_unique<comm::deferred_reference>(comm, std::make_shared<served_updates>(ranks_, name_));
}

optim::step optimizer::next_step() {
  optim::rule by = rule_;
  by.lr = lr_.load(std::memory_order_relaxed);
  return optim::step_of(by, steps_ ? counter(*steps_, 0, "tensor_apply_gradients").fetch(SYNCYTE_OP_SUM, 1) + 1 : 1);
}

std::unique_ptr<access::transfer> optimizer::start(rows::distinct_rows changed) {
  const optim::step step = next_step();
  if (ranks_) return update_everywhere(step, rows_->shape(), std::move(changed));
  rows_->update(step, changed.rows(), changed.sums());
  return nullptr;
}

void optimizer::update_on_device(const whole_tensor& of, const device_request& request) {
  if (!ranks_) return device_rows_->update(request, request.index, next_step());
  device_exchange exchange(of, request);
  const optim::step step = next_step();
  device_rows_->update(request, exchange.here(), step);
  const layout& shape = of.layout();
  if (exchange.others().empty() || shape.row_bytes() == 0) return;
  const memory::scratch gradients = exchange.packed_of_others();
  rows::distinct_rows changed(rows::row_index(exchange.others()), gradients.data(), shape.row_bytes(), shape.dtype());
  if (const auto rest = update_everywhere(step, shape, std::move(changed))) rest->wait();
}

/// Updates rows of all owners, or those of other nodes of a tensor on devices. Rows of other nodes are in flight while
/// those of this node are updated.
std::unique_ptr<access::transfer> optimizer::update_everywhere(const optim::step& by, const layout& shape,
                                                               rows::distinct_rows given) {
  const auto changed = std::make_shared<const rows::distinct_rows>(std::move(given));
  std::unique_ptr<access::owners_transfer> others;
  std::vector<row_gradients> mapped;
  for_each_owner(shape.partition(), *changed, [&](int owner, const row_gradients& its) {
    if (rows_ && rows_->is_mapped(its.rows.front())) return mapped.push_back(its);
    if (!others) others = std::make_unique<access::owners_transfer>(ranks_, "tensor_apply_gradients");
    update_items items(ranks_->rank_name(owner), by, shape, owner, changed, its);
    others->add(owner, std::make_unique<access::item_requests<update_items>>(name_, std::move(items)));
  });
  for (const row_gradients& each : mapped) rows_->update(by, each.rows, each.sums);
  return others;
}

}  // namespace syncyte::tensor
