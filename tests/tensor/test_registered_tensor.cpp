// SPDX-License-Identifier: BSD-3-Clause
// Tensors in host memory that kernels of devices use.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/communicator.hpp"
#include "device_world.hpp"
#include "rows/gather_table.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

class registered_tensor : public device_tensor {
 protected:
  void SetUp() override {
    device_tensor::SetUp();
    if (!IsSkipped() && !on_one_node()) GTEST_SKIP() << "rows of other nodes are not within reach of kernels";
  }
};

/// All rows of the node, as a table in memory of this rank's device.
syncyte_buffer_t table_of(const tensor::whole_tensor& tensor) {
  tensor.allow_device(device_of_rank());
  syncyte_buffer_t view;
  std::int64_t first = 0;
  tensor.node(view, first);
  view.memory = SYNCYTE_MEMORY_CUDA;
  view.device = device_of_rank();
  return view;
}

TEST_F(registered_tensor, kernels_read_and_write_the_hosts_memory) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {3 * ranks()});
  fill<std::int64_t>(*tensor);
  const syncyte_buffer_t table = table_of(*tensor);
  const std::vector<std::int64_t> wanted{3 * ranks() - 1, 0, 1};
  const auto index = index_on_device(wanted);
  const device_array<std::int64_t> output(std::vector<std::int64_t>(3), SYNCYTE_INT64, {3});
  const syncyte_buffer_t list = index.buffer(), values = output.buffer();
  rows::gather_table(&table, &list, &values);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(output.read()[i], filled<std::int64_t>(wanted[i]));
  tensor->sync();
  auto* const own = static_cast<std::int64_t*>(tensor->local().data);
  memory::copy({own, SYNCYTE_MEMORY_CUDA, device_of_rank()}, {values.data, SYNCYTE_MEMORY_CUDA, device_of_rank()}, 8);
  EXPECT_EQ(own[0], filled<std::int64_t>(wanted[0]));
  tensor->sync();
}

TEST_F(registered_tensor, each_tensor_is_registered_once_and_until_it_is_freed) {
  make_tensor(SYNCYTE_INT8, {1});  // frees what other tests have dropped
  const std::size_t before = registered_ranges();
  for (int round = 0; round < 2; ++round) {
    auto tensor = make_tensor(SYNCYTE_INT64, {ranks()});
    fill<std::int64_t>(*tensor);
    table_of(*tensor);
    const syncyte_buffer_t table = table_of(*tensor);
    for (int device = 0; device < memory::cuda_backend().count(); ++device) tensor->allow_device(device);
    const std::size_t mine = counting_function() == nullptr ? 0 : 1;
    EXPECT_EQ(registered_ranges(), before + mine);
    const auto index = index_on_device({ranks() - 1});
    const device_array<std::int64_t> output({0}, SYNCYTE_INT64, {1});
    const syncyte_buffer_t list = index.buffer(), value = output.buffer();
    {
      const with_stream on(memory::own_stream(device_of_rank()));
      rows::gather_table(&table, &list, &value);
    }
    tensor.reset();  // while a kernel may still read it
    make_tensor(SYNCYTE_INT8, {1});
    EXPECT_EQ(registered_ranges(), before);
    EXPECT_EQ(output.read()[0], filled<std::int64_t>(ranks() - 1));
  }
  make_tensor(SYNCYTE_INT8, {0})->allow_device(device_of_rank());  // no memory
}

TEST_F(registered_tensor, what_cannot_be_registered) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {ranks()});
  const auto allow = [&](const tensor::whole_tensor& of, int device) {
    return outcome_of([&] { of.allow_device(device); });
  };
  expect_error(allow(*tensor, 99), SYNCYTE_ERR_ARGUMENT, "device is 99");
  std::vector<std::int64_t> mine{1};
  const syncyte_buffer_t array = buffer_of(mine, SYNCYTE_INT64, {1});
  const auto wrapped = tensor::whole_tensor::wrap(shared_world(), &array, {.name = "wrapped"});
  expect_error(allow(*wrapped, device_of_rank()), SYNCYTE_ERR_UNSUPPORTED, "wraps an array");
  syncyte_buffer_t node;
  std::int64_t first = 0;
  tensor->node(node, first);
  memory::cuda_system().register_host(device_of_rank(), {static_cast<std::byte*>(node.data), 8});
  expect_error(allow(*tensor, device_of_rank()), SYNCYTE_ERR_BUSY, "cuMemHostRegister failed");
  memory::cuda_system().unregister_host(device_of_rank(), static_cast<std::byte*>(node.data));
  if (counting_function() != nullptr) {
    setenv("STANDIN_LACKS", "91", 1);
    expect_error(allow(*tensor, device_of_rank()), SYNCYTE_ERR_UNSUPPORTED, "at the host's addresses (attribute 91");
    unsetenv("STANDIN_LACKS");
    setenv("STANDIN_FAIL", "cuMemHostRegister:1", 1);
    expect_error(allow(*tensor, device_of_rank()), SYNCYTE_ERR_MEMORY, "registering tensor \"test\"");
    unsetenv("STANDIN_FAIL");
  }
  tensor->allow_device(device_of_rank());
  tensor->sync();
}

TEST_F(registered_tensor, a_forked_child_cannot_use_it) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {ranks()});
  tensor->allow_device(device_of_rank());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto outcome = outcome_of([&] { tensor->allow_device(device_of_rank()); });
    const bool is_named = outcome.message.find("forked after its parent has used CUDA") != std::string::npos;
    ::_exit(outcome.status == SYNCYTE_ERR_UNSUPPORTED && is_named ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  tensor->sync();
}

}  // namespace
