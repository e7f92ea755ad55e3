// SPDX-License-Identifier: BSD-3-Clause
// The functions of syncyte/torch.hpp: adjoints of linear ones, values of the others, errors.

#include <syncyte/torch.hpp>

// The header above compiles alone.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace syncyte;

class torch_operators : public ::testing::Test {
 protected:
  torch_operators() { at::manual_seed(1 + rank_); }

  static at::Tensor random(at::IntArrayRef shape) { return at::randn(shape, at::kDouble); }

  /// Checks that the sum over ranks of <f(x), w> equals the one of <x, f'(w)>, for random x and w.
  template <typename Function>
  void expect_adjoint(at::IntArrayRef shape, Function function) const {
    const at::Tensor input = random(shape).requires_grad_();
    const at::Tensor result = function(input);
    const at::Tensor cotangent = at::randn_like(result);
    const at::Tensor product = (result * cotangent).sum();
    product.backward();
    const double forward = world_.allreduce_value(product.item<double>());
    const double backward = world_.allreduce_value((input * input.grad()).sum().item<double>());
    EXPECT_NEAR(forward, backward, 1e-10);
    EXPECT_NE(forward, 0);
  }

  /// Checks words of the message of an error on all ranks.
  template <typename Error, typename Call>
  static void expect_error(const std::string& words, Call call) {
    try {
      call();
    } catch (const Error& thrown) {
      const std::string message = thrown.what_without_backtrace();
      EXPECT_NE(message.find(words), std::string::npos) << "no '" << words << "' in: " << message;
      return;
    }
    ADD_FAILURE() << "expected: " << words;
  }

  std::int64_t right() const { return (rank_ + 1) % size_; }
  std::int64_t left() const { return (rank_ + size_ - 1) % size_; }

  const communicator world_ = communicator::world();
  const std::int64_t rank_ = world_.rank(), size_ = world_.size();
  const std::vector<std::int64_t> counts_ = [this] {  // 1, 2, 3
    std::vector<std::int64_t> result(static_cast<std::size_t>(size_));
    std::iota(result.begin(), result.end(), 1);
    return result;
  }();
  const std::int64_t whole_ = size_ * (size_ + 1) / 2;
};

TEST_F(torch_operators, adjoints_of_reductions) {
  expect_adjoint({2, 3}, [&](const at::Tensor& x) { return torch_ops::allreduce(x, world_); });
  expect_adjoint({2, 3}, [&](const at::Tensor& x) { return torch_ops::reduce(x, world_, size_ - 1); });
  expect_adjoint({2, 3}, [&](const at::Tensor& x) { return torch_ops::bcast(x, world_, size_ - 1); });
  expect_adjoint({2, 3}, [&](const at::Tensor& x) { return torch_ops::scan(x, world_, op::sum, true); });
  expect_adjoint({2, 3}, [&](const at::Tensor& x) { return torch_ops::exscan(x, world_); });
  expect_adjoint({whole_, 2},
                 [&](const at::Tensor& x) { return torch_ops::reduce_scatter_along(x, world_, 0, rank_ + 1); });
  expect_adjoint({whole_, 2},
                 [&](const at::Tensor& x) { return torch_ops::reduce_scatter_along(x, world_, 0, counts_); });
}

TEST_F(torch_operators, adjoints_of_parts_along_an_axis) {
  expect_adjoint({2, rank_ + 1}, [&](const at::Tensor& x) {
    const at::Tensor joined = torch_ops::allgather_along(x, world_, -1);
    EXPECT_EQ(joined.sizes().vec(), (std::vector<std::int64_t>{2, whole_}));
    return joined;
  });
  expect_adjoint({2, rank_ + 1},
                 [&](const at::Tensor& x) { return torch_ops::allgather_along(x, world_, 1, counts_); });
  expect_adjoint({2, rank_ + 1}, [&](const at::Tensor& x) { return torch_ops::gather_along(x, world_, 1, 0); });
  expect_adjoint({2, rank_ + 1},
                 [&](const at::Tensor& x) { return torch_ops::gather_along(x, world_, 1, size_ - 1, counts_); });
  const std::array shape{std::int64_t{2}, whole_};
  expect_adjoint(shape, [&](const at::Tensor& x) { return torch_ops::scatter_along(x, world_, 1, 0, rank_ + 1); });
  expect_adjoint(shape,
                 [&](const at::Tensor& x) { return torch_ops::scatter_along(x, world_, 1, 0, rank_ + 1, shape); });
  expect_adjoint(shape, [&](const at::Tensor& x) { return torch_ops::scatter_along(x, world_, 1, 0, counts_, shape); });
  expect_adjoint({rank_ + 1, whole_},
                 [&](const at::Tensor& x) { return torch_ops::alltoall_along(x, world_, 0, 1, rank_ + 1); });
  expect_adjoint({rank_ + 1, whole_},
                 [&](const at::Tensor& x) { return torch_ops::alltoall_along(x, world_, 0, 1, counts_, counts_); });
}

TEST_F(torch_operators, adjoints_of_layouts) {
  const at::Tensor part = random({2, rank_ + 1}).requires_grad_();
  const at::Tensor whole = torch_ops::relocate(part, world_, 1, counts_);
  EXPECT_TRUE(at::equal(torch_ops::relocate(whole, world_, std::nullopt, {}, 1, counts_), part));
  const at::Tensor copied = at::ones({2}, at::kDouble).requires_grad_();
  (torch_ops::parallel_copy(copied, world_) * static_cast<double>(rank_)).sum().backward();
  EXPECT_DOUBLE_EQ(copied.grad()[0].item<double>(), static_cast<double>(size_ * (size_ - 1) / 2));
}

TEST_F(torch_operators, identity_as_adjoint) {
  const at::Tensor input = random({3}).requires_grad_();
  torch_ops::allreduce(input, world_, op::sum, true).sum().backward();
  EXPECT_TRUE(at::equal(input.grad(), at::ones_like(input)));
}

TEST_F(torch_operators, in_place) {
  const at::Tensor values = at::full({2}, rank_ + 1);
  torch_ops::bcast_(values, world_, size_ - 1);
  EXPECT_EQ(values[0].item<std::int64_t>(), size_);
  torch_ops::reduce_(values, world_, 0, op::max);
  EXPECT_EQ(values[1].item<std::int64_t>(), rank_ == 0 ? size_ : 0);
  const at::Tensor input = rank_ == 0 ? random({2}).requires_grad_() : random({2});
  torch_ops::allreduce(torch_ops::mixed_grad(input), world_).sum().backward();
  EXPECT_EQ(input.grad().defined(), rank_ == 0);
}

TEST_F(torch_operators, adjoints_of_started_forms) {
  using torch_ops::wait;
  expect_adjoint({3}, [&](const at::Tensor& x) { return wait(torch_ops::iallreduce(x, world_)); });
  expect_adjoint({3}, [&](const at::Tensor& x) { return wait(torch_ops::ibcast(x, world_, 0)); });
  expect_adjoint({rank_ + 1, 2},
                 [&](const at::Tensor& x) { return wait(torch_ops::iallgather_along(x, world_, 0, counts_)); });
  expect_adjoint({whole_, 2},
                 [&](const at::Tensor& x) { return wait(torch_ops::ireduce_scatter_along(x, world_, 0, counts_)); });
  expect_adjoint({rank_ + 1, whole_}, [&](const at::Tensor& x) {
    return wait(torch_ops::ialltoall_along(x, world_, 0, 1, counts_, counts_));
  });
}

TEST_F(torch_operators, adjoints_of_messages) {
  expect_adjoint(
      {3}, [&](const at::Tensor& x) { return torch_ops::sendrecv(x, world_, right(), at::empty_like(x), left()); });
  expect_adjoint({3}, [&](const at::Tensor& x) {
    const at::Tensor sent = torch_ops::isend(x, world_, right(), 7);
    const at::Tensor like = torch_ops::join_dummies(at::empty({3}, at::kDouble), {sent});
    const std::vector<at::Tensor> tickets{torch_ops::irecv(like, world_, left(), 7), sent};
    while (!torch_ops::test_message(tickets[0])) {
    }
    const auto results = torch_ops::wait_all(tickets);
    return torch_ops::join_dummies(results[0], {results[1]});
  });
  expect_adjoint({3}, [&](const at::Tensor& x) {
    const torch_ops::ordered order;
    at::Tensor received = at::zeros_like(x);
    if (rank_ == 0) torch_ops::send(x, world_, 1);
    if (rank_ == 1) received = torch_ops::recv(at::empty_like(x), world_, 0);
    torch_ops::barrier(world_);
    return order.join(x + received);
  });
}

TEST_F(torch_operators, adjoints_of_neighbours) {
  const cartesian_communicator ring(world_, {0}, {true});
  expect_adjoint({2, 3}, [&](const at::Tensor& x) { return torch_ops::neighbor_alltoall(x, ring); });
  const std::array<std::int64_t, 1> shape{6}, width{1};
  const auto ghosts = halo::of<double>(ring, shape, width, width);
  expect_adjoint(shape, [&](const at::Tensor& x) { return torch_ops::halo_exchange(x, ghosts); });
  expect_adjoint(shape, [&](const at::Tensor& x) { return torch_ops::halo_exchange(x, ghosts, true); });
}

TEST_F(torch_operators, whole_tensors) {
  const std::array<std::int64_t, 2> shape{2 * size_, 3};
  const tensor whole(world_, dtype::float64, shape), companion(world_, dtype::float64, shape),
      scratch(world_, dtype::float64, shape);
  const auto rows_of = [](const tensor& each) {
    return at::from_blob(each.local<double>().data(), {2, 3}, at::kDouble);
  };
  const at::Tensor local = rows_of(whole), gradients = rows_of(companion);
  const at::Tensor index = at::tensor({2 * right(), 2 * right() + 1, 2 * right()});
  torch_ops::scatter_add(at::full({3, 3}, static_cast<double>(rank_), at::kDouble), whole, index);
  whole.sync();
  EXPECT_EQ(local[0][0].item<std::int64_t>(), 2 * left());

  local.requires_grad_();
  torch_ops::gather(local, whole, companion, index).sum().backward();
  companion.sync();
  EXPECT_EQ(gradients[0][0].item<std::int64_t>(), 2);

  const at::Tensor rows = torch_ops::gather_collective(local, whole, scratch, index);
  EXPECT_EQ(rows[0][0].item<std::int64_t>(), 2 * rank_);
  rows.sum().backward();
  EXPECT_EQ(local.grad()[0][0].item<std::int64_t>(), 2);
  expect_adjoint({3, 3}, [&](const at::Tensor& x) { return torch_ops::gather_adjoint(x, whole, scratch, index, 2); });

  whole.set_optimizer(optimizer::sgd, 0.5);
  const at::Tensor like = at::zeros({2, 3}, at::kDouble).requires_grad_();
  torch_ops::embedding(like, whole, index, 2 * right() + 1).sum().backward();
  whole.sync();
  EXPECT_EQ(local[0][0].item<double>(), static_cast<double>(2 * left() - 1));
  EXPECT_EQ(local[1][0].item<double>(), static_cast<double>(left()));
}

TEST_F(torch_operators, errors_reach_all_ranks) {
  const at::Tensor input = random({2});
  expect_error<c10::ValueError>("root is 99; expected 0 to ", [&] { torch_ops::bcast(input, world_, 99); });
  expect_error<c10::IndexError>("failed on rank 0 of world: axis is 5; expected -1 to 0",
                                [&] { torch_ops::allgather_along(input, world_, rank_ == 0 ? 5 : 0); });
  expect_error<c10::ValueError>("ranks of world disagree: elements of output is 0 on rank 0",
                                [&] { torch_ops::allreduce(random({rank_}), world_); });
  EXPECT_EQ(torch_ops::allreduce(at::ones({}, at::kLong), world_).item<std::int64_t>(), size_);
}

TEST_F(torch_operators, empty_communicator_is_refused) {
  expect_error<c10::Error>("comm is a null handle; expected a communicator",
                           [&] { torch_ops::allreduce(random({2}), communicator{}); });
}

}  // namespace
