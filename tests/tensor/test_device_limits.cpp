// SPDX-License-Identifier: BSD-3-Clause
// Tensors on devices that lack something, or that others use too, on the stand-in for the driver.

#include <gtest/gtest.h>

#include <cstdlib>

#include "../memory/processes.hpp"
#include "comm/communicator.hpp"
#include "device_world.hpp"
#include "rows/gather_table.hpp"
#include "tensor/optimizer.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

/// Ranks with a device each.
class device_limits : public device_tensor {
 protected:
  void SetUp() override {
    device_tensor::SetUp();
    const char* const kind = std::getenv("SYNCYTE_TEST_DEVICES");
    const bool share_one = kind == nullptr || std::string(kind) == "one";
    if (IsSkipped() || share_one || ranks() == 1 || !on_one_node()) GTEST_SKIP() << "needs a node with devices";
    make_device_tensor(SYNCYTE_FLOAT32, {8});  // what stays for the process' life is there now
    make_tensor(SYNCYTE_INT8, {1});
  }
};

TEST_F(device_limits, devices_that_are_not_peers_share_no_tensor) {
  const auto before = device_resources();
  {
    const environment_scope lacking("STANDIN_NO_PEERS", "1");
    const auto error = outcome_of([] { make_device_tensor(SYNCYTE_FLOAT32, {std::int64_t{1} << 21}); });
    expect_error(error, SYNCYTE_ERR_UNSUPPORTED, "cannot access");
    expect_error(error, SYNCYTE_ERR_UNSUPPORTED, "which rank 1 of the node uses");
    for (const int owner : {0, 1})
      expect_error(error, SYNCYTE_ERR_UNSUPPORTED, fmt::format("GPU-53000000-0000-0000-0000-00000000000{}", owner));
  }
  EXPECT_EQ(device_resources(), before);
  make_device_tensor(SYNCYTE_FLOAT32, {std::int64_t{1} << 21});
}

TEST_F(device_limits, devices_without_atomics_add_nothing) {
  const environment_scope lacking("STANDIN_NO_ATOMICS", "1");
  const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {2 * ranks()});
  const std::int64_t next = 2 * ((rank() + 1) % ranks());
  run_rows<tensor::scatter>(*tensor, {next}, std::vector<float>{7});
  tensor->sync();
  EXPECT_EQ(gathered<float>(*tensor, {0, 1}), (std::vector<float>{7, 0}));
  const auto refused = [&](auto&& call) {
    expect_error(outcome_of(call), SYNCYTE_ERR_UNSUPPORTED, "cannot add to each other's memory atomically");
  };
  refused([&] { run_rows<tensor::scatter_add>(*tensor, {next}, std::vector<float>{1}); });
  refused([&] { tensor::set_optimizer(*tensor, {}); });
  tensor->sync();
  EXPECT_EQ(gathered<float>(*tensor, {next}), std::vector<float>{7});
}

/// The other device is another one if the rank sees several, and its own otherwise.
TEST_F(device_limits, kernels_of_another_device_end_before_the_memory_goes) {
  const int other = (device_of_rank() + 1) % memory::cuda_backend().count();
  auto tensor = make_device_tensor(SYNCYTE_INT64, {ranks()});
  write_local(*tensor, std::vector<std::int64_t>{rank() + 1});
  tensor->sync();
  tensor->allow_device(other);
  syncyte_buffer_t table;
  std::int64_t first = 0;
  tensor->node(table, first);
  table.device = other;
  std::vector<std::int64_t> numbers{ranks() - 1, 0};  // the index, and room for its row
  auto* const block = static_cast<std::int64_t*>(memory::acquire(16, SYNCYTE_MEMORY_CUDA, other));
  const memory::place there{block, SYNCYTE_MEMORY_CUDA, other}, here{numbers.data(), SYNCYTE_MEMORY_HOST, 0};
  memory::copy(there, here, 16);
  const auto array = [&](std::int64_t* data) {
    syncyte_buffer_t result = base::make_buffer(data, SYNCYTE_INT64, extents{1});
    result.memory = SYNCYTE_MEMORY_CUDA;
    result.device = other;
    return result;
  };
  const syncyte_buffer_t index = array(block), output = array(block + 1);
  void* const stream = memory::cuda_backend().create_stream(other);
  {
    const with_stream on(stream);
    rows::gather_table(&table, &index, &output);
  }
  tensor.reset();
  for (int point = 0; point < 3; ++point) make_tensor(SYNCYTE_INT8, {1});  // collective points, at which it is freed
  memory::cuda_backend().synchronize(other, stream);
  memory::copy(here, there, 16);
  EXPECT_EQ(numbers[1], ranks());
  memory::release(block);
}

/// STANDIN_VERSION is that of a driver with an older major version than SYNCYTE_TEST_TOOLKIT, which has compiled the
/// kernels.
TEST_F(device_tensor, an_old_driver_has_views_without_kernels) {
  const char* const toolkit = std::getenv("SYNCYTE_TEST_TOOLKIT");
  if (toolkit == nullptr) GTEST_SKIP() << "needs an old driver";
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {ranks()});
  write_local(*tensor, std::vector<std::int64_t>{rank() + 1});
  tensor->sync();
  const std::string text = fmt::format("driver of CUDA 12.2 cannot run kernels that CUDA {} has compiled", toolkit);
  const auto refused = [&](auto&& call) { expect_error(outcome_of(call), SYNCYTE_ERR_UNSUPPORTED, text); };
  refused([&] { gathered<std::int64_t>(*tensor, {0}); });
  refused([&] { run_rows<tensor::scatter>(*tensor, {0}, std::vector<std::int64_t>{5}); });
  refused([&] { run_rows<tensor::scatter_add>(*tensor, {0}, std::vector<std::int64_t>{5}); });
  tensor->sync();
  syncyte_buffer_t node;
  std::int64_t first = 0;
  tensor->node(node, first);
  std::vector<std::int64_t> found(static_cast<std::size_t>(ranks()));
  memory::copy({found.data(), SYNCYTE_MEMORY_HOST, 0}, {node.data, node.memory, node.device}, found.size() * 8);
  for (int r = 0; r < ranks(); ++r) EXPECT_EQ(found[static_cast<std::size_t>(r)], r + 1);
}

}  // namespace
