// SPDX-License-Identifier: BSD-3-Clause
// Tensors in device memory, on the stand-in for the driver or on devices.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "../memory/processes.hpp"
#include "comm/communicator.hpp"
#include "device_world.hpp"
#include "mpi/small_collectives.hpp"
#include "no_more_files.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

TEST(device_tensor_of_nodes, needs_the_fabric) {
  const char* const fabric = std::getenv("SYNCYTE_FABRIC");
  if (device_of_rank() < 0 || on_one_node() || fabric == nullptr || std::string(fabric) != "off")
    GTEST_SKIP() << "needs a device, and nodes without the fabric";
  const auto error = outcome_of([] { make_device_tensor(SYNCYTE_FLOAT32, {8}); });
  expect_error(error, SYNCYTE_ERR_UNSUPPORTED, "does not use the fabric");
  expect_error(error, SYNCYTE_ERR_UNSUPPORTED, "SYNCYTE_FABRIC");
  make_tensor(SYNCYTE_FLOAT32, {8});
}

/// Own rows of a tensor whose element `place` has filled<T>(place).
template <class T>
std::vector<T> own_values(const tensor::whole_tensor& tensor) {
  std::int64_t first = 0, count = 0;
  tensor.rows(rank(), first, count);
  const std::int64_t row = tensor.layout().row_elements();
  std::vector<T> values;
  for (std::int64_t i = first * row; i < (first + count) * row; ++i) values.push_back(filled<T>(i));
  return values;
}

template <class T>
void expect_rows(const std::vector<T>& found, const std::vector<std::int64_t>& rows, std::int64_t row_elements) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::int64_t k = 0; k < row_elements; ++k)
      ASSERT_EQ(found[i * static_cast<std::size_t>(row_elements) + static_cast<std::size_t>(k)],
                filled<T>(rows[i] * row_elements + k))
          << "row " << rows[i];
}

TEST_F(device_tensor, every_rank_reads_every_row) {
  for (const auto& parts : partitions(37)) {
    const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {37, 3}, parts);
    write_local(*tensor, own_values<float>(*tensor));
    tensor->sync();
    expect_rows(gathered<float>(*tensor, all_rows(37)), all_rows(37), 3);
    const std::vector<std::int64_t> some{36, 0, 17, 17, 5};
    expect_rows(gathered<float>(*tensor, some), some, 3);
    EXPECT_TRUE(gathered<float>(*tensor, {}).empty());
  }
}

TEST_F(device_tensor, parts_end_within_pages) {
  // Rows of 12 bytes, some MiB a rank: most pages have rows of two ranks.
  const std::int64_t rows = 600001;
  const auto tensor = make_device_tensor(SYNCYTE_INT32, {rows, 3}, reference::uneven_lengths(3, rows, ranks()));
  write_local(*tensor, own_values<std::int32_t>(*tensor));
  tensor->sync();
  std::vector<std::int64_t> wanted;
  for (int r = 0; r < ranks(); ++r)
    for (std::int64_t d = -3; d < 3; ++d)
      wanted.push_back(std::clamp<std::int64_t>(tensor->layout().partition().first(r) + d, 0, rows - 1));
  for (std::int64_t row = 0; row < rows; row += 997) wanted.push_back(row);
  expect_rows(gathered<std::int32_t>(*tensor, wanted), wanted, 3);
}

TEST_F(device_tensor, new_tensors_are_zeros_and_views_tell_the_device) {
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {11, 2});
  EXPECT_EQ(gathered<std::int64_t>(*tensor, all_rows(11)), std::vector<std::int64_t>(22));
  syncyte_buffer_t node;
  std::int64_t first = -1;
  tensor->node(node, first);
  for (const syncyte_buffer_t& view : {tensor->local(), node, tensor->describe()}) {
    EXPECT_EQ(view.memory, SYNCYTE_MEMORY_CUDA);
    EXPECT_EQ(view.device, device_of_rank());
  }
  std::int64_t rows = 0;
  for (const int member : world().node().members) rows += tensor->layout().partition().count(member);
  EXPECT_EQ(first, tensor->layout().partition().first(world().node().members.front()));
  EXPECT_EQ(node.shape[0], rows);
  EXPECT_EQ(tensor->describe().data, nullptr);
}

TEST_F(device_tensor, empty_ones) {
  for (const extents& shape : {extents{0}, {0, 5}, {4, 0}}) {
    const auto tensor = make_device_tensor(SYNCYTE_FLOAT64, shape);
    EXPECT_TRUE(gathered<double>(*tensor, {}).empty());
    tensor->sync();
  }
}

TEST_F(device_tensor, every_rank_writes_rows_of_others) {
  const auto tensor = make_device_tensor(SYNCYTE_INT32, {4 * ranks(), 5});
  std::vector<std::int64_t> mine;
  std::vector<std::int32_t> values;
  for (std::int64_t row = rank(); row < 4 * ranks(); row += ranks()) {
    mine.push_back(row);
    for (std::int64_t k = 0; k < 5; ++k) values.push_back(filled<std::int32_t>(row * 5 + k));
  }
  run_rows<tensor::scatter>(*tensor, mine, values);
  tensor->sync();
  expect_rows(gathered<std::int32_t>(*tensor, all_rows(4 * ranks())), all_rows(4 * ranks()), 5);
}

TEST_F(device_tensor, sums_of_all_ranks) {
  if (!can_add()) GTEST_SKIP() << "no rank sees all devices";
  const auto check = [&]<class T>(T, syncyte_dtype_t dtype) {
    const auto tensor = make_device_tensor(dtype, {6, 3});
    const std::vector<std::int64_t> rows{5, 0, 5, 2};
    run_rows<tensor::scatter_add>(*tensor, rows, std::vector<T>(12, static_cast<T>(rank() + 1)));
    tensor->sync();
    const T all = static_cast<T>(ranks() * (ranks() + 1) / 2);
    const std::vector<T> sums = gathered<T>(*tensor, all_rows(6));
    for (std::size_t row = 0; row < 6; ++row)
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(sums[row * 3 + k], row == 5 ? 2 * all : row == 0 || row == 2 ? all : T{}) << row;
  };
  check(float{}, SYNCYTE_FLOAT32);
  check(double{}, SYNCYTE_FLOAT64);
  check(std::int32_t{}, SYNCYTE_INT32);
  check(std::int64_t{}, SYNCYTE_INT64);
}

TEST_F(device_tensor, sync_waits_for_streams) {
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {2 * ranks()});
  void* const stream = memory::cuda_backend().create_stream(device_of_rank());
  const std::int64_t to = 2 * ((rank() + 1) % ranks());
  const auto index = index_on_device({to, to + 1});
  const device_array<std::int64_t> source({to, to + 1}, SYNCYTE_INT64, {2});
  const syncyte_buffer_t list = index.buffer(), values = source.buffer();
  {
    const with_stream on(stream);
    run<tensor::scatter>(*tensor, &list, &values);
  }
  tensor->sync();  // a thread without a stream waits for the tensor's operations, too
  EXPECT_EQ(gathered<std::int64_t>(*tensor, all_rows(2 * ranks())), all_rows(2 * ranks()));
}

TEST_F(device_tensor, operations_of_a_thread_with_a_stream_are_queued) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "a device may be fast";
  if (!on_one_node()) GTEST_SKIP() << "operations between nodes are complete on return";
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {4});
  write_local(*tensor, own_values<std::int64_t>(*tensor));
  tensor->sync();
  void* const stream = memory::cuda_backend().create_stream(device_of_rank());
  const auto index = index_on_device({3, 1});
  const device_array<std::int64_t> output({-1, -1}, SYNCYTE_INT64, {2});
  const syncyte_buffer_t list = index.buffer(), values = output.buffer();
  const with_stream on(stream);
  run<tensor::gather>(*tensor, &list, &values);
  EXPECT_EQ(output.read(), (std::vector<std::int64_t>{-1, -1}));
  memory::cuda_backend().synchronize(device_of_rank(), stream);
  EXPECT_EQ(output.read(), (std::vector<std::int64_t>{filled<std::int64_t>(3), filled<std::int64_t>(1)}));
}

TEST_F(device_tensor, an_index_out_of_range_is_named) {
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {10});
  for (const std::int64_t bad : {std::int64_t{10}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    const auto outcome = outcome_of([&] { gathered<std::int64_t>(*tensor, {3, bad, 4, bad}); });
    expect_error(outcome, SYNCYTE_ERR_INDEX,
                 fmt::format("index {} at position 1 is out of range; expected 0 to 9", bad));
    if (on_one_node()) expect_error(outcome, SYNCYTE_ERR_INDEX, "gather of tensor \"on devices\"");
  }
  EXPECT_EQ(gathered<std::int64_t>(*tensor, {3}), std::vector<std::int64_t>{0});
  if (!can_add()) return;
  const auto outcome =
      outcome_of([&] { run_rows<tensor::scatter_add>(*tensor, {2, 11}, std::vector<std::int64_t>{5, 6}); });
  expect_error(outcome, SYNCYTE_ERR_INDEX, on_one_node() ? "scatter_add of" : "index 11 at position 1");
}

TEST_F(device_tensor, a_queued_index_out_of_range_is_the_next_syncs_error) {
  if (!on_one_node()) GTEST_SKIP() << "operations between nodes are complete on return";
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {10});
  void* const stream = memory::cuda_backend().create_stream(device_of_rank());
  const auto index = index_on_device({3, rank() == 0 ? 12 : 4});
  const device_array<std::int64_t> output({-1, -1}, SYNCYTE_INT64, {2});
  const syncyte_buffer_t list = index.buffer(), values = output.buffer();
  {
    const with_stream on(stream);
    run<tensor::gather>(*tensor, &list, &values);
  }
  const auto error = outcome_of([&] { tensor->sync(); });
  expect_error(error, SYNCYTE_ERR_INDEX, "index 12 at position 1 is out of range");
  if (ranks() > 1) expect_error(error, SYNCYTE_ERR_INDEX, "rank 0");
  tensor->sync();
  {
    const with_stream on(stream);
    run<tensor::gather>(*tensor, &list, &values);
    memory::cuda_backend().synchronize(device_of_rank(), stream);
    const auto next = outcome_of([&] { run<tensor::gather>(*tensor, &list, &values); });
    if (rank() == 0)
      expect_error(next, SYNCYTE_ERR_INDEX, "index 12 at position 1");
    else
      EXPECT_EQ(next.status, SYNCYTE_SUCCESS);
  }
  tensor->sync();
}

TEST_F(device_tensor, arrays_elsewhere_are_refused) {
  const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {10, 2});
  const std::vector<std::int64_t> rows{1};
  const std::vector<float> host(2);
  const syncyte_buffer_t host_index = index_of(rows), host_values = buffer_of(host, SYNCYTE_FLOAT32, {1, 2});
  const auto index = index_on_device(rows);
  const device_array<float> values(host, SYNCYTE_FLOAT32, {1, 2});
  const syncyte_buffer_t list = index.buffer(), array = values.buffer();
  const auto refused = [&](const syncyte_buffer_t& i, const syncyte_buffer_t& v, syncyte_status_t status,
                           const char* text) {
    expect_error(outcome_of([&] { run<tensor::gather>(*tensor, &i, &v); }), status, text);
  };
  refused(host_index, array, SYNCYTE_ERR_ARGUMENT, "index: memory is the host's");
  refused(list, host_values, SYNCYTE_ERR_ARGUMENT, "output: memory is the host's");
  syncyte_buffer_t other = array;
  other.device = 77;
  refused(list, other, SYNCYTE_ERR_ARGUMENT, "output: device is 77");
  other = list;
  other.device = device_of_rank() + 1;  // one that this rank sees, where it sees several
  refused(other, array, SYNCYTE_ERR_ARGUMENT, fmt::format("index: device is {}", other.device).c_str());
  other = array;
  other.dtype = SYNCYTE_INT32;
  refused(list, other, SYNCYTE_ERR_TYPE, "float32");
  other = array;
  other.shape[0] = 2;
  refused(list, other, SYNCYTE_ERR_SHAPE, "output");
  refused(array, array, SYNCYTE_ERR_TYPE, "index: dtype is float32");
  other = tensor->local();
  if (other.shape[0] > 0) {
    other.shape[0] = 1;
    refused(list, other, SYNCYTE_ERR_ARGUMENT, "in the tensor's memory");
  }
  other = array;
  other.data = list.data;
  refused(list, other, SYNCYTE_ERR_ARGUMENT, "index is in the memory of output");
}

TEST_F(device_tensor, what_needs_host_memory_is_refused_by_name) {
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {10});
  const auto index = index_on_device({1});
  const device_array<std::int64_t> values({1}, SYNCYTE_INT64, {1});
  const syncyte_buffer_t list = index.buffer(), array = values.buffer();
  const auto refused = [&](auto&& call, const char* text) {
    expect_error(outcome_of(call), SYNCYTE_ERR_UNSUPPORTED, text);
  };
  refused([&] { start<tensor::gather>(*tensor, &list, &array); }, "the started form of tensor_gather");
  refused([&] { start<tensor::scatter_add>(*tensor, &list, &array); }, "the started form of tensor_scatter_add");
  refused([&] { fetch_add(*tensor, 1, 1); }, "tensor_fetch_add");
  refused([&] { tensor::load(*tensor, 1); }, "tensor_load");
  refused([&] { run<tensor::put_signal>(*tensor, &list, &array, tensor, 1, 1, SYNCYTE_OP_SUM); }, "tensor_put_signal");
  const std::int64_t zero = 0, number = 0;
  const syncyte_buffer_t box = buffer_of(std::vector<std::int64_t>{number}, SYNCYTE_INT64, {1});
  refused([&] { run<tensor::get_box>(*tensor, base::array_argument<std::int64_t>{&zero, 1}, &box); }, "boxes");
  refused([&] { tensor->relocate({}); }, "tensor_relocate");
  tensor::tensor_options options = device_options();
  options.row_locks = true;
  const std::int64_t shape[] = {3};
  refused([&] { tensor::whole_tensor::create(shared_world(), SYNCYTE_INT32, 1, shape, options); }, "row_locks");
  options = device_options();
  options.deterministic = true;
  refused([&] { tensor::whole_tensor::create(shared_world(), SYNCYTE_INT32, 1, shape, options); }, "deterministic");
  refused([&] { tensor::whole_tensor::wrap(shared_world(), &array, device_options()); }, "wrap arrays");
  const auto bytes = make_device_tensor(SYNCYTE_UINT8, {3});
  refused([&] { run_rows<tensor::scatter_add>(*bytes, {1}, std::vector<std::uint8_t>{1}); }, "uint8");
}

TEST_F(device_tensor, ranks_agree_on_the_memory) {
  tensor::tensor_options options = device_options();
  if (rank() == ranks() - 1) options.memory = SYNCYTE_MEMORY_HOST;
  const std::int64_t shape[] = {3};
  const auto make = [&] { tensor::whole_tensor::create(shared_world(), SYNCYTE_INT32, 1, shape, options); };
  if (ranks() > 1) expect_error(outcome_of(make), SYNCYTE_ERR_MISMATCH, "memory");
  options = device_options();
  if (rank() == ranks() - 1) options.device = 1000;
  expect_error(outcome_of(make), SYNCYTE_ERR_ARGUMENT, "device is 1000");
}

TEST_F(device_tensor, memory_is_freed_in_any_order) {
  make_tensor(SYNCYTE_INT8, {1});
  const auto before = device_resources();
  for (int round = 0; round < 3; ++round) {
    auto first = make_device_tensor(SYNCYTE_FLOAT32, {100, 100}), second = make_device_tensor(SYNCYTE_INT8, {1000});
    (rank() % 2 == 0 ? first : second).reset();
    (rank() % 2 == 0 ? second : first).reset();
    make_device_tensor(SYNCYTE_INT8, {1});
  }
  make_tensor(SYNCYTE_INT8, {1});  // a collective point, at which the last one is freed
  EXPECT_EQ(device_resources(), before);
}

/// Every step of creation that may fail on one rank: all ranks get the error, and nothing is left.
TEST_F(device_tensor, a_failure_of_one_rank_is_everybodys_error) {
  make_device_tensor(SYNCYTE_FLOAT32, {8});  // what stays for the process' life is there now
  if (counting_function() == nullptr) GTEST_SKIP() << "not the stand-in";
  make_tensor(SYNCYTE_INT8, {1});
  const auto before = device_resources();
  const std::size_t files_before = open_files();
  const std::int64_t rows = std::int64_t{3} << 19;  // each rank has pages
  const int odd = ranks() - 1;
  const auto fails = [&](const std::string& step, const char* text) {
    SCOPED_TRACE(step);
    if (rank() == odd) setenv("STANDIN_FAIL", step.c_str(), 1);
    const auto error = outcome_of([&] { make_device_tensor(SYNCYTE_FLOAT32, {rows * ranks()}); });
    unsetenv("STANDIN_FAIL");
    expect_error(error, SYNCYTE_ERR_MEMORY, text);
    if (ranks() > 1) expect_error(error, SYNCYTE_ERR_MEMORY, fmt::format("rank {}", odd));
    EXPECT_EQ(device_resources(), before);
    EXPECT_EQ(open_files(), files_before);
  };
  fails("cuMemAddressReserve:1", "tensor \"on devices\" (float32");
  fails("cuMemCreate:1", "cuMemCreate failed");
  fails("cuMemExportToShareableHandle:1", "cuMemExportToShareableHandle failed");
  const int members = world().node().size;
  for (int call = 1; call <= members; ++call) fails(fmt::format("cuMemMap:{}", call), "cuMemMap failed");
  for (int call = 1; call <= members; ++call) fails(fmt::format("cuMemSetAccess:{}", call), "cuMemSetAccess failed");
  for (int call = 1; call < members; ++call)
    fails(fmt::format("cuMemImportFromShareableHandle:{}", call), "cuMemImportFromShareableHandle failed");
  fails("cuMemHostAlloc:1", "cuMemHostAlloc failed");
  if (!on_one_node()) fails("cuMemHostAlloc:2", "cuMemHostAlloc failed");
  const auto tensor = make_device_tensor(SYNCYTE_FLOAT32, {rows * ranks()});
  EXPECT_EQ(gathered<float>(*tensor, {rows * ranks() - 1}), std::vector<float>{0});
}

/// Error 101: the devices are no peers, or another container has one of them.
TEST_F(device_tensor, memory_out_of_a_devices_reach_is_named) {
  make_device_tensor(SYNCYTE_FLOAT32, {8});
  if (counting_function() == nullptr) GTEST_SKIP() << "not the stand-in";
  if (ranks() == 1 || !on_one_node()) GTEST_SKIP() << "needs ranks that map each other's memory";
  make_tensor(SYNCYTE_INT8, {1});  // a collective point, at which the last one is freed
  const auto before = device_resources();
  const int odd = ranks() - 1;
  const auto devices = mpi::allgather(memory::cuda_system().id(device_of_rank()), world().data());
  const auto text = [&](int of) { return memory::text_of(devices[static_cast<std::size_t>(of)]); };
  for (const char* const step : {"cuMemImportFromShareableHandle:1:101", "cuMemMap:2:101", "cuMemSetAccess:2:101"}) {
    SCOPED_TRACE(step);
    std::optional<environment_scope> failing;
    if (rank() == odd) failing.emplace("STANDIN_FAIL", step);
    const auto error = outcome_of([&] { make_device_tensor(SYNCYTE_FLOAT32, {(std::int64_t{3} << 19) * ranks()}); });
    failing.reset();
    expect_error(error, SYNCYTE_ERR_UNSUPPORTED, "CUDA_ERROR_INVALID_DEVICE");
    expect_error(error, SYNCYTE_ERR_UNSUPPORTED, fmt::format("failed on rank {}", odd));
    expect_error(error, SYNCYTE_ERR_UNSUPPORTED,
                 fmt::format("mapping the memory of {}, which rank 0 of the node uses, for {}", text(0), text(odd)));
    EXPECT_EQ(device_resources(), before);
  }
}

TEST_F(device_tensor, too_many_open_files_on_one_rank) {
  make_device_tensor(SYNCYTE_FLOAT32, {8});
  if (ranks() == 1 || !on_one_node()) GTEST_SKIP() << "a single rank passes no files, and MPI between hosts needs some";
  std::optional<no_more_files> limited;
  if (rank() == 0) limited.emplace();
  const auto error = outcome_of([&] { make_device_tensor(SYNCYTE_FLOAT32, {std::int64_t{1} << 22}); });
  limited.reset();
  expect_error(error, SYNCYTE_ERR_LIMIT, "rank 0");
  expect_error(error, SYNCYTE_ERR_LIMIT, "this process may have 0 open files (RLIMIT_NOFILE; ulimit -n)");
  make_device_tensor(SYNCYTE_FLOAT32, {8});
}

TEST_F(device_tensor, atomics_need_a_rank_that_sees_both_devices) {
  if (can_add()) GTEST_SKIP() << "some rank sees all devices";
  const auto tensor = make_device_tensor(SYNCYTE_INT64, {10});
  const auto error = outcome_of([&] { run_rows<tensor::scatter_add>(*tensor, {2}, std::vector<std::int64_t>{5}); });
  expect_error(error, SYNCYTE_ERR_UNSUPPORTED, "no rank sees both");
}

}  // namespace
