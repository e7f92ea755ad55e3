#include "tensor/optimizer.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "comm/collective_call.hpp"
#include "rows/add_rows.hpp"
#include "tensor/update_target.hpp"

namespace syncyte::tensor {
namespace {

/// The object that serves other nodes' updates; it goes when all ranks have dropped the optimizer.
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

/// Distinct rows of one owner with their gradients.
struct row_gradients {
  std::span<const std::int64_t> rows;
  std::span<const std::byte* const> sums;
};

/// Updates in flight of rows that are not mapped here.
class update_transfer final : public window::transfer {
 public:
  update_transfer(std::shared_ptr<fabric::group> ranks, fabric::object_name object, const optim::step& by,
                  const row_updates& updates, rows::distinct_rows changed)
      : ranks_(std::move(ranks)), changed_(std::move(changed)) {
    const distribution::partition& partition = updates.shape().partition();
    row_gradients rest{changed_.rows(), changed_.sums()};
    while (!rest.rows.empty()) {
      const int owner = partition.owner(rest.rows.front());
      const auto end = std::ranges::lower_bound(rest.rows, partition.first(owner + 1));
      const auto count = static_cast<std::size_t>(end - rest.rows.begin());
      const row_gradients its{rest.rows.first(count), rest.sums.first(count)};
      rest = {rest.rows.subspan(count), rest.sums.subspan(count)};
      if (updates.is_mapped(its.rows.front()))
        mapped_.push_back(its);
      else
        add(owner,
            requests_.emplace_back(ranks_->rank_name(owner), object, by, updates.shape(), owner, its.rows, its.sums));
    }
  }

  /// Rows with which the transfer has nothing to do.
  const std::vector<row_gradients>& mapped() const { return mapped_; }
  bool is_empty() const { return requests_.empty(); }

  bool test() override { return running_->test(); }
  void wait() override { ranks_->wait("apply_gradients", *running_); }
  void drive() override { running_->drive(); }

 private:
  void add(int owner, update_requests& asked) {
    if (!running_) running_.reset(new fabric::exchange(ranks_->begin()));
    running_->add(ranks_->at(owner), asked);
  }

  std::shared_ptr<fabric::group> ranks_;
  rows::distinct_rows changed_;
  std::vector<row_gradients> mapped_;
  std::deque<update_requests> requests_;
  std::unique_ptr<fabric::exchange> running_;  // null without requests; destroyed before them
};

}  // namespace

std::shared_ptr<optimizer> optimizer::create(std::shared_ptr<comm::communicator> comm, const optim::rule& by,
                                             const layout& shape, std::shared_ptr<storage> values) {
  std::shared_ptr<optimizer> result(new optimizer(by));
  result->make_state(comm, shape);
  const bool has_other_nodes = values->remote() != nullptr;
  result->rows_ =
      std::make_shared<row_updates>(by, shape, std::move(values), result->state_ ? result->state_->held() : nullptr);
  if (has_other_nodes) result->open(comm);
  return result;
}

/// Makes tensors of the state, partitioned as the values, and of the number of steps.
void optimizer::make_state(const std::shared_ptr<comm::communicator>& comm, const layout& shape) {
  tensor_options options;
  options.label = "optimizer of " + shape.text();
  if (optim::counts_steps(rule_)) {
    constexpr std::int64_t one = 1;
    steps_ = whole_tensor::create(comm, SYNCYTE_INT64, 1, &one, options);
  }
  const std::int64_t extents[] = {shape.rows(), slots_of(rule_, shape), shape.row_elements()};
  if (extents[1] == 0) return;
  options.local_rows = shape.partition().count(comm->rank());
  state_ = whole_tensor::create(comm, optim::state_dtype(shape.dtype()), 3, extents, options);
}

/// Lets ranks of other nodes update rows of this rank, where there is a fabric.
void optimizer::open(const std::shared_ptr<comm::communicator>& comm) {
  comm::collective_call call(*comm, "tensor_set_optimizer", comm::collective_call::always_agrees);
  call.agree();
  ranks_ = fabric::group::of(call);
  if (!ranks_) return;
  name_ = ranks_->add_object(call, std::make_shared<update_target>(rows_, comm->rank()));
  reference_ = std::make_unique<comm::deferred_reference>(comm, std::make_shared<served_updates>(ranks_, name_));
}

std::unique_ptr<window::transfer> optimizer::start(rows::distinct_rows changed) {
  optim::rule by = rule_;
  by.lr = lr_.load(std::memory_order_relaxed);
  const optim::step step = optim::step_of(by, steps_ ? steps_->fetch_add(0, 1) + 1 : 1);
  if (ranks_) return update_everywhere(step, std::move(changed));
  rows_->update(step, changed.rows(), changed.sums());
  return nullptr;
}

/// Updates rows of all owners. Rows of other nodes are in flight while those of this node are updated.
std::unique_ptr<window::transfer> optimizer::update_everywhere(const optim::step& by, rows::distinct_rows changed) {
  auto started = std::make_unique<update_transfer>(ranks_, name_, by, *rows_, std::move(changed));
  for (const row_gradients& mapped : started->mapped()) rows_->update(by, mapped.rows, mapped.sums);
  if (started->is_empty()) return nullptr;
  return started;
}

}  // namespace syncyte::tensor
