// SPDX-License-Identifier: BSD-3-Clause
// Arrays of random layouts, with ghosts and any strides, go from one layout to another.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allocated.hpp"
#include "base/buffer.hpp"
#include "base/streaming_copy.hpp"
#include "collectives/forms.hpp"
#include "collectives/relocation.hpp"
#include "core_world.hpp"
#include "layout_arrays.hpp"
#include "memory/pool.hpp"
#include "mpi/small_collectives.hpp"
#include "random_layout.hpp"
#include "sent_messages.hpp"
#include "strided_array.hpp"

namespace {

using namespace syncyte;
using distribution::holding;
using distribution::layout;
using distribution::per_axis;
using test::expect_error;
using test::extents;
using test::outcome_of;
using test::strided_array;
using test::strides;
using test::world;

using direction = collectives::relocation::direction;

constexpr std::int32_t stale = -5;
constexpr std::size_t large_buffer = 1 << 20;

std::int32_t value_at(const per_axis& point) {
  return static_cast<std::int32_t>(static_cast<std::int64_t>(reference::value_at(point)) % 1000003);
}

/// This rank's arrays of a layout, ghosts included.
class own_arrays {
 public:
  explicit own_arrays(const layout& cut, strides how = strides::dense) : cut_(cut) {
    for (const int block : cut.blocks_of(world().rank())) {
      const per_axis all = cut.allocated_of(block);
      const extents shape(all.begin(), all.begin() + cut.ndim());
      arrays_.emplace_back(shape, how);
      arrays_.back().fill([](const extents&) { return stale; });
      buffers.push_back(arrays_.back().buffer());
    }
  }

  /// Sets the points that this rank owns.
  own_arrays& fill() {
    for_each_array(holding::owned, [](strided_array& array, const std::map<extents, std::int32_t>& values) {
      array.for_each([&](std::int32_t& element, const extents& at) {
        if (const auto found = values.find(at); found != values.end()) element = found->second;
      });
    });
    return *this;
  }

  /// Checks all points, and that nothing else was written.
  void expect() {
    for_each_array(holding::stored, [](strided_array& array, const std::map<extents, std::int32_t>& values) {
      array.expect([&](const extents& at) {
        const auto found = values.find(at);
        return found != values.end() ? found->second : stale;
      });
    });
  }

  /// Sets all places, ghosts and copies too, to any numbers.
  own_arrays& fill_all(std::uint64_t seed) {
    std::minstd_rand any(static_cast<std::uint32_t>(seed * 64 + static_cast<std::uint64_t>(world().rank()) + 1));
    for (strided_array& each : arrays_)
      each.fill([&](const extents&) { return static_cast<std::int32_t>(any() % 200) - 100; });
    return *this;
  }

  own_arrays& clear() {
    for (strided_array& each : arrays_) each.fill([](const extents&) { return 0; });
    return *this;
  }

  void expect_nothing_beside() {
    for (strided_array& each : arrays_) each.expect([&](const extents& at) { return each.at(at); });
  }

  /// The inner product over all places of all ranks. Collective.
  std::int64_t dot(own_arrays& other) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      arrays_[i].for_each([&](std::int32_t element, const extents& at) {
        sum += static_cast<std::int64_t>(element) * other.arrays_[i].at(at);
      });
    return static_cast<std::int64_t>(mpi::allreduce(static_cast<std::uint64_t>(sum), MPI_SUM, world().data()));
  }

  std::vector<syncyte_buffer_t> buffers;

 private:
  template <class Visitor>
  void for_each_array(holding what, Visitor&& visitor) {
    const auto blocks = cut_.blocks_of(world().rank());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      std::map<extents, std::int32_t> values;
      for (const auto& part : cut_.parts_of(blocks[i], what))
        reference::for_each_place(part.points.count, [&](const per_axis& place) {
          extents at;
          for (std::size_t axis = 0; axis < static_cast<std::size_t>(cut_.ndim()); ++axis)
            at.push_back(cut_.ghosts().low[axis] + part.offset[axis] + place[axis]);
          values[at] = value_at(reference::plus(part.points.first, place));
        });
      visitor(arrays_[i], values);
    }
  }

  const layout& cut_;
  std::vector<strided_array> arrays_;
};

void relocate(const layout& from, const std::vector<syncyte_buffer_t>& sources, const layout& to,
              const std::vector<syncyte_buffer_t>& targets, std::size_t buffer_bytes = large_buffer,
              syncyte_dtype_t dtype = SYNCYTE_INT32, direction way = direction::forward) {
  collectives::run<collectives::relocation>(
      world(), "relocate", {}, way, dtype, collectives::block_arrays{from, sources, "sources"},
      collectives::block_arrays{to, targets, "targets"}, std::optional<per_axis>(),
      [&] { return std::make_shared<const distribution::route>(distribution::find_route(from, to, world().rank())); },
      buffer_bytes);
}

/// All ranks along one dimension.
distribution::mesh all_ranks() {
  distribution::mesh result{{world().size()}, {}};
  for (int rank = 0; rank < world().size(); ++rank) result.ranks.push_back(rank);
  return result;
}

struct trial {
  std::vector<std::int64_t> cells;
  std::vector<distribution::points> kinds;
  layout from, to;

  explicit trial(std::uint64_t seed)
      : cells(reference::random_cells(seed)),
        kinds(reference::random_points(cells.size(), seed)),
        from(reference::random_layout(cells, world().size(), 2 * seed, kinds)),
        to(reference::random_layout(cells, world().size(), 2 * seed + 1, kinds)) {}
};

TEST(relocation, of_random_layouts) {
  constexpr strides all_strides[] = {strides::dense, strides::gaps, strides::transposed};
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const trial one(seed);
    own_arrays source(one.from, all_strides[seed % 3]);
    own_arrays target(one.to, all_strides[seed / 3 % 3]);
    relocate(one.from, source.fill().buffers, one.to, target.buffers);
    target.expect();
  }
}

TEST(relocation, through_little_memory) {
  for (const std::size_t elements : {12, 16, 50, 300})
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      SCOPED_TRACE(std::to_string(elements) + " elements, seed " + std::to_string(seed));
      const trial one(seed);
      own_arrays source(one.from);
      own_arrays target(one.to);
      relocate(one.from, source.fill().buffers, one.to, target.buffers, 4 * elements);
      target.expect();
    }
}

TEST(relocation, there_and_back_is_the_identity) {
  for (std::uint64_t seed = 200; seed < 240; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const trial one(seed);
    own_arrays source(one.from);
    own_arrays middle(one.to);
    own_arrays result(one.from);
    relocate(one.from, source.fill().buffers, one.to, middle.buffers);
    relocate(one.to, middle.buffers, one.from, result.buffers);
    result.expect();
  }
}

/// An array that all ranks cut along one of its two axes: into equal parts, or into blocks that are dealt out.
layout cut_along(std::size_t axis, std::array<std::int64_t, 2> cells, std::int64_t block = 0) {
  const int size = world().size();
  std::vector<distribution::axis> axes;
  for (const std::int64_t each : cells) axes.push_back(distribution::axis::equal(each, 1));
  axes[axis] = block == 0 ? distribution::axis::equal(cells[axis], size)
                          : distribution::axis::block_cyclic(cells[axis], size, block);
  std::vector<std::vector<int>> by(2);
  by[axis] = {0};
  return layout::on_mesh(axes, by, all_ranks(), size);
}

/// The array is so large that targets are written past the caches.
TEST(relocation, of_a_large_array) {
  const int size = world().size();
  const std::int64_t rows = 16 * size, columns = static_cast<std::int64_t>(base::streaming_threshold) / 4 / 16 + 3;
  const layout by_rows = cut_along(0, {rows, columns}), by_columns = cut_along(1, {rows, columns});
  const auto array_of = [&](const layout& of) {
    const per_axis shape = of.shape_of(of.blocks_of(world().rank())[0]);
    return strided_array({shape[0], shape[1]}, strides::dense);
  };
  const auto value_from = [&](const layout& of) {
    return [columns, first = of.first_of(of.blocks_of(world().rank())[0])](const extents& at) {
      return static_cast<std::int32_t>((first[0] + at[0]) * columns + first[1] + at[1]);
    };
  };
  strided_array source = array_of(by_rows), target = array_of(by_columns);
  source.fill(value_from(by_rows));
  relocate(by_rows, {source.buffer()}, by_columns, {target.buffer()});
  target.expect(value_from(by_columns));
}

TEST(relocation, sends_one_message_to_each_rank_in_a_round) {
  constexpr int message_tag = 0;  // agreements have others
  const int size = world().size();
  // From each rank to each other one go 4 boxes of 2 times 2.
  const layout by_rows = cut_along(0, {4 * size, 4 * size}, 2), by_columns = cut_along(1, {4 * size, 4 * size}, 2);
  std::vector<int> others;
  for (int rank = 0; rank < size; ++rank)
    if (rank != world().rank()) others.push_back(rank);
  for (const auto& [elements, rounds] : {std::pair<std::size_t, int>{1000, 1}, {16, 1}, {8, 2}, {7, 4}, {2, 8}})
    for (const direction way : {direction::forward, direction::adjoint}) {
      SCOPED_TRACE(std::to_string(elements) + " elements in a message");
      own_arrays source(by_rows), target(by_columns);
      const std::size_t messages = 2 * std::max<std::size_t>(others.size(), 1);  // as many leave as arrive
      std::vector<int> expected;
      for (int round = 0; round < rounds; ++round) expected.insert(expected.end(), others.begin(), others.end());
      const test::sent_messages sent;
      relocate(by_rows, source.buffers, by_columns, target.buffers, 4 * elements * messages, SYNCYTE_INT32, way);
      EXPECT_EQ(sent.receivers(message_tag), expected);
    }
}

TEST(relocation, takes_the_memory_of_its_buffer_only) {
  constexpr std::size_t buffer_bytes = 1 << 16;
  constexpr std::int64_t lists_bytes = 1 << 14;  // of boxes, messages and requests
  const layout by_rows = cut_along(0, {512, 512}), by_columns = cut_along(1, {512, 512});
  own_arrays source(by_rows), target(by_columns);
  for (const direction way : {direction::forward, direction::adjoint}) {
    memory::host_pool().trim();
    const memory::pool_statistics before = memory::host_pool().statistics();
    const std::int64_t allocated = test::most_allocated = test::allocated;
    relocate(by_rows, source.buffers, by_columns, target.buffers, buffer_bytes, SYNCYTE_INT32, way);
    const memory::pool_statistics after = memory::host_pool().statistics();
    EXPECT_LE(after.in_use + after.cached - before.in_use - before.cached, buffer_bytes);
    EXPECT_LE(test::most_allocated - allocated, lists_bytes);
  }
}

TEST(relocation, and_its_adjoint) {
  constexpr strides all_strides[] = {strides::dense, strides::gaps, strides::transposed};
  for (std::uint64_t seed = 300; seed < 360; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const trial one(seed);
    own_arrays x(one.from, all_strides[seed % 3]);
    own_arrays forward(one.to);
    own_arrays y(one.to, all_strides[seed / 3 % 3]);
    own_arrays back(one.from, all_strides[seed % 3]);
    const std::size_t bytes = seed % 2 == 0 ? large_buffer : 200;
    relocate(one.from, x.fill_all(seed).buffers, one.to, forward.clear().buffers, bytes);
    relocate(one.from, back.buffers, one.to, y.fill_all(seed + 1000).buffers, bytes, SYNCYTE_INT32, direction::adjoint);
    EXPECT_EQ(forward.dot(y), x.dot(back));
    back.expect_nothing_beside();
  }
}

TEST(relocation, wrong_arrays_are_refused_on_all_ranks) {
  const std::vector<distribution::axis> rows{distribution::axis::equal(8, world().size())};
  const std::vector<std::vector<int>> by{{0}};
  const layout cells = layout::on_mesh(rows, by, all_ranks(), world().size());
  const std::vector<distribution::points> shared{{.shared = distribution::shared_points::equal}};
  const layout nodes = cells.with_points(shared);
  own_arrays of_cells(cells);
  own_arrays of_nodes(nodes);
  own_arrays others(cells);
  const auto refused = [&](const layout& from, const own_arrays& source, const layout& to, const own_arrays& target,
                           std::size_t bytes = large_buffer, syncyte_dtype_t dtype = SYNCYTE_INT32) {
    return outcome_of([&] { relocate(from, source.buffers, to, target.buffers, bytes, dtype); });
  };
  expect_error(refused(cells, of_cells, nodes, of_nodes), SYNCYTE_ERR_SHAPE, "extents of the second layout");
  expect_error(refused(nodes, of_cells, nodes, of_nodes), SYNCYTE_ERR_SHAPE,
               "with the points that neighbours store too");
  expect_error(refused(cells, of_cells, cells, others, large_buffer, SYNCYTE_FLOAT32), SYNCYTE_ERR_TYPE, "sources");
  expect_error(refused(cells, of_cells, cells, of_cells), SYNCYTE_ERR_ARGUMENT, "separate memory");
  const layout other = world().rank() == 0 ? cells.with_ghosts({{1}, {}}) : cells;
  if (world().size() > 1)
    expect_error(refused(cells, of_cells, other, own_arrays(other)), SYNCYTE_ERR_MISMATCH, "layout after");
  relocate(cells, of_cells.fill().buffers, cells, others.buffers);
  others.expect();
}

}  // namespace
