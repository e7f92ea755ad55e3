// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints by the C++ interface; all else is tested through C's.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "syncyte/checkpoint.hpp"
#include "syncyte/syncyte.hpp"

namespace {

using namespace syncyte;

class checkpoint_in_cxx : public ::testing::Test {
 protected:
  const communicator world_ = communicator::world();
  const std::int32_t rank_ = world_.rank();
  const std::int32_t size_ = world_.size();
  const std::string path_ = std::string(std::getenv("SYNCYTE_TEST_FOLDER")) + "/cxx.h5";
};

TEST_F(checkpoint_in_cxx, arrays_come_back) {
  const std::vector<double> all{1, 2, 3};
  std::vector<std::int32_t> rows(2 * static_cast<std::size_t>(rank_ + 1), rank_);
  const extents shape{rank_ + 1, 2};
  {
    checkpoint_entries entries;
    entries.add("all", all).add_rows("rows", buffer(rows.data(), shape));
    const checkpoint_entries moved = std::move(entries);
    checkpoint::save(world_, path_, moved, {.step = 9, .attributes = R"({"name": "run"})"});
  }
  std::vector<double> all_loaded(3);
  std::vector<std::int32_t> rows_loaded(rows.size(), -1);
  checkpoint_entries entries;
  entries.add("all", buffer(all_loaded)).add_rows("rows", buffer(rows_loaded.data(), shape));
  checkpoint::load(world_, path_, entries);
  EXPECT_EQ(all_loaded, all);
  EXPECT_EQ(rows_loaded, rows);

  const checkpoint file(world_, path_);
  EXPECT_EQ(file.keys(), (std::vector<std::string>{"all", "rows"}));
  EXPECT_EQ(file.step(), 9);
  EXPECT_EQ(file.attributes(), R"({"name": "run"})");
  const checkpoint_key found = file.describe("rows");
  EXPECT_EQ(found.type, dtype::int32);
  EXPECT_EQ(found.shape, (extents{size_ * (size_ + 1) / 2, 2}));
  EXPECT_TRUE(found.is_rows);
  EXPECT_FALSE(file.describe("all").is_rows);
  std::vector<std::int32_t> first(2, -1);
  file.read("rows", 0, buffer(first.data(), extents{1, 2}));
  EXPECT_EQ(first, (std::vector<std::int32_t>{0, 0}));
  EXPECT_GT(file.bytes_read(), 0);
}

TEST_F(checkpoint_in_cxx, fields_of_a_bundle_come_back) {
  const layout columns = layout::mesh(world_, {3, 2 * size_}, {size_}, {.axes = {1}}, {.ghosts_low = {0, 1}});
  std::vector<float> array(9, static_cast<float>(rank_));
  bundle fields(world_);
  fields.add("x", columns, buffer(array.data(), extents{3, 3}));
  std::int64_t time = 5;
  const buffer time_array(&time, extents{});
  checkpoint_entries entries;
  entries.add("time", time_array);
  checkpoint::save_bundle(fields, path_, entries);
  std::vector<float> loaded(9, -1);
  fields.set_arrays("x", std::array{buffer(loaded.data(), extents{3, 3})});
  time = 0;
  checkpoint::load_bundle(fields, path_, entries);
  for (std::size_t i = 0; i < loaded.size(); ++i) EXPECT_EQ(loaded[i], i % 3 == 0 ? -1 : static_cast<float>(rank_));
  EXPECT_EQ(time, 5);
  EXPECT_THROW(checkpoint(world_, path_ + ".absent"), error);
  EXPECT_THROW(checkpoint_entries().add(std::string("a\0b", 3), time_array), error);
  checkpoint_entries constant;
  const std::vector<float> is_read(1);
  EXPECT_THROW(checkpoint::load(world_, path_, constant.add("time", is_read)), error);
}

}  // namespace
