#include "tensor/whole_tensor.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include "base/strided_copy.hpp"
#include "comm/collective.hpp"
#include "tensor/naming.hpp"

namespace syncyte::tensor {

whole_tensor::whole_tensor(std::shared_ptr<comm::communicator> comm, layout shape, std::shared_ptr<storage> held)
    : comm_(std::move(comm)),
      layout_(std::move(shape)),
      storage_(std::move(held)),
      id_(comm_->deferred().add(storage_)) {}

whole_tensor::~whole_tensor() { comm_->deferred().drop(id_); }

syncyte_buffer_t whole_tensor::describe() const { return base::make_buffer(nullptr, layout_.dtype(), layout_.shape()); }

void whole_tensor::rows(int rank, std::int64_t& first, std::int64_t& count) const {
  base::expect(rank >= 0 && rank < comm_->size(), SYNCYTE_ERR_ARGUMENT, "rank", rank, "0 to {}", comm_->size() - 1);
  first = layout_.partition().first(rank);
  count = layout_.partition().count(rank);
}

void whole_tensor::owner(base::array_argument<std::int64_t> rows, std::int32_t* ranks) const {
  const auto wanted = rows.with_results("rows", ranks, "ranks");
  rows::row_index(wanted).require_inside(layout_.rows());
  for (std::size_t i = 0; i < wanted.size(); ++i) ranks[i] = layout_.partition().owner(wanted[i]);
}

syncyte_buffer_t whole_tensor::local() const {
  std::vector<std::int64_t> shape(layout_.shape().begin(), layout_.shape().end());
  shape[0] = layout_.partition().count(comm_->rank());
  return base::make_buffer(storage_->local(), layout_.dtype(), shape);
}

void whole_tensor::node(syncyte_buffer_t& view, std::int64_t& first_row) const {
  const topology::node_group& node = comm_->node();
  base::require(storage_->node() != nullptr || comm_->size() == 1, SYNCYTE_ERR_UNSUPPORTED,
                "{} wraps memory that the ranks do not share; there is no view of the node's rows", layout_.text());
  std::vector<std::int64_t> shape(layout_.shape().begin(), layout_.shape().end());
  shape[0] = 0;
  for (const int member : node.members) shape[0] += layout_.partition().count(member);
  first_row = node.is_consecutive() ? layout_.partition().first(node.members.front()) : -1;
  view = base::make_buffer(storage_->node(), layout_.dtype(), shape);
}

void whole_tensor::flush() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (window::remote* const remote = storage_->remote()) remote->flush(-1);
}

void whole_tensor::sync() {
  comm::collective_call call(*comm_, "tensor_sync", comm::collective_call::lifecycle);
  call.attempt([&] {
    flush();
    if (window::remote* const remote = storage_->remote()) remote->synchronise_memory();
  });
  call.fact("the tensor", static_cast<std::int64_t>(id_));
  naming([&] { return layout_.text(); }, [&] { call.agree(); });  // no rank leaves before all have entered
  if (window::remote* const remote = storage_->remote()) remote->synchronise_memory();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace syncyte::tensor
