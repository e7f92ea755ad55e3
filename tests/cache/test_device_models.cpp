// SPDX-License-Identifier: BSD-3-Clause
// Models in device memory, on the stand-in for the driver or on devices. Rank 0 serves and publishes; all ranks bind.

#include <mpi.h>
#include <unistd.h>

#include "devices.hpp"
#include "models_fixture.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
using cache::model;
using cache::model_target;
using cache::models;

int rank() { return world_rank(); }
void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

constexpr std::size_t group_numbers = 9 * mib / sizeof(std::int32_t);

/// First numbers of a tensor, in host memory.
std::vector<std::int32_t> values_of(model& bound, const std::string& tensor, std::size_t count) {
  const auto& found = bound.layout().tensors()[bound.layout().find(tensor)];
  bound.wait(found.group);
  std::vector<std::int32_t> result(count);
  memory::copy_now({result.data(), SYNCYTE_MEMORY_HOST, 0},
                   {bound.data(found), bound.view().memory(), bound.view().device()}, count * sizeof(std::int32_t));
  return result;
}

constexpr model_target in_place{.memory = model_target::anywhere};
constexpr model_target on_host{};
model_target on_device(bool is_copy = false) { return {SYNCYTE_MEMORY_CUDA, device_of_rank(), is_copy}; }

/// The publisher and the server end; what is bound stays, and is freed by its last holder. It comes first: a
/// process that is forked after the driver has started cannot use it.
TEST(device_model_deaths, memory_outlives_its_publisher) {
  if (rank() > 0) return;
  std::string pattern = std::filesystem::temp_directory_path() / "models-XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern.data());
  const cache::rendezvous place{.name = "models", .folder = folder.string(), .nonce = {1, 2}, .seconds = 20};
  const auto serve = [&] {
    const auto all = models::create({});
    cache::publication made(all, "net", true, 0);
    auto values = numbers(1000, 7);
    const syncyte_buffer_t buffer = buffer_of(values);
    made.add("x", &buffer);
    made.finish();
    all->serve(place);
    pause();
    return 0;
  };
  // The driver is used in children alone.
  const pid_t server = start_process(serve);
  const int result = run_process([&] {
    if (memory::cuda_backend().count() == 0) return 77;
    const auto bound = model::bind(*models::connect(place), "net", in_place);
    bound->wait(0);
    kill(server, SIGKILL);
    if (values_of(*bound, "x", 1000) != numbers(1000, 7)) return 1;
    bound->verify();
    return outcome([&] {
             models::connect({.name = "models", .folder = folder.string(), .nonce = {1, 2}, .seconds = 0.1});
           }).first == SYNCYTE_ERR_TIMEOUT
               ? 0
               : 2;
  });
  kill(server, SIGKILL);
  wait_process(server);
  std::filesystem::remove_all(folder);
  if (result == 77) GTEST_SKIP() << "no CUDA device";
  EXPECT_EQ(result, 0);
}

class device_models : public models_test {
 protected:
  void SetUp() override {
    if (device_of_rank() < 0) GTEST_SKIP() << "no CUDA device";
    models_test::SetUp();
    std::array<char, 200> folder{};
    folder_.string().copy(folder.data(), folder.size() - 1);
    MPI_Bcast(folder.data(), folder.size(), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank() > 0) std::filesystem::remove(folder_);
    folder_ = folder.data();
    auto id = memory::cuda_system().id(device_of_rank());
    MPI_Bcast(id.data(), static_cast<int>(id.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    sees_models_device_ = memory::cuda_system().find(id) >= 0;
    if (rank() == 0) models_ = served();
    if (rank() > 0) models_ = models::connect(place());
  }
  void TearDown() override {
    if (!models_) return;
    barrier();
    models_.reset();
    if (rank() == 0) models_test::TearDown();
  }

  /// Runs on rank 0; the others wait.
  template <class Step>
  void on_first(Step&& step) {
    if (rank() == 0) step();
    barrier();
  }

  /// A model "net" of groups "x0", "x1", ... on rank 0's device, or in host memory.
  void publish_groups(int groups, int device) {
    on_first([&] {
      cache::publication made(models_, "net", true, device);
      std::vector<std::vector<std::int32_t>> values;
      for (int group = 0; group < groups; ++group) values.push_back(numbers(group_numbers, 10 * group));
      for (int group = 0; group < groups; ++group) {
        const syncyte_buffer_t buffer = buffer_of(values[static_cast<std::size_t>(group)]);
        made.add("x" + std::to_string(group), &buffer);
      }
      made.finish();
    });
  }

  static void expect_groups(model& bound, int groups) {
    ASSERT_EQ(bound.layout().groups(), static_cast<std::uint64_t>(groups));
    for (int group = 0; group < groups; ++group)
      EXPECT_EQ(values_of(bound, "x" + std::to_string(group), group_numbers), numbers(group_numbers, 10 * group));
  }

  bool sees_models_device_ = false;  // the device of rank 0
  std::shared_ptr<models> models_;
};

TEST_F(device_models, all_processes_read_what_one_publishes) {
  publish_groups(3, device_of_rank());
  if (sees_models_device_) {
    const auto bound = model::bind(*models_, "net", in_place);
    EXPECT_TRUE(bound->view().is_read_only());
    EXPECT_EQ(bound->view().memory(), SYNCYTE_MEMORY_CUDA);
    EXPECT_EQ(bound->ready(), 3u);
    expect_groups(*bound, 3);
    bound->verify();
  } else {
    const auto [status, text] = outcome([&] { model::bind(*models_, "net", in_place); });
    EXPECT_EQ(status, SYNCYTE_ERR_UNSUPPORTED);
    EXPECT_TRUE(text.find("the device GPU-") != std::string::npos) << text;
  }
}

TEST_F(device_models, other_memory_is_a_copy_of_the_process) {
  for (const bool lies_on_device : {true, false}) {
    publish_groups(2, lies_on_device ? device_of_rank() : -1);
    for (const model_target& target : {on_device(), on_device(true), on_host}) {
      if (lies_on_device && target.memory == SYNCYTE_MEMORY_HOST && !sees_models_device_) continue;
      const auto bound = model::bind(*models_, "net", target);
      const bool is_on_device = bound->view().memory() == SYNCYTE_MEMORY_CUDA;
      EXPECT_EQ(is_on_device, target.memory == SYNCYTE_MEMORY_CUDA);
      expect_groups(*bound, 2);
      if (bound->view().is_read_only()) continue;
      std::int32_t mine = -1 - rank();
      const auto& tensor = bound->layout().tensors()[1];
      memory::copy_now({bound->data(tensor), bound->view().memory(), bound->view().device()},
                       {&mine, SYNCYTE_MEMORY_HOST, 0}, sizeof(mine));
      EXPECT_EQ(values_of(*bound, "x1", 2), (std::vector<std::int32_t>{mine, 11}));
      if (!lies_on_device || sees_models_device_) {
        EXPECT_EQ(outcome([&] { bound->verify(); }).first, SYNCYTE_SUCCESS) << "of what was published";
      }
    }
    barrier();
    on_first([&] {
      ASSERT_TRUE(becomes_true([&] { return holders_of(*models_, "net").empty(); }));
      models_->remove("net");
    });
  }
}

TEST_F(device_models, sources_lie_anywhere) {
  on_first([&] {
    const std::vector<std::int64_t> shape{2, 3};
    const device_array<std::int32_t> dense({1, 2, 3, 4, 5, 6}, SYNCYTE_INT32, shape);
    std::vector<std::int32_t> host = numbers(6, 1);
    syncyte_buffer_t transposed = dense.buffer(),
                     gaps = base::make_buffer(host.data(), SYNCYTE_INT32, std::vector<std::int64_t>{3});
    std::swap(transposed.shape[0], transposed.shape[1]);
    transposed.strides[0] = 4, transposed.strides[1] = 12;
    gaps.strides[0] = 8;
    for (const int device : {device_of_rank(), -1}) {
      cache::publication made(models_, device < 0 ? "host" : "device", true, device);
      const syncyte_buffer_t rows = dense.buffer(), later = shape_of(0);
      made.add("rows", &rows);
      made.add("columns", &transposed);
      made.add("gaps", &gaps);
      made.add("nothing", &later);
      made.finish();
      syncyte_buffer_t holes = dense.buffer();
      holes.shape[1] = 1;
      cache::publication wrong(models_, "wrong", false, device);
      wrong.add("holes", &holes);
      const auto [status, text] = outcome([&] { wrong.finish(); });
      EXPECT_EQ(status, SYNCYTE_ERR_SHAPE);
      EXPECT_TRUE(text.find("\"holes\"") != std::string::npos) << text;
    }
  });
  for (const std::string name : {"host", "device"}) {
    if (name == "device" && !sees_models_device_) continue;
    const auto bound = model::bind(*models_, name, in_place);
    EXPECT_EQ(values_of(*bound, "rows", 6), numbers(6, 1));
    EXPECT_EQ(values_of(*bound, "columns", 6), numbers(6, 1)) << "in the order of its strides";
    EXPECT_EQ(values_of(*bound, "gaps", 3), (std::vector<std::int32_t>{1, 3, 5}));
    bound->verify();
  }
}

/// The stand-in's streams run as late as they can: a copy that fill() does not wait for would get the later values.
TEST_F(device_models, a_source_may_change_once_it_is_copied) {
  on_first([&] {
    cache::publication made(models_, "net", false, device_of_rank());
    const device_array<std::int32_t> source(numbers(1000, 1), SYNCYTE_INT32, {1000});
    const syncyte_buffer_t buffer = source.buffer(), shape = shape_of(1000);
    made.add("x", &shape);
    made.fill("x", &buffer);
    auto later = numbers(1000, 7);
    memory::copy({buffer.data, SYNCYTE_MEMORY_CUDA, buffer.device}, {later.data(), SYNCYTE_MEMORY_HOST, 0}, 4000);
    made.finish();
    EXPECT_EQ(values_of(*model::bind(*models_, "net", in_place), "x", 1000), numbers(1000, 1));
  });
}

TEST_F(device_models, groups_arrive_one_after_another) {
  std::unique_ptr<cache::publication> loading;
  on_first([&] {
    loading = std::make_unique<cache::publication>(models_, "net", true, device_of_rank());
    const syncyte_buffer_t shape = shape_of(group_numbers);
    for (const std::string name : {"x0", "x1", "x2"}) loading->add(name, &shape);
    loading->start();
  });
  const auto bound = model::bind(*models_, "net", sees_models_device_ ? in_place : on_device());
  const auto copy = model::bind(*models_, "net", on_device(true));
  EXPECT_EQ(outcome([&] { bound->wait(0, 0.01); }).first, SYNCYTE_ERR_TIMEOUT);
  barrier();
  for (int group = 0; group < 3; ++group) {
    on_first([&] {
      auto values = numbers(group_numbers, 10 * group);
      const syncyte_buffer_t buffer = buffer_of(values);
      loading->fill("x" + std::to_string(group), &buffer);
      if (group == 2) loading->finish();
    });
    for (const auto& each : {bound, copy}) {
      EXPECT_EQ(values_of(*each, "x" + std::to_string(group), 3), numbers(3, 10 * group));
      EXPECT_EQ(each->ready(), static_cast<std::uint64_t>(group + 1));
    }
    barrier();  // all have looked before the next group comes
  }
}

TEST_F(device_models, the_least_recently_used_is_evicted_on_each_device) {
  if (rank() > 0) return;
  const auto few = models::create({.host = 3 * mib, .device = 5 * mib});
  const auto put = [&](const std::string& name, int device) {
    cache::publication made(few, name, false, device);
    auto values = numbers(10, 3);
    const syncyte_buffer_t buffer = buffer_of(values);
    made.add("x", &buffer);
    made.finish();
  };
  put("host", -1);
  put("first", device_of_rank());
  put("second", device_of_rank());
  {
    model::bind(*few, "first", in_place);
  }
  put("third", device_of_rank());
  EXPECT_EQ(holders_of(*few, "second"), std::vector<pid_t>{-1}) << "evicted";
  EXPECT_TRUE(holders_of(*few, "first").empty());
  EXPECT_TRUE(holders_of(*few, "host").empty());
  EXPECT_EQ(few->listed(0).device, memory::text_of(memory::cuda_system().id(device_of_rank())));
  EXPECT_EQ(few->listed(0).bytes, 2 * mib);
  EXPECT_EQ(few->listed(1).device, "");
  const auto holds_first = model::bind(*few, "first", in_place), holds_third = model::bind(*few, "third", in_place);
  const auto [status, text] = outcome([&] { put("fourth", device_of_rank()); });
  EXPECT_EQ(status, SYNCYTE_ERR_MEMORY);
  EXPECT_TRUE(text.find("2097152 bytes of GPU-") != std::string::npos) << text;
}

/// Every step that may fail: an error, and nothing is left.
TEST_F(device_models, a_step_that_fails_leaves_nothing) {
  publish_groups(1, device_of_rank());
  if (counting_function() == nullptr) GTEST_SKIP() << "not the stand-in";
  const model_target here = sees_models_device_ ? in_place : on_device(true);
  const auto publish_one = [&] {
    cache::publication made(models_, "other " + std::to_string(rank()), true, device_of_rank());
    auto values = numbers(10, 3);
    const syncyte_buffer_t buffer = buffer_of(values);
    made.add("x", &buffer);
    made.finish();
  };
  publish_one();
  models_->remove("other " + std::to_string(rank()));
  {
    model::bind(*models_, "net", here);
  }
  const auto before = device_resources();
  const auto fails = [&](const std::string& step, auto&& work) {
    SCOPED_TRACE(step);
    setenv("STANDIN_FAIL", step.c_str(), 1);
    const auto [status, text] = outcome(work);
    unsetenv("STANDIN_FAIL");
    EXPECT_EQ(status, SYNCYTE_ERR_MEMORY) << text;
    EXPECT_TRUE(text.find(step.substr(0, step.find(':'))) != std::string::npos) << text;
    EXPECT_EQ(device_resources(), before);
  };
  for (const char* const step : {"cuMemAddressReserve:1", "cuMemCreate:1", "cuMemMap:1", "cuMemSetAccess:1",
                                 "cuMemExportToShareableHandle:1", "cuMemHostAlloc:1"})
    fails(step, publish_one);
  for (const char* const step :
       {"cuMemAddressReserve:1", "cuMemImportFromShareableHandle:1", "cuMemMap:1", "cuMemSetAccess:1"})
    fails(step, [&] { model::bind(*models_, "net", here); });
  fails("cuMemAlloc:1", [&] { model::bind(*models_, "net", on_device(true)); });
  barrier();
  publish_one();
  const auto bound = model::bind(*models_, "net", here);
  EXPECT_EQ(values_of(*bound, "x0", 3), numbers(3, 0));
}

}  // namespace
