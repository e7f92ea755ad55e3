// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <complex>
#include <syncyte/syncyte.hpp>
#include <vector>

#include "expect.hpp"
#include "reference.hpp"

namespace {

namespace reference = syncyte::reference;
using syncyte::extents;
using syncyte::tensor;
using syncyte::test::expect_error;

constexpr std::int64_t rows = 37;
constexpr std::int64_t width = 6;

class cxx_tensor : public testing::Test {
 protected:
  // Every rank writes its own rows, with the values of the reference's table.
  template <typename T>
  tensor filled(std::optional<std::int64_t> local_rows = std::nullopt) const {
    tensor made(world_, syncyte::dtype_of<T>, {rows, 2, width / 2}, {.name = "table", .local_rows = local_rows});
    const auto table = reference::random_table<T>(31, rows, width);
    const auto local = made.template local<T>();
    std::copy_n(table.begin() + made.rows(rank_).first * width, local.size(), local.begin());
    made.sync();
    return made;
  }

  syncyte::communicator world_ = syncyte::communicator::world();
  int rank_ = world_.rank();
  int size_ = world_.size();
};

TEST_F(cxx_tensor, knows_its_shape_and_owners) {
  for (const auto& parts : {reference::equal_lengths(rows, size_), reference::uneven_lengths(32, rows, size_),
                            reference::lengths_with_gaps(rows, size_)}) {
    const auto table = filled<float>(parts[static_cast<std::size_t>(rank_)]);
    EXPECT_EQ(table.type(), syncyte::dtype::float32);
    EXPECT_EQ(table.shape(), (extents{rows, 2, width / 2}));
    EXPECT_EQ(table.row_elements(), width);
    EXPECT_EQ(table.comm().size(), size_);
    for (int rank = 0; rank < size_; ++rank) {
      EXPECT_EQ(table.rows(rank).count, parts[static_cast<std::size_t>(rank)]);
    }
    const auto index = reference::random_rows(33, rank_, 20, rows);
    const auto owners = table.owner(index);
    for (std::size_t i = 0; i < index.size(); ++i) EXPECT_EQ(owners[i], reference::owner(parts, index[i]));
  }
}

template <typename T, typename Index>
void expect_gather(const tensor& table, int rank) {
  const auto index = reference::random_rows<Index>(34, rank, 50, rows);
  EXPECT_EQ(table.gather<T>(index), reference::gather_rows(reference::random_table<T>(31, rows, width), width, index));
}

TEST_F(cxx_tensor, gathers_every_rank) {
  expect_gather<float, std::int64_t>(filled<float>(), rank_);
  expect_gather<float, std::int32_t>(filled<float>(), rank_);
  expect_gather<double, std::int64_t>(filled<double>(), rank_);
  expect_gather<std::complex<double>, std::int64_t>(filled<std::complex<double>>(), rank_);
  expect_gather<std::uint8_t, std::int32_t>(filled<std::uint8_t>(), rank_);
  expect_gather<std::uint64_t, std::int32_t>(filled<std::uint64_t>(), rank_);
  const auto parts = reference::lengths_on_one(rows, size_, size_ - 1);
  expect_gather<std::int16_t, std::int64_t>(filled<std::int16_t>(parts[static_cast<std::size_t>(rank_)]), rank_);
}

TEST_F(cxx_tensor, scatters_and_adds) {
  const auto table = filled<double>();
  auto expected = reference::random_table<double>(31, rows, width);
  // Each rank adds to rows of all ranks; then only rank 0 writes.
  for (int rank = 0; rank < size_; ++rank) {
    const auto index = reference::random_rows(35, rank, 60, rows);
    const auto source = reference::random_values<double>(36, rank, 60 * width);
    reference::scatter_add_rows(expected, width, index, source);
    if (rank == rank_) table.scatter_add(index, source);
  }
  table.sync();
  const auto view = table.node<double>();
  ASSERT_EQ(view.first_row, 0);
  EXPECT_TRUE(std::equal(view.values.begin(), view.values.end(), expected.begin(), expected.end()));
  table.sync();
  const std::vector<std::int64_t> last{rows - 1, 0};
  const auto source = reference::random_values<double>(37, 0, 2 * width);
  if (rank_ == 0) table.scatter(last, source);
  table.sync();
  EXPECT_EQ(table.gather<double>(last), source);
}

TEST_F(cxx_tensor, optimizer) {
  const syncyte::tensor table(syncyte::communicator::world(), syncyte::dtype::float64, {4, 2});
  table.set_optimizer(syncyte::optimizer::adagrad, 1.0, {.eps = 0.0});
  const std::vector<std::int64_t> index{1, 3};
  const std::vector<double> gradients{3, 3, -5, 5};
  if (rank_ == 0) table.apply_gradients(index, gradients);
  table.sync();
  const std::vector<std::int64_t> all{0, 1, 2, 3};
  EXPECT_EQ(table.gather<double>(all), (std::vector<double>{0, 0, -1, -1, 0, 0, 1, -1}));
  const auto state = table.optimizer_state();
  EXPECT_EQ(state.shape(), (syncyte::extents{4, 1, 2}));
  EXPECT_EQ(state.gather<double>(all), (std::vector<double>{0, 0, 9, 9, 0, 0, 25, 25}));
  EXPECT_EQ(table.optimizer_steps().get(), nullptr);
  table.set_learning_rate(0.5);
  table.sync();
}

TEST_F(cxx_tensor, boxes) {
  const auto table = filled<float>();
  const auto expected = reference::random_table<float>(31, rows, width);
  std::vector<float> box(5 * 2);
  const extents shape{5, 1, 2};
  const extents lower{rows - 5, 1, 1};
  table.get_box(lower, syncyte::buffer(box.data(), shape));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(box[2 * i], expected[(static_cast<std::size_t>(rows) - 5 + i) * 6 + 4]);
  }
  table.sync();
  std::fill(box.begin(), box.end(), 9.0F);
  if (rank_ == 0) table.put_box(lower, syncyte::buffer(box.data(), shape));
  table.sync();
  table.get_box(lower, syncyte::buffer(box.data(), shape));
  EXPECT_EQ(box, std::vector<float>(10, 9.0F));
  const extents short_lower{0};
  expect_error(syncyte::status::shape, {"lower", "3"},
               [&] { table.get_box(short_lower, syncyte::buffer(box.data(), shape)); });
}

TEST_F(cxx_tensor, starts_accesses_to_boxes) {
  const tensor table(world_, syncyte::dtype::float64, {3 * size_, 2});
  std::vector<double> values(static_cast<std::size_t>(3 * size_ - 1), 1.0);
  const extents lower{1, 1};
  const extents shape{3 * size_ - 1, 1};
  std::vector<syncyte::request> started;
  started.push_back(table.iaccumulate_box(lower, syncyte::const_buffer(values.data(), shape)));
  started.push_back(table.iaccumulate_box(lower, syncyte::const_buffer(values.data(), shape), 2.0));
  syncyte::wait_all(started);
  table.sync();
  table.iget_box(lower, syncyte::buffer(values.data(), shape)).wait();
  EXPECT_EQ(values, std::vector<double>(values.size(), 3.0 * size_));
  table.sync();
  if (rank_ == 0) {
    auto put = table.iput_box(lower, syncyte::const_buffer(values.data(), shape));
    values.assign(values.size(), -1.0);
    put.wait();
  }
  table.sync();
  EXPECT_EQ(table.local<double>()[2 * 2 + 1], 3.0 * size_);
  expect_error(syncyte::status::type, {"alpha", "float32"},
               [&] { table.iaccumulate_box(lower, syncyte::const_buffer(values.data(), shape), 2.0F); });
}

TEST_F(cxx_tensor, starts_signals_updates_and_additions) {
  const tensor table(world_, syncyte::dtype::float64, {size_, 2});
  const tensor counters(world_, syncyte::dtype::int32, {size_});
  const int right = (rank_ + 1) % size_;
  const std::vector<std::int64_t> index{right};
  const std::vector<double> ones{1, 1};
  auto signal = table.iput_signal(index, ones, counters, right, 4);
  EXPECT_EQ(counters.wait(rank_, syncyte::compare::equal, 4), 4);
  const std::vector<std::int64_t> mine{rank_};
  EXPECT_EQ(table.gather<double>(mine), ones);
  signal.wait();
  counters.sync();
  std::int64_t previous = -1;
  counters.ifetch_add(right, 5, &previous).wait();
  EXPECT_EQ(previous, 4);
  counters.ifetch_add(right, 1).wait();
  counters.icompare_swap(right, 10, 11, &previous).wait();
  EXPECT_EQ(previous, 10);
  counters.icompare_swap(right, 10, 12).wait();  // it is 11
  table.iput_signal(index, ones, counters, right, -1, syncyte::op::replace).wait();
  table.set_optimizer(syncyte::optimizer::sgd, 0.5);
  table.iapply_gradients(index, ones).wait();
  table.sync();
  EXPECT_EQ(table.gather<double>(mine), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(counters.load(rank_), -1);
  counters.sync();
}

TEST_F(cxx_tensor, accumulates_and_locates_boxes) {
  const tensor table(world_, syncyte::dtype::float64, {3 * size_, 2});
  const std::vector<double> ones(static_cast<std::size_t>(3 * size_ - 1), 1.0);
  const extents lower{1, 1};
  const extents shape{3 * size_ - 1, 1};
  table.accumulate_box(lower, syncyte::const_buffer(ones.data(), shape));
  table.accumulate_box(lower, syncyte::const_buffer(ones.data(), shape), 2.0);
  table.sync();
  EXPECT_EQ(table.local<double>()[2 * 2 + 1], 3.0 * size_);
  table.sync();
  table.accumulate_box(lower, syncyte::const_buffer(ones.data(), shape), syncyte::op::min);
  table.sync();
  EXPECT_EQ(table.local<double>()[2 * 2 + 1], 1.0);
  EXPECT_EQ(table.local<double>()[2 * 2], 0.0);
  expect_error(syncyte::status::type, {"alpha", "float32"},
               [&] { table.accumulate_box(lower, syncyte::const_buffer(ones.data(), shape), 2.0F); });
  const auto parts = table.locate_box(lower, shape);
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(size_));
  for (int rank = 0; rank < size_; ++rank) {
    const auto& part = parts[static_cast<std::size_t>(rank)];
    EXPECT_EQ(part.rank, rank);
    EXPECT_EQ(part.first, rank == 0 ? 1 : 3 * rank);
    EXPECT_EQ(part.first + part.rows, 3 * (rank + 1));
  }
}

TEST_F(cxx_tensor, locks_and_signals) {
  const tensor table(world_, syncyte::dtype::int64, {2},
                     {.name = "lockable", .local_rows = std::nullopt, .row_locks = true});
  const tensor counters(world_, syncyte::dtype::int32, {1});
  const std::vector<std::int64_t> index{1};
  for (int round = 0; round < 20; ++round) {
    table.lock(1);
    const std::vector<std::int64_t> next{table.gather<std::int64_t>(index)[0] + 1};
    table.put_signal(index, next, counters, 0);
    table.unlock(1);
  }
  EXPECT_EQ(counters.wait(0, syncyte::compare::equal, 20 * size_), 20 * size_);
  EXPECT_EQ(table.gather<std::int64_t>(index)[0], 20 * size_);
  expect_error(syncyte::status::unsupported, {"row_locks"}, [&] { counters.lock(0); });
  counters.sync();
}

TEST_F(cxx_tensor, counters_and_waiting) {
  const tensor counter(world_, syncyte::dtype::int64, {4});
  EXPECT_LT(counter.fetch_add(0, 1), size_);
  if (rank_ == 0) {
    EXPECT_EQ(counter.wait(0, syncyte::compare::equal, size_), size_);
    counter.store(1, 7);
  }
  EXPECT_EQ(counter.wait(1, syncyte::compare::at_least, 7, std::chrono::seconds(10)), 7);
  EXPECT_EQ(counter.load(1), 7);
  EXPECT_EQ(counter.compare_swap(2, 5, 6), 0);
  expect_error(syncyte::status::timeout, {},
               [&] { counter.wait(3, syncyte::compare::not_equal, 0, std::chrono::milliseconds(20)); });
  counter.sync();
}

TEST_F(cxx_tensor, wraps_ones_own_arrays) {
  std::vector<double> mine(static_cast<std::size_t>(rank_ + 1) * 3, rank_);
  const extents shape{rank_ + 1, 3};
  std::int64_t released = 7;
  auto wrapped = tensor::wrap(world_, syncyte::buffer(mine.data(), shape), "mine", &released);
  EXPECT_EQ(wrapped.shape()[0], size_ * (size_ + 1) / 2);
  EXPECT_EQ(wrapped.local<double>().data(), mine.data());
  wrapped.sync();
  wrapped.retain().reset();
  EXPECT_EQ(released, 0);
  wrapped.reset();
  world_.collect();
  EXPECT_EQ(released, 1);
}

TEST_F(cxx_tensor, errors_name_the_argument) {
  const auto table = filled<float>();
  const std::vector<std::int64_t> beyond{0, rows};
  expect_error(syncyte::status::index, {"37", "1"}, [&] { static_cast<void>(table.gather<float>(beyond)); });
  const std::vector<std::int64_t> index{0};
  expect_error(syncyte::status::type, {"float64"}, [&] { static_cast<void>(table.gather<double>(index)); });
  expect_error(syncyte::status::type, {"float32", "int32"}, [&] { static_cast<void>(table.local<std::int32_t>()); });
  expect_error(syncyte::status::shape, {"-1"}, [&] { tensor(world_, syncyte::dtype::float32, {-1}); });
  if (size_ > 1) {
    expect_error(syncyte::status::mismatch, {"rank"},
                 [&] { tensor(world_, rank_ == 0 ? syncyte::dtype::float32 : syncyte::dtype::float64, {4}); });
  }
}

TEST_F(cxx_tensor, adds_to_another_host_are_unsupported) {
  if (world_.nodes().nodes == 1) GTEST_SKIP() << "all ranks are on one host";
  const auto table = filled<float>();
  const std::vector<std::int64_t> far{rank_ < size_ / 2 ? rows - 1 : 0};
  const std::vector<float> source(width, 1.0F);
  expect_error(syncyte::status::unsupported, {"node"}, [&] { table.scatter_add(far, source); });
  table.sync();
}

TEST_F(cxx_tensor, views_outlive_dropped_handles_of_others) {
  auto first = filled<float>();
  auto second = filled<float>();
  const tensor kept = first.retain();
  if (rank_ % 2 == 0) {
    first.reset();
    second.reset();
  } else {
    second.reset();
    first.reset();
  }
  world_.collect();
  const std::vector<std::int64_t> index{rows - 1};
  EXPECT_EQ(kept.gather<float>(index).size(), static_cast<std::size_t>(width));
  world_.barrier();
}

class cxx_device_tensor : public testing::Test {
 protected:
  void SetUp() override {
    if (syncyte::device_count(syncyte::memory_kind::cuda) == 0) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_F(cxx_device_tensor, lies_where_its_options_say) {
  const auto world = syncyte::communicator::world();
  const std::int32_t last = syncyte::device_count(syncyte::memory_kind::cuda) - 1;
  for (const auto& [asked, expected] : {std::pair{-1, 0}, {last, last}}) {
    const tensor made(world, syncyte::dtype::float32, {2 * world.size(), 3},
                      {.memory = syncyte::memory_kind::cuda, .device = asked});
    const syncyte::buffer local = made.local_buffer();
    EXPECT_EQ(local.get()->memory, SYNCYTE_MEMORY_CUDA);
    EXPECT_EQ(local.get()->device, expected);
    std::vector<float> mine(6, static_cast<float>(world.rank()) + 1.0F);
    syncyte::copy(local, mine);
    made.sync();
    std::ranges::fill(mine, 0.0F);
    syncyte::copy(mine, made.local_buffer());
    EXPECT_EQ(mine, std::vector<float>(6, static_cast<float>(world.rank()) + 1.0F));
    expect_error(syncyte::status::unsupported, {"device memory"}, [&] { made.local<float>(); });
    const std::vector<std::int64_t> index{0};
    expect_error(syncyte::status::argument, {"index", "memory is the host's"}, [&] { made.gather<float>(index); });
  }
  expect_error(syncyte::status::argument, {"device is 99"}, [&] {
    tensor(world, syncyte::dtype::float32, {4}, {.memory = syncyte::memory_kind::cuda, .device = 99});
  });
}

}  // namespace
