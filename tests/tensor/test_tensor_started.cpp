// Started accesses to rows: the same results as the blocking ones, several at once, in any order of their ends.
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <thread>

#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

constexpr std::int64_t rows = 101, columns = 33;

/// One started gather of random rows, with its memory.
struct gathering {
  gathering(tensor::whole_tensor& from, int seed)
      : index(reference::random_rows<std::int64_t>(seed, rank(), 300, rows)), output(300 * columns) {
    const syncyte_buffer_t wanted = index_of(index);
    const syncyte_buffer_t found = buffer_of(output, SYNCYTE_INT32, {300, columns});
    access = from.igather(&wanted, &found);
  }
  void check() const {
    for (std::size_t i = 0; i < output.size(); ++i) {
      const auto column = static_cast<std::int64_t>(i) % columns;
      ASSERT_EQ(output[i], filled<std::int32_t>(index[i / columns] * columns + column)) << i;
    }
  }

  std::vector<std::int64_t> index;
  std::vector<std::int32_t> output;
  std::unique_ptr<tensor::started_access> access;
};

TEST(StartedGather, SeveralAtOnce) {
  for (const auto& parts : partitions(rows)) {
    const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns}, parts);
    fill<std::int32_t>(*tensor);
    std::deque<gathering> all;
    for (int i = 0; i < 40; ++i) all.emplace_back(*tensor, i);
    for (auto each = all.rbegin(); each != all.rend(); ++each) each->access->wait();
    for (const auto& each : all) each.check();
    barrier();
  }
}

TEST(StartedGather, EndsWithoutCalls) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  fill<std::int32_t>(*tensor);
  gathering started(*tensor, 5);
  const auto begin = std::chrono::steady_clock::now();
  while (!started.access->test() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(started.access->test());
  started.check();
  barrier();
}

TEST(StartedGather, KeepsTheTensor) {
  auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  fill<std::int32_t>(*tensor);
  gathering started(*tensor, 7);
  tensor.reset();
  started.access->wait();
  started.check();
  barrier();
}

TEST(StartedGather, CanBeGivenUp) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  fill<std::int32_t>(*tensor);
  for (int i = 0; i < 10; ++i) gathering given_up(*tensor, i);
  gathering started(*tensor, 11);
  started.access->wait();
  started.check();
  barrier();
}

TEST(StartedScatter, WritesItsRows) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  std::vector<std::int64_t> mine;  // each rank writes its share of all rows, wherever they are
  for (std::int64_t row = rank(); row < rows; row += ranks()) mine.push_back(row);
  std::vector<std::int32_t> source;
  for (const std::int64_t row : mine)
    for (std::int64_t j = 0; j < columns; ++j) source.push_back(filled<std::int32_t>(row * columns + j));
  const syncyte_buffer_t index = index_of(mine);
  const syncyte_buffer_t packed = buffer_of(source, SYNCYTE_INT32, {static_cast<std::int64_t>(mine.size()), columns});
  tensor->iscatter(&index, &packed)->wait();
  tensor->sync();
  EXPECT_EQ(read_all<std::int32_t>(*tensor), filled_table<std::int32_t>(rows * columns));
  barrier();
}

TEST(StartedScatterAdd, LosesNoAdd) {
  if (!on_one_node() && !has_fabric()) GTEST_SKIP() << "MPI RMA cannot add";
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows, 4});
  std::vector<std::int64_t> all(rows);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::int64_t> ones(rows * 4, 1);
  const syncyte_buffer_t index = index_of(all);
  const syncyte_buffer_t packed = buffer_of(ones, SYNCYTE_INT64, {rows, 4});
  std::deque<std::unique_ptr<tensor::started_access>> adds;
  for (int i = 0; i < 20; ++i) adds.push_back(tensor->iscatter_add(&index, &packed));
  for (auto& add : adds) add->wait();
  tensor->sync();
  EXPECT_EQ(read_all<std::int64_t>(*tensor), std::vector<std::int64_t>(rows * 4, 20 * ranks()));
  barrier();
}

TEST(StartedGather, WrongArgumentsFailAtOnce) {
  const auto tensor = make_tensor(SYNCYTE_INT32, {rows, columns});
  const std::vector<std::int64_t> wrong{rows};
  std::vector<std::int32_t> output(columns);
  const syncyte_buffer_t index = index_of(wrong);
  const syncyte_buffer_t found = buffer_of(output, SYNCYTE_INT32, {1, columns});
  expect_error(outcome_of([&] { tensor->igather(&index, &found); }), SYNCYTE_ERR_INDEX, "index 101 at position 0");
  barrier();
}

}  // namespace
