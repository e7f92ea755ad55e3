// SPDX-License-Identifier: BSD-3-Clause
// Operations of tensors on devices that are captured into a CUDA graph, and those that are checked at once.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/split.hpp"
#include "cuda/driver_graphs.hpp"
#include "device_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

/// A tensor of this node's rows, and an operation's arguments. Operations use their own stream.
class device_graph : public device_tensor {
 protected:
  void SetUp() override {
    device_tensor::SetUp();
    if (IsSkipped()) return;
    if (!on_one_node()) GTEST_SKIP() << "operations between nodes are not captured";
    stream_ = memory::cuda_backend().create_stream(device_of_rank());
    tensor_ = make_device_tensor(SYNCYTE_INT64, {4 * ranks()});
    index_.emplace(std::vector<std::int64_t>{last_, 0}, SYNCYTE_INT64, extents{2});
    values_.emplace(std::vector<std::int64_t>{10, 20}, SYNCYTE_INT64, extents{2});
  }

  template <class Operation>
  void run_queued() {
    const syncyte_buffer_t list = index_->buffer(), values = values_->buffer();
    const with_stream on(stream_);
    run<Operation>(*tensor_, &list, &values);
  }
  /// Expects an error of an operation with two rows of a table, while the stream is captured.
  template <class Operation, class T>
  void expect_refused(tensor::whole_tensor& table, const char* text) {
    const device_array<T> packed(std::vector<T>(2), table.layout().dtype(), {2});
    const auto rows = index_on_device({0, 1});
    const captured_graph graph(stream(), [&] {
      const with_stream on(stream_);
      const syncyte_buffer_t list = rows.buffer(), values = packed.buffer();
      expect_error(outcome_of([&] { run<Operation>(table, &list, &values); }), SYNCYTE_ERR_UNSUPPORTED, text);
    });
    table.sync();
  }
  void set(std::int64_t value) {
    write_local(*tensor_, std::vector<std::int64_t>(4, value));
    tensor_->sync();
  }
  CUstream stream() const { return static_cast<CUstream>(stream_); }
  void finish() const { memory::cuda_backend().synchronize(device_of_rank(), stream_); }

  void* stream_ = nullptr;
  tensor_pointer tensor_;
  const std::int64_t last_ = 4 * ranks() - 1;
  std::optional<device_array<std::int64_t>> index_, values_;  // of rows last_ and 0
};

TEST_F(device_graph, a_gather_reads_the_rows_of_each_launch) {
  run_queued<tensor::gather>();
  finish();
  const captured_graph graph(stream(), [&] { run_queued<tensor::gather>(); });
  for (const std::int64_t base : {100, 200}) {
    set(base + rank());
    graph.launch(stream());
    finish();
    EXPECT_EQ(values_->read(), (std::vector<std::int64_t>{base + ranks() - 1, base}));
    tensor_->sync();
  }
}

TEST_F(device_graph, sync_waits_for_graphs_on_any_stream) {
  if (!can_add()) GTEST_SKIP() << "no rank sees all devices";
  run_queued<tensor::scatter_add>();
  const captured_graph graph(stream(), [&] { run_queued<tensor::scatter_add>(); });
  auto* const other = static_cast<CUstream>(memory::cuda_backend().create_stream(device_of_rank()));
  graph.launch(stream());
  graph.launch(other);
  tensor_->sync();
  EXPECT_EQ(gathered<std::int64_t>(*tensor_, {last_, 0}), (std::vector<std::int64_t>{30 * ranks(), 60 * ranks()}));
  tensor_->sync();
}

TEST_F(device_graph, a_scatter_writes_at_each_launch) {
  run_queued<tensor::scatter>();
  tensor_->sync();
  const captured_graph graph(stream(), [&] { run_queued<tensor::scatter>(); });
  set(7);
  EXPECT_EQ(gathered<std::int64_t>(*tensor_, {last_}), std::vector<std::int64_t>{7});
  tensor_->sync();
  graph.launch(stream());
  tensor_->sync();
  EXPECT_EQ(gathered<std::int64_t>(*tensor_, {last_, 0}), (std::vector<std::int64_t>{10, 20}));
}

TEST_F(device_graph, a_bad_index_is_the_error_of_sync) {
  run_queued<tensor::gather>();
  const captured_graph graph(stream(), [&] { run_queued<tensor::gather>(); });
  tensor_->sync();
  const std::vector<std::int64_t> bad{0, last_ + 5};
  const syncyte_buffer_t list = index_->buffer();
  memory::copy({list.data, list.memory, list.device}, {const_cast<std::int64_t*>(bad.data()), SYNCYTE_MEMORY_HOST, 0},
               sizeof(std::int64_t) * bad.size());
  graph.launch(stream());
  finish();
  EXPECT_EQ(gathered<std::int64_t>(*tensor_, {0}), std::vector<std::int64_t>{0});  // nobody knows when graphs run
  expect_error(outcome_of([&] { tensor_->sync(); }), SYNCYTE_ERR_INDEX,
               fmt::format("index {} at position 1 is out of range", last_ + 5));
  tensor_->sync();
}

TEST_F(device_graph, what_waits_is_refused_and_leaves_the_capture) {
  run_queued<tensor::gather>();
  finish();
  tensor::whole_tensor& of = *tensor_;
  const captured_graph graph(stream(), [&] {
    const with_stream on(stream_);
    expect_error(outcome_of([&] { of.sync(); }), SYNCYTE_ERR_UNSUPPORTED, "sync of tensor \"on devices\" (int64");
    run_queued<tensor::gather>();
  });
  set(3);
  graph.launch(stream());
  finish();
  EXPECT_EQ(values_->read(), (std::vector<std::int64_t>{3, 3}));
  of.sync();
}

/// Calls while another stream is captured. The capture may be spoiled.
template <class Call>
void beside_a_capture(Call&& call) {
  auto* const other = static_cast<CUstream>(memory::cuda_backend().create_stream(device_of_rank()));
  ASSERT_EQ(graphs().cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  call();
  CUgraph made = nullptr;
  if (graphs().cuStreamEndCapture(other, &made) == CUDA_SUCCESS) graphs().cuGraphDestroy(made);
}

TEST_F(device_graph, sync_says_that_it_cannot_wait_for_graphs_beside_a_capture) {
  run_queued<tensor::gather>();
  const captured_graph graph(stream(), [&] { run_queued<tensor::gather>(); });
  graph.launch(stream());
  beside_a_capture([&] {
    expect_error(outcome_of([&] { tensor_->sync(); }), SYNCYTE_ERR_UNSUPPORTED,
                 "cannot be waited for while one of its streams is captured");
  });
  tensor_->sync();
}

TEST_F(device_graph, memory_that_is_dropped_beside_a_capture_stays) {
  set(5);
  run_queued<tensor::gather>();
  beside_a_capture([&] {
    tensor_.reset();
    make_tensor(SYNCYTE_INT8, {1});  // a collective point
  });
  finish();
  EXPECT_EQ(values_->read(), (std::vector<std::int64_t>{5, 5}));
}

TEST_F(device_graph, operations_beside_a_capture_leave_it) {
  auto* const other = static_cast<CUstream>(memory::cuda_backend().create_stream(device_of_rank()));
  const auto bad = index_on_device({0, last_ + 1});
  const captured_graph graph(other, [&] {
    const syncyte_buffer_t list = bad.buffer(), values = values_->buffer();
    const with_stream on(stream_);
    run<tensor::gather>(*tensor_, &list, &values);
    run_queued<tensor::gather>();  // it asks whether the first one has ended
  });
  expect_error(outcome_of([&] { tensor_->sync(); }), SYNCYTE_ERR_INDEX, "at position 1");
  tensor_->sync();
}

TEST_F(device_graph, an_operation_that_waits_has_its_own_error) {
  run_queued<tensor::gather>();  // unfinished
  const auto bad_gather = [&] { gathered<std::int64_t>(*tensor_, {last_ + 1}); };
  expect_error(outcome_of(bad_gather), SYNCYTE_ERR_INDEX, "at position 0");
  const captured_graph graph(stream(), [&] { run_queued<tensor::gather>(); });
  expect_error(outcome_of(bad_gather), SYNCYTE_ERR_INDEX, "at position 0");
  tensor_->sync();
}

TEST_F(device_graph, threads_that_wait_have_their_own_errors) {
  constexpr int rounds = 300;
  std::atomic<int> wrong = 0;
  const auto run_thread = [&](std::size_t position) {
    std::vector<std::int64_t> rows(3);
    rows[position] = last_ + 1;
    const std::string expected = fmt::format("at position {} is out of range", position);
    for (int round = 0; round < rounds; ++round) {
      const auto result = outcome_of([&] { gathered<std::int64_t>(*tensor_, rows); });
      wrong += result.message.find(expected) == std::string::npos;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t position = 0; position < 3; ++position) threads.emplace_back(run_thread, position);
  }
  EXPECT_EQ(wrong, 0);
  tensor_->sync();
}

TEST_F(device_graph, an_optimizers_update_is_refused) {
  if (!can_add()) GTEST_SKIP() << "no rank sees all devices";
  const auto table = make_device_tensor(SYNCYTE_FLOAT32, {4});
  tensor::set_optimizer(*table, {.lr = 0.3});
  expect_refused<tensor::apply_gradients, float>(*table, "apply_gradients of");
}

/// No other test uses this kernel.
TEST_F(device_graph, a_kernel_is_loaded_before_the_capture) {
  if (!can_add()) GTEST_SKIP() << "no rank sees all devices";
  const auto table = make_device_tensor(SYNCYTE_BFLOAT16, {4});
  expect_refused<tensor::scatter_add, base::bfloat16>(*table, "run the operation once before the capture");
}

TEST_F(device_graph, a_communicator_that_checks_all_waits_for_each_operation) {
  comm::communicator_options options;
  options.check = static_cast<int>(comm::check_level::full);
  const auto checked = comm::duplicate(world(), options);
  const std::int64_t shape[] = {4};
  const auto table = tensor::whole_tensor::create(checked, SYNCYTE_INT64, 1, shape, device_options());
  const auto rows = index_on_device({0, 9});
  const syncyte_buffer_t list = rows.buffer(), values = values_->buffer();
  const with_stream on(stream_);
  const auto gather = [&] { run<tensor::gather>(*table, &list, &values); };
  expect_error(outcome_of(gather), SYNCYTE_ERR_INDEX, "index 9 at position 1");
  const captured_graph graph(stream(),
                             [&] { expect_error(outcome_of(gather), SYNCYTE_ERR_UNSUPPORTED, "check=full"); });
  table->sync();
}

}  // namespace
