// SPDX-License-Identifier: BSD-3-Clause
// Versions of a field in slots: what is taken is whole and of one version.

#include <gtest/gtest.h>

#include <cmath>

#include "collectives/block_arrays.hpp"
#include "comm/split.hpp"
#include "layout_arrays.hpp"
#include "random_layout.hpp"
#include "tensor/versions.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
using collectives::shared_layout;
using distribution::layout;
using distribution::per_axis;

tensor_pointer make(std::shared_ptr<shared_layout> by, syncyte_dtype_t dtype, std::int64_t slots) {
  tensor::tensor_options options;
  options.name = "field";
  return tensor::whole_tensor::create_by_layout(shared_world(), dtype, by, slots, options);
}

/// By MPI RMA each access takes long.
std::uint64_t trials() { return on_one_node() || has_fabric() ? 30 : 8; }

/// A value that each point has in each version.
double value_of(const per_axis& point, std::int64_t step) {
  return reference::value_at(point) + 1e6 * static_cast<double>(step);
}

/// This rank's arrays of a layout, with ghosts, which are -1, and any strides.
class own_arrays {
 public:
  explicit own_arrays(const layout& cut) : cut_(cut) {
    for (const int block : cut.blocks_of(world().rank())) {
      shapes_.push_back(collectives::allocated_shape(cut, block));
      values_.emplace_back(2 * static_cast<std::size_t>(product(shapes_.back())) + 1, -1.0);
    }
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      buffers.push_back(buffer_of(values_[i], SYNCYTE_FLOAT64, shapes_[i]));
      for (int axis = 0; axis < buffers[i].ndim; ++axis) buffers[i].strides[axis] *= 2;  // every other number
    }
  }

  void set(std::int64_t step) {
    const auto blocks = cut_.blocks_of(world().rank());
    for (std::size_t i = 0; i < blocks.size(); ++i)
      for (const auto& part : cut_.parts_of(blocks[i], distribution::holding::owned))
        reference::for_each_place(part.points.count, [&](const per_axis& at) {
          std::int64_t offset = 0;
          for (int axis = 0; axis < buffers[i].ndim; ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            offset += (part.offset[a] + at[a] + cut_.ghosts().low[a]) * buffers[i].strides[axis];
          }
          values_[i][static_cast<std::size_t>(offset) / sizeof(double)] =
              value_of(reference::plus(part.points.first, at), step);
        });
  }

  std::vector<syncyte_buffer_t> buffers;

 private:
  const layout& cut_;
  std::vector<extents> shapes_;
  std::vector<std::vector<double>> values_;
};

std::int64_t take(const tensor_pointer& field, const extents& lower, std::vector<double>& found, const extents& extent,
                  std::int64_t at_least = INT64_MIN, double timeout = -1) {
  const syncyte_buffer_t output = buffer_of(found, SYNCYTE_FLOAT64, extent);
  return field->versions().take(*field, at_least, lower, timeout, &output);
}

void expect_version(const std::vector<double>& found, const extents& lower, const extents& extent, std::int64_t step) {
  per_axis first{}, count = distribution::box().count;
  std::ranges::copy(lower, first.begin());
  std::ranges::copy(extent, count.begin());
  std::size_t place = 0;
  reference::for_each_place(
      count, [&](const per_axis& at) { ASSERT_EQ(found[place++], value_of(reference::plus(first, at), step)); });
}

TEST(tensor_versions, are_published_from_blocks_of_any_layout) {
  for (std::uint64_t seed = 0; seed < trials(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<std::int64_t> cells = reference::random_cells(seed);
    const layout cut = reference::random_layout(cells, ranks(), seed, reference::random_points(cells.size(), seed));
    const std::int64_t slots = 1 + static_cast<std::int64_t>(seed) % 3;
    const tensor_pointer field = make(std::make_shared<shared_layout>(shared_world(), cut), SYNCYTE_FLOAT64, slots);
    const extents whole(field->layout().shape().begin() + 1, field->layout().shape().end());
    own_arrays arrays(cut);
    for (std::int64_t step = -2; step < 6; step += 2) {
      arrays.set(step);
      field->versions().publish(*field, arrays.buffers, step);
      barrier();
      std::vector<double> found(static_cast<std::size_t>(product(whole)));
      ASSERT_EQ(take(field, extents(whole.size(), 0), found, whole), step);
      expect_version(found, extents(whole.size(), 0), whole, step);
      if (HasFatalFailure()) return;
      const extents corner(whole.size(), 1);
      extents rest = whole;
      for (std::int64_t& extent : rest) extent = std::max<std::int64_t>(extent - 1, 0);
      ASSERT_EQ(take(field, corner, found, rest, step - 1), step);
      expect_version(found, corner, rest, step);
      if (HasFatalFailure()) return;
      barrier();
    }
  }
}

/// The last rank takes what the others publish as fast as they can: it knows the field by its name.
void check_no_version_is_torn(std::int64_t slots, std::int64_t versions) {
  const bool publishes = rank() < std::max(ranks() - 1, 1);
  const auto solvers = comm::split(world(), publishes ? 0 : 1, 0, {.name = "solvers"});
  const std::vector<std::int64_t> cells{8, 1 << 9};
  std::shared_ptr<shared_layout> by;
  if (publishes) by = std::make_shared<shared_layout>(solvers, reference::random_layout(cells, solvers->size(), 5));
  const tensor_pointer field = make(by, SYNCYTE_FLOAT64, slots);
  ASSERT_EQ(field->layout().shape()[0], slots);
  if (publishes) {
    std::vector<std::vector<double>> values;
    std::vector<syncyte_buffer_t> buffers;
    for (const int block : by->cut().blocks_of(solvers->rank())) {
      const extents shape = collectives::allocated_shape(by->cut(), block);
      values.emplace_back(static_cast<std::size_t>(product(shape)));
      buffers.push_back(buffer_of(values.back(), SYNCYTE_FLOAT64, shape));
    }
    for (std::int64_t step = 1; step <= versions; ++step) {
      for (auto& each : values) std::ranges::fill(each, static_cast<double>(step));
      field->versions().publish(*field, buffers, step);
    }
  }
  if (!publishes || ranks() == 1) {
    std::vector<double> found(static_cast<std::size_t>(product(cells)));
    std::int64_t taken = 0, last = 0;
    while (last < versions) {
      const std::int64_t step = take(field, {0, 0}, found, cells, last + 1);
      ASSERT_GT(step, last);
      for (const double each : found) ASSERT_EQ(each, static_cast<double>(step)) << "after " << taken << " versions";
      last = step;
      ++taken;
    }
    EXPECT_GE(taken, 1);
  }
  barrier();
}

TEST(tensor_versions, are_never_torn) {
  for (const std::int64_t slots : {1, 2, 4}) {
    SCOPED_TRACE("slots " + std::to_string(slots));
    check_no_version_is_torn(slots, on_one_node() ? 300 : has_fabric() ? 60 : 20);
  }
}

std::shared_ptr<shared_layout> halves() {
  const std::vector<distribution::axis> axes{distribution::axis::equal(2 * ranks(), ranks())};
  distribution::mesh mesh{{ranks()}, {}};
  for (int each = 0; each < ranks(); ++each) mesh.ranks.push_back(each);
  const layout cut = layout::on_mesh(axes, std::vector<std::vector<int>>{{0}}, mesh, ranks());
  return std::make_shared<shared_layout>(shared_world(), cut);
}

TEST(tensor_versions, wrong_arguments_are_errors) {
  const tensor_pointer field = make(halves(), SYNCYTE_FLOAT64, 2);
  tensor::versions& versions = field->versions();
  std::vector<double> two(2, 1.0), three(3), found(2);
  const std::vector<syncyte_buffer_t> right{buffer_of(two, SYNCYTE_FLOAT64, {2})};
  const auto publish = [&](const std::vector<syncyte_buffer_t>& arrays, std::int64_t step) {
    return outcome_of([&] { versions.publish(*field, arrays, step); });
  };
  expect_error(outcome_of([&] { take(field, {0}, found, {2}, INT64_MIN, 0.01); }), SYNCYTE_ERR_TIMEOUT,
               "for 0.01 seconds; there is none yet");
  expect_error(publish({}, 1), SYNCYTE_ERR_ARGUMENT, "1 arrays, one for each block of this rank");
  expect_error(publish({buffer_of(three, SYNCYTE_FLOAT64, {3})}, 1), SYNCYTE_ERR_SHAPE, "[3]; expected [2]");
  expect_error(publish({buffer_of(two, SYNCYTE_FLOAT32, {2})}, 1), SYNCYTE_ERR_TYPE, "float32");
  expect_error(publish(right, 5), SYNCYTE_SUCCESS, "");
  expect_error(publish(right, 5), SYNCYTE_ERR_ARGUMENT, "step is 5; expected more than 5");
  barrier();
  expect_error(outcome_of([&] { take(field, {0}, found, {2}, 6, 0); }), SYNCYTE_ERR_TIMEOUT,
               "no version of step 6 or more for 0 seconds; the newest has step 5");
  EXPECT_EQ(take(field, {0}, found, {2}, 5, 0), 5);
  expect_error(outcome_of([&] { take(field, {2 * ranks() - 1}, found, {2}); }), SYNCYTE_ERR_INDEX, "lower[0] is");
  expect_error(outcome_of([&] { take(field, {0, 0}, found, {2}); }), SYNCYTE_ERR_SHAPE, "lower");
  expect_error(outcome_of([&] { take(field, {0, 0}, found, {2, 1}); }), SYNCYTE_ERR_SHAPE, "lower");
  expect_error(outcome_of([&] { take(field, {0}, found, {2, 1}); }), SYNCYTE_ERR_SHAPE, "expected 1");
  expect_error(outcome_of([&] { make(halves(), SYNCYTE_FLOAT64, 0)->versions(); }), SYNCYTE_ERR_UNSUPPORTED,
               "was made without slots");
  expect_error(outcome_of([&] { make(halves(), SYNCYTE_FLOAT64, -1); }), SYNCYTE_ERR_ARGUMENT, "slots is -1");
  expect_error(outcome_of([&] { make(halves(), SYNCYTE_FLOAT64, std::int64_t{1} << 31); }), SYNCYTE_ERR_ARGUMENT,
               "slots");
  const std::vector<std::int64_t> none{0};
  const auto empty = std::make_shared<shared_layout>(shared_world(), layout::of_blocks(none, {}, ranks()));
  expect_error(outcome_of([&] { make(empty, SYNCYTE_INT8, 2); }), SYNCYTE_ERR_ARGUMENT, "the layout has no points");
  expect_error(outcome_of([&] { take(field, {0}, found, {2}, 5, NAN); }), SYNCYTE_ERR_ARGUMENT, "timeout");
  if (ranks() > 1)
    expect_error(outcome_of([&] { make(halves(), SYNCYTE_FLOAT64, 1 + rank() % 2); }), SYNCYTE_ERR_MISMATCH, "slots");
  barrier();
}

TEST(tensor_versions, ranks_that_publish_different_steps_get_an_error) {
  if (ranks() == 1) return;
  const tensor_pointer field = make(halves(), SYNCYTE_FLOAT64, 2);
  std::vector<double> values(2);
  const std::vector<syncyte_buffer_t> arrays{buffer_of(values, SYNCYTE_FLOAT64, {2})};
  field->versions().publish(*field, arrays, -3);
  if (rank() == 0) field->versions().publish(*field, arrays, 7);
  barrier();
  if (rank() == 1)
    expect_error(outcome_of([&] { field->versions().publish(*field, arrays, 8); }), SYNCYTE_ERR_ARGUMENT,
                 "step is 8; expected 7, with which another rank has published this version");
  std::vector<double> found(2);
  expect_error(outcome_of([&] { take(field, {0}, found, {2}, 7, 0); }), SYNCYTE_ERR_TIMEOUT, "the newest has step -3");
  barrier();
  if (rank() > 0) field->versions().publish(*field, arrays, 7);  // the right one, after the error
  EXPECT_EQ(take(field, {0}, found, {2}, 7), 7);
  barrier();
  field->versions().publish(*field, arrays, 9);
  EXPECT_EQ(take(field, {0}, found, {2}, 9), 9);
  barrier();
}

TEST(tensor_versions, the_newest_complete_one_stays) {
  const tensor_pointer field = make(halves(), SYNCYTE_FLOAT64, 2);
  std::vector<double> values(2, 1.0), found(static_cast<std::size_t>(2 * ranks()));
  const std::vector<syncyte_buffer_t> arrays{buffer_of(values, SYNCYTE_FLOAT64, {2})};
  field->versions().publish(*field, arrays, 1);
  std::ranges::fill(values, 2.0);
  barrier();
  if (rank() == 0) field->versions().publish(*field, arrays, 2);
  barrier();
  EXPECT_EQ(take(field, {0}, found, {2 * ranks()}), ranks() == 1 ? 2 : 1);
  for (const double each : found) EXPECT_EQ(each, ranks() == 1 ? 2.0 : 1.0);
  barrier();
  if (rank() > 0) field->versions().publish(*field, arrays, 2);
  EXPECT_EQ(take(field, {0}, found, {2 * ranks()}, 2), 2);
  for (const double each : found) EXPECT_EQ(each, 2.0);
  barrier();
}

/// New versions come all the time, none with the step that is waited for.
TEST(tensor_versions, a_timeout_holds_although_versions_come) {
  if (ranks() == 1) return;
  const std::vector<std::int64_t> cells{3};
  const std::vector<distribution::rank_box> blocks{{0, {{0}, {3, 1, 1, 1, 1, 1, 1, 1}}}};
  const tensor_pointer field = make(
      std::make_shared<shared_layout>(shared_world(), layout::of_blocks(cells, blocks, ranks())), SYNCYTE_FLOAT64, 2);
  const tensor_pointer late = make_tensor(SYNCYTE_INT64, {1});
  std::vector<double> values(3);
  const std::vector<syncyte_buffer_t> arrays{buffer_of(values, SYNCYTE_FLOAT64, {3})};
  if (rank() == 0)
    for (std::int64_t step = 0; tensor::load(*late, 0) < ranks() - 1; ++step)
      field->versions().publish(*field, arrays, step);
  else
    expect_error(outcome_of([&] { take(field, {0}, values, {3}, INT64_MAX, 0.05); }), SYNCYTE_ERR_TIMEOUT, "0.05");
  if (rank() > 0) fetch_add(*late, 0, 1);
  barrier();
}

TEST(tensor_versions, arrays_in_its_own_memory_are_refused) {
  const tensor_pointer field = make(halves(), SYNCYTE_FLOAT64, 2);
  syncyte_buffer_t mine = field->local();
  const syncyte_buffer_t slot = base::make_buffer(mine.data, SYNCYTE_FLOAT64, extents{2});
  expect_error(outcome_of([&] { field->versions().publish(*field, std::vector{slot}, 1); }), SYNCYTE_ERR_ARGUMENT,
               "in the tensor's own memory");
  expect_error(outcome_of([&] { field->versions().take(*field, 0, extents{0}, 0, &slot); }), SYNCYTE_ERR_ARGUMENT,
               "in the tensor's own memory");
  barrier();
}

/// A rank that is slots - 1 versions ahead waits for those that publish too.
TEST(tensor_versions, no_rank_laps_another) {
  const tensor_pointer field = make(halves(), SYNCYTE_FLOAT64, 3);
  std::vector<double> values(2);
  const std::vector<syncyte_buffer_t> arrays{buffer_of(values, SYNCYTE_FLOAT64, {2})};
  if (rank() == 0) barrier();
  const std::int64_t steps = on_one_node() || has_fabric() ? 20 : 4;  // by MPI RMA each takes a second or more
  for (std::int64_t step = 1; step <= steps; ++step) {
    std::ranges::fill(values, static_cast<double>(step));
    field->versions().publish(*field, arrays, step);
    if (rank() > 0 && step == 2) barrier();  // two ahead of the first rank
  }
  std::vector<double> found(static_cast<std::size_t>(2 * ranks()));
  EXPECT_EQ(take(field, {0}, found, {2 * ranks()}, steps), steps);
  for (const double each : found) EXPECT_EQ(each, static_cast<double>(steps));
  barrier();
}

}  // namespace
