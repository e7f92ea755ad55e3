// SPDX-License-Identifier: BSD-3-Clause
// Optimizers of tensors in device memory, against tensors in host memory that get the same gradients.

#include <gtest/gtest.h>

#include <algorithm>

#include "device_world.hpp"
#include "tensor/optimizer.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

class device_optimizer : public device_tensor {
 protected:
  void SetUp() override {
    device_tensor::SetUp();
    if (!IsSkipped() && !can_add()) GTEST_SKIP() << "no rank sees all devices";
  }
};

std::vector<optim::rule> rules() {
  std::vector<optim::rule> result;
  for (const auto kind : {SYNCYTE_OPTIMIZER_SGD, SYNCYTE_OPTIMIZER_ADAGRAD, SYNCYTE_OPTIMIZER_ADAM})
    result.push_back({.optimizer = kind, .lr = 0.3, .eps = 1e-8});
  result.push_back({.lr = 0.3, .momentum = 0.9});
  return result;
}

/// Numbers of which few sums are exact.
template <class T>
std::vector<T> random_numbers(std::uint64_t seed, int of_rank, std::int64_t count) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(number<T>(reference::random_integer(seed, of_rank, i, -999, 999)));
  for (T& each : result) each = T(static_cast<float>(each) / 337.0f);
  return result;
}

template <class T>
void apply(tensor::whole_tensor& host, tensor::whole_tensor& device, std::uint64_t round, std::int64_t count) {
  const std::int64_t row = host.layout().row_elements();
  const auto rows = reference::random_rows<std::int64_t>(round, rank(), count, host.layout().rows());
  const auto gradients = random_numbers<T>(round, rank(), count * row);
  const syncyte_buffer_t index = index_of(rows);
  const syncyte_buffer_t packed = buffer_of(gradients, host.layout().dtype(), {count * row});
  run<tensor::apply_gradients>(host, &index, &packed);
  run_rows<tensor::apply_gradients>(device, rows, gradients);
}

template <class T>
void expect_equal(tensor::whole_tensor& host, tensor::whole_tensor& device, const std::string& what) {
  EXPECT_TRUE(same_bytes(read_all<T>(host), gathered<T>(device, all_rows(host.layout().rows())))) << what;
}

/// Ranks apply gradients in turn, so that the order of updates is known. The results have the same bits.
template <class T>
void check_in_turn(const optim::rule& by, syncyte_dtype_t dtype, std::int64_t elements,
                   const reference::lengths& parts) {
  using number = optim::number_of<T>;
  const extents shape{13, elements};
  const auto host = make_tensor(dtype, shape, parts), device = make_device_tensor(dtype, shape, parts);
  const std::vector<T> start = random_numbers<T>(5, rank(), host->local().shape[0] * elements);
  std::ranges::copy(start, static_cast<T*>(host->local().data));
  write_local(*device, start);
  for (tensor::whole_tensor* const each : {host.get(), device.get()}) {
    tensor::set_optimizer(*each, by);
    each->sync();
  }
  for (std::uint64_t round = 0; round < 3; ++round)
    for (int turn = 0; turn < ranks(); ++turn) {
      if (turn == rank()) apply<T>(*host, *device, 10 * round, static_cast<std::int64_t>(round * 9));
      host->sync();
      device->sync();
    }
  const std::string what = fmt::format("{} {} {}", optim::name_of(by), base::dtype_name(dtype), elements);
  expect_equal<T>(*host, *device, what);
  if (optim::state_slots(by) > 0)
    expect_equal<number>(*host->optimizer()->state(), *device->optimizer()->state(), "state of " + what);
  barrier();
}

TEST_F(device_optimizer, in_turn_has_the_hosts_bits) {
  for (const auto& by : rules()) {
    check_in_turn<float>(by, SYNCYTE_FLOAT32, 40, {});
    check_in_turn<base::float16>(by, SYNCYTE_FLOAT16, 3, {});
    check_in_turn<base::bfloat16>(by, SYNCYTE_BFLOAT16, 1, {});
    check_in_turn<double>(by, SYNCYTE_FLOAT64, 4, reference::uneven_lengths(11, 13, ranks()));
  }
}

/// All ranks update the same rows at once: each update is done once. All numbers are exact.
TEST_F(device_optimizer, no_update_is_lost) {
  constexpr int rounds = 20;
  for (const std::int64_t elements : {1, 40}) {
    const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {3, elements});
    tensor::set_optimizer(*tensor, rules()[1]);
    for (int round = 0; round < rounds; ++round)
      run_rows<tensor::apply_gradients>(*tensor, {0, 1, 2, 1},
                                        std::vector<float>(static_cast<std::size_t>(4 * elements), 1.0f));
    tensor->sync();
    const auto state = tensor->optimizer()->state();
    const auto squares = gathered<float>(*state, all_rows(3));
    const std::int64_t slots = state->describe().shape[1];
    for (std::int64_t i = 0; i < 3 * elements; ++i)
      ASSERT_EQ(squares[static_cast<std::size_t>(i / elements * slots * elements + i % elements)],
                static_cast<float>((i / elements == 1 ? 4 : 1) * rounds * ranks()));
    barrier();
  }
}

TEST_F(device_optimizer, updates_are_queued_on_streams) {
  const auto tensor = make_device_tensor(SYNCYTE_FLOAT64, {4 * ranks(), 2});
  tensor::set_optimizer(*tensor, rules()[0]);
  std::vector<std::unique_ptr<device_array<double>>> kept;
  const auto index = index_on_device({4 * rank() + 3, 4 * rank() + 1});
  const syncyte_buffer_t list = index.buffer();
  for (int number = 0; number < 2; ++number) {
    const with_stream on(memory::cuda_backend().create_stream(device_of_rank()));
    kept.push_back(std::make_unique<device_array<double>>(std::vector<double>(4, 1.0), SYNCYTE_FLOAT64, extents{2, 2}));
    const syncyte_buffer_t array = kept.back()->buffer();
    run<tensor::apply_gradients>(*tensor, &list, &array);
  }
  tensor->sync();
  const auto values = gathered<double>(*tensor, all_rows(4 * ranks()));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i / 2 % 2 == 1 ? -0.3 - 0.3 : 0.0);
  barrier();
}

TEST_F(device_optimizer, an_index_out_of_range_is_skipped_and_named) {
  const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {10});
  tensor::set_optimizer(*tensor, rules()[0]);
  const auto outcome = outcome_of(
      [&] { run_rows<tensor::apply_gradients>(*tensor, {rank() % 10, 10, -1}, std::vector<float>{2, 1, 1}); });
  expect_error(outcome, SYNCYTE_ERR_INDEX, "index 10 at position 1 is out of range; expected 0 to 9");
  tensor->sync();
  const float changed = gathered<float>(*tensor, {rank() % 10})[0];
  if (on_one_node()) {
    expect_error(outcome, SYNCYTE_ERR_INDEX, "apply_gradients of tensor \"on devices\"");
    EXPECT_LT(changed, 0.0f);
  } else {
    EXPECT_EQ(changed, 0.0f);
  }
  barrier();
}

TEST_F(device_optimizer, a_lock_that_is_never_free_is_an_error) {
  const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {4});
  tensor::set_optimizer(*tensor, rules()[0]);
  rows::device_updates::longest_wait = 200'000'000;
  std::int32_t owner = 0;
  const std::int64_t row = 2;
  tensor->owner({&row, 1}, &owner);
  if (rank() == owner) {  // as a process that has died during its update leaves it
    const device_array<std::uint32_t> held({1}, SYNCYTE_INT32, {1});
    const auto place = static_cast<std::size_t>(tensor->held()->on_device()->first_in_table(owner) + row -
                                                tensor->layout().partition().first(owner));
    memory::copy({tensor->optimizer()->locks_on_devices() + place * sizeof(std::uint32_t), SYNCYTE_MEMORY_CUDA,
                  device_of_rank()},
                 {held.buffer().data, SYNCYTE_MEMORY_CUDA, device_of_rank()}, sizeof(std::uint32_t));
  }
  tensor->sync();
  if (rank() == 0) {
    const auto outcome =
        outcome_of([&] { run_rows<tensor::apply_gradients>(*tensor, {1, 2, 3}, std::vector<float>(3, 1.0f)); });
    expect_error(outcome, SYNCYTE_ERR_PEER_DIED, "apply_gradients has not updated row 2 of tensor \"on devices\"");
    const auto values = gathered<float>(*tensor, all_rows(4));
    EXPECT_EQ(values[2], 0.0f);
    EXPECT_LT(values[3], 0.0f);
  }
  tensor->sync();
}

TEST_F(device_optimizer, what_it_refuses) {
  const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {10, 4});
  const auto index = index_on_device({1});
  const device_array<float> values(std::vector<float>(4), SYNCYTE_FLOAT32, {1, 4});
  const syncyte_buffer_t list = index.buffer(), array = values.buffer();
  expect_error(outcome_of([&] { run<tensor::apply_gradients>(*tensor, &list, &array); }), SYNCYTE_ERR_UNSUPPORTED,
               "no optimizer");
  tensor::set_optimizer(*tensor, rules()[1]);
  expect_error(outcome_of([&] { start<tensor::apply_gradients>(*tensor, &list, &array); }), SYNCYTE_ERR_UNSUPPORTED,
               "the started form of tensor_apply_gradients");
  syncyte_buffer_t inside = array;
  inside.data = tensor->optimizer()->state()->held()->node();
  expect_error(outcome_of([&] { run<tensor::apply_gradients>(*tensor, &list, &inside); }), SYNCYTE_ERR_ARGUMENT,
               "gradients is in the optimizer's state");
  const std::vector<float> host(4);
  const syncyte_buffer_t elsewhere = buffer_of(host, SYNCYTE_FLOAT32, {1, 4});
  expect_error(outcome_of([&] { run<tensor::apply_gradients>(*tensor, &list, &elsewhere); }), SYNCYTE_ERR_ARGUMENT,
               "gradients: memory is the host's");
  const auto numbers = make_device_tensor(SYNCYTE_INT64, {4, 2});
  expect_error(outcome_of([&] { tensor::set_optimizer(*numbers, rules()[0]); }), SYNCYTE_ERR_TYPE, "int64");
}

TEST_F(device_tensor, an_optimizer_needs_atomics_between_devices) {
  if (can_add()) GTEST_SKIP() << "some rank sees all devices";
  const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {10});
  expect_error(outcome_of([&] { tensor::set_optimizer(*tensor, rules()[0]); }), SYNCYTE_ERR_UNSUPPORTED,
               "no rank sees both");
}

TEST_F(device_optimizer, its_memory_is_freed) {
  make_device_tensor(SYNCYTE_FLOAT32, {8});
  make_tensor(SYNCYTE_INT8, {1});
  const auto before = device_resources();
  for (const auto& by : rules()) {
    const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {8, 2});
    tensor::set_optimizer(*tensor, by);
    tensor::set_optimizer(*tensor, by);
    run_rows<tensor::apply_gradients>(*tensor, {1}, std::vector<float>(2, 1.0f));
  }
  for (int point = 0; point < 3; ++point) make_tensor(SYNCYTE_INT8, {1});
  EXPECT_EQ(device_resources(), before);
}

}  // namespace
