// SPDX-License-Identifier: BSD-3-Clause
// Bundles of fields of random layouts against all arrays in one place, adjoints, masks and depths, and mistakes.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/strided_copy.hpp"
#include "collectives/block_arrays.hpp"
#include "collectives/collectives.hpp"
#include "core_world.hpp"
#include "halo/bundle.hpp"
#include "layout_places.hpp"
#include "reference.hpp"
#include "sent_messages.hpp"

namespace {

using namespace syncyte;
using collectives::shared_layout;
using distribution::layout;
using distribution::per_axis;
using halo::operation;
using reference::for_each_place_of_all;
using reference::is_right;
using reference::is_within;
using reference::plus;
using reference::point_at;
using test::expect_error;
using test::outcome_of;
using test::world;

constexpr syncyte_dtype_t all_dtypes[] = {SYNCYTE_INT16, SYNCYTE_FLOAT64, SYNCYTE_INT32};
constexpr double beside = 77;  // memory that belongs to no element

/// One of this rank's arrays: elements of some type, with gaps between them.
class padded_array {
 public:
  padded_array(const layout& cut, int block, syncyte_dtype_t dtype) : block_(block), ghosts_(cut.ghosts()) {
    buffer_ = base::make_buffer(nullptr, dtype, collectives::allocated_shape(cut, block));
    auto bytes = static_cast<std::int64_t>(base::dtype_size(dtype));
    for (int axis = buffer_.ndim; axis-- > 0;) {
      buffer_.strides[axis] = bytes;
      bytes *= std::max<std::int64_t>(buffer_.shape[axis], 1) + 1;
    }
    memory_.resize(static_cast<std::size_t>(bytes));
    buffer_.data = memory_.data();
    std::ranges::fill(memory_, std::byte{77});
  }

  int block() const { return block_; }
  syncyte_buffer_t buffer() {
    buffer_.data = memory_.data();
    return buffer_;
  }

  /// The element at a place, counted from the first stored point.
  double get(const per_axis& at) const {
    switch (buffer_.dtype) {
      case SYNCYTE_INT16:
        return read<std::int16_t>(at);
      case SYNCYTE_INT32:
        return read<std::int32_t>(at);
      default:
        return read<double>(at);
    }
  }
  void set(const per_axis& at, double value) {
    switch (buffer_.dtype) {
      case SYNCYTE_INT16:
        return write(at, static_cast<std::int16_t>(value));
      case SYNCYTE_INT32:
        return write(at, static_cast<std::int32_t>(value));
      default:
        return write(at, value);
    }
  }
  bool operator==(const padded_array& other) const { return memory_ == other.memory_; }

 private:
  std::size_t place(const per_axis& at) const {
    std::int64_t result = 0;
    for (int axis = 0; axis < buffer_.ndim; ++axis) {
      const auto number = static_cast<std::size_t>(axis);
      result += (at[number] + ghosts_.low[number]) * buffer_.strides[axis];
    }
    return static_cast<std::size_t>(result);
  }
  template <class T>
  double read(const per_axis& at) const {
    T value;
    std::memcpy(&value, memory_.data() + place(at), sizeof value);
    return static_cast<double>(value);
  }
  template <class T>
  void write(const per_axis& at, T value) {
    std::memcpy(memory_.data() + place(at), &value, sizeof value);
  }

  int block_;
  distribution::ghost_widths ghosts_;
  syncyte_buffer_t buffer_;
  std::vector<std::byte> memory_;
};

/// A field, and this rank's arrays of it. The values of all ranks' places follow from the place.
struct field {
  std::shared_ptr<shared_layout> shared;
  syncyte_dtype_t dtype;
  std::vector<padded_array> arrays;

  const layout& cut() const { return shared->cut(); }

  std::vector<syncyte_buffer_t> buffers() {
    std::vector<syncyte_buffer_t> result;
    for (padded_array& each : arrays) result.push_back(each.buffer());
    return result;
  }

  template <class Value>
  field& fill(Value&& value) {
    const int rank = world().rank();
    for (padded_array& each : arrays)
      for_each_place_of_all(cut(), [&](int owner, int block, const per_axis& at) {
        if (owner == rank && block == each.block()) each.set(at, value(owner, block, at));
      });
    return *this;
  }
};

field make_field(layout cut, syncyte_dtype_t dtype) {
  field result{std::make_shared<shared_layout>(test::shared_world(), std::move(cut)), dtype, {}};
  for (const int block : result.cut().blocks_of(world().rank())) result.arrays.emplace_back(result.cut(), block, dtype);
  return result;
}

/// A small number that the place determines; copies of a block on several ranks have equal ones.
double value_of(const layout& cut, std::uint64_t seed, int, int block, const per_axis& at) {
  std::int64_t number = cut.ranks_of(block).front() * 7 + block;
  for (const std::int64_t each : at) number = number * 31 + each + 5;
  return static_cast<double>(reference::random_integer(seed, 0, number % 100003, -9, 9));
}

/// Fields of one bundle, of different layouts and types.
struct scene {
  std::vector<field> fields;
  std::shared_ptr<halo::bundle> all;

  explicit scene(std::uint64_t seed, int count = 3) : all(halo::bundle::create(test::shared_world())) {
    for (int number = 0; number < count; ++number)
      fields.push_back(make_field(reference::drawn(10 * seed + static_cast<std::uint64_t>(number), world().size()),
                                  all_dtypes[number % 3]));
    for (int number = 0; number < count; ++number) {
      field& each = fields[static_cast<std::size_t>(number)];
      all->add({"field " + std::to_string(number), each.shared, each.dtype, each.buffers(), {}});
    }
  }

  std::int64_t widest() const {
    std::int64_t result = 0;
    for (const field& each : fields) {
      for (const auto& widths : {each.cut().ghosts().low, each.cut().ghosts().high})
        result = std::max(result, std::ranges::max(widths));
      if (each.cut().lists() != nullptr && each.cut().lists()->has_ghosts()) result = std::max<std::int64_t>(result, 1);
    }
    return result;
  }

  void run(const halo::bundle_request& asked) const { start(all, asked)->wait(); }
  void fill(std::uint64_t seed) {
    for (field& each : fields)
      each.fill([&](int rank, int block, const per_axis& at) { return value_of(each.cut(), seed, rank, block, at); });
  }
};

/// The value that a place has after an exchange: that of the right copy of its point.
class right_copies {
 public:
  right_copies(const layout& cut, std::uint64_t seed) {
    for_each_place_of_all(cut, [&](int rank, int block, const per_axis& at) {
      const auto owned = cut.parts_of(block, distribution::holding::owned);
      for (const auto& part : owned)
        if (distribution::volume(
                distribution::intersection({part.offset, part.points.count}, {at, distribution::box().count})) > 0)
          values_[*point_at(cut, block, at)] = value_of(cut, seed, rank, block, at);
    });
  }
  double at(const per_axis& point) const { return values_.at(point); }

 private:
  std::map<per_axis, double> values_;
};

void expect_exchanged(const field& each, std::uint64_t seed, std::int64_t depth) {
  const right_copies right(each.cut(), seed);
  for (const padded_array& array : each.arrays)
    for_each_place_of_all(each.cut(), [&](int rank, int block, const per_axis& at) {
      if (rank != world().rank() || block != array.block()) return;
      const auto point = point_at(each.cut(), block, at);
      const bool changes = point && is_within(each.cut(), block, at, depth) && !is_right(each.cut(), block, at);
      ASSERT_EQ(array.get(at), changes ? right.at(*point) : value_of(each.cut(), seed, rank, block, at));
    });
}

TEST(bundle, an_exchange_gives_ghosts_the_right_copies) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    scene here(seed);
    for (std::int64_t depth = 0; depth <= here.widest(); ++depth) {
      here.fill(seed);
      here.run({operation::exchange, depth});
      for (const field& each : here.fields) expect_exchanged(each, seed, depth == 0 ? here.widest() : depth);
      if (HasFailure()) return;
    }
  }
}

/// Places of points that several blocks store have the sums of all copies, added in the order of ranks. `before`: the
/// value of a place before the sum.
void expect_summed(const field& each, const std::function<double(int rank, int block, const per_axis& at)>& before) {
  std::map<per_axis, double> sums;
  for_each_place_of_all(each.cut(), [&](int rank, int block, const per_axis& at) {
    if (rank == each.cut().ranks_of(block).front() && is_within(each.cut(), block, at, 0))
      sums[*point_at(each.cut(), block, at)] += before(rank, block, at);
  });
  for (const padded_array& array : each.arrays)
    for_each_place_of_all(each.cut(), [&](int rank, int block, const per_axis& at) {
      if (rank != world().rank() || block != array.block()) return;
      ASSERT_EQ(array.get(at), is_within(each.cut(), block, at, 0) ? sums.at(*point_at(each.cut(), block, at))
                                                                   : before(rank, block, at));
    });
}

TEST(bundle, a_sum_adds_all_copies) {
  for (std::uint64_t seed = 100; seed < 160; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    scene here(seed);
    here.fill(seed);
    here.run({operation::sum});
    for (const field& each : here.fields)
      expect_summed(
          each, [&](int rank, int block, const per_axis& at) { return value_of(each.cut(), seed, rank, block, at); });
    if (HasFailure()) return;
  }
}

/// Ranks on a grid that is as wide in both directions as their number allows, the last rank first.
distribution::mesh backward_mesh() {
  const int size = world().size(), wide = size % 2 == 0 ? size / 2 : size;
  distribution::mesh result{{wide, size / wide}, {}};
  for (int rank = size; rank-- > 0;) result.ranks.push_back(rank);
  return result;
}

/// Cells, each rank's 4 times 4, on that grid.
layout grid_of_cells() {
  const auto mesh = backward_mesh();
  std::vector<distribution::axis> axes;
  for (const int ranks : mesh.extents) axes.push_back(distribution::axis::equal(4 * ranks, ranks));
  return layout::on_mesh(axes, std::vector<std::vector<int>>{{0}, {1}}, mesh, world().size());
}

layout grid_of_nodes() {
  const distribution::points shared{.shared = distribution::shared_points::equal};
  return grid_of_cells().with_points(std::vector{shared, shared});
}

/// Two points that all ranks store.
layout points_of_all() {
  const std::vector<std::int64_t> points{1, 0};
  std::vector<distribution::rank_list> lists;
  for (int rank = 0; rank < world().size(); ++rank) lists.push_back({rank, distribution::point_list::of(points, 0)});
  return layout::of_lists(std::vector<std::int64_t>{2}, lists, distribution::shared_points::equal, world().size());
}

/// A number of a rank; a sum of several depends on their order.
double term_of(int rank, int turn) {
  constexpr std::array<double, 4> terms = {1, 1e16, -1e16, 3};
  return terms[static_cast<std::size_t>(rank + turn) % terms.size()];
}

TEST(bundle, sums_are_equal_bit_for_bit_because_copies_are_added_in_the_order_of_ranks) {
  const auto all = halo::bundle::create(test::shared_world());
  std::vector<field> fields;
  for (const layout& cut : {grid_of_nodes(), points_of_all()})
    for (int turn = 0; turn < 4; ++turn) fields.push_back(make_field(cut, SYNCYTE_FLOAT64));
  const auto value = [](std::size_t number) {
    return [number](int rank, int, const per_axis&) { return term_of(rank, static_cast<int>(number)); };
  };
  for (std::size_t number = 0; number < fields.size(); ++number)
    all->add({"field " + std::to_string(number), fields[number].shared, SYNCYTE_FLOAT64, fields[number].buffers(), {}});
  for (const bool is_tested : {false, true}) {
    for (std::size_t number = 0; number < fields.size(); ++number) fields[number].fill(value(number));
    const auto sum = start(all, {operation::sum});
    while (is_tested && !sum->test()) continue;
    sum->wait();
    for (std::size_t number = 0; number < fields.size(); ++number) expect_summed(fields[number], value(number));
  }
}

/// Ranks that touch this one in the grid of backward_mesh(), corners included.
std::vector<int> ranks_around() {
  const distribution::mesh mesh = backward_mesh();
  const int wide = mesh.extents[1], place = world().size() - 1 - world().rank();
  std::vector<int> result;
  for (int other = 0; other < world().size(); ++other)
    if (other != place && std::abs(other / wide - place / wide) <= 1 && std::abs(other % wide - place % wide) <= 1)
      result.push_back(mesh.ranks[static_cast<std::size_t>(other)]);
  std::ranges::sort(result);
  return result;
}

TEST(bundle, all_fields_go_to_a_neighbour_in_one_message) {
  const auto all = halo::bundle::create(test::shared_world());
  const distribution::ghost_widths widths[] = {{{1, 1}, {1, 1}}, {{2, 1}, {0, 2}}};
  std::vector<field> fields;
  for (const auto& ghosts : widths)
    for (const layout& cut : {grid_of_cells(), grid_of_nodes()})
      for (const syncyte_dtype_t dtype : all_dtypes) fields.push_back(make_field(cut.with_ghosts(ghosts), dtype));
  for (std::size_t number = 0; number < fields.size(); ++number)
    all->add(
        {"field " + std::to_string(number), fields[number].shared, fields[number].dtype, fields[number].buffers(), {}});
  std::vector<bool> some(fields.size());
  some[0] = some[4] = true;
  for (const operation way : {operation::exchange, operation::accumulate, operation::sum})
    for (const halo::bundle_request& asked : {halo::bundle_request{way}, halo::bundle_request{way, 0, true, some}}) {
      const test::sent_messages sent;
      start(all, asked)->wait();
      auto receivers = sent.receivers();
      std::ranges::sort(receivers);
      EXPECT_EQ(receivers, ranks_around()) << all->name_of(way);
    }
}

double inner_product(const std::vector<field>& left, const std::vector<field>& right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    for (std::size_t a = 0; a < left[i].arrays.size(); ++a)
      for_each_place_of_all(left[i].cut(), [&](int rank, int block, const per_axis& at) {
        if (rank == world().rank() && block == left[i].arrays[a].block() &&
            rank == left[i].cut().ranks_of(block).front())
          sum += left[i].arrays[a].get(at) * right[i].arrays[a].get(at);
      });
  const auto buffer = base::make_buffer(&sum, SYNCYTE_FLOAT64, {});
  collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  return sum;
}

/// <A x, y> = <x, A' y> over the arrays of all ranks; a block that several have counts once.
void expect_adjoint(std::uint64_t seed, const halo::bundle_request& forward, const halo::bundle_request& adjoint) {
  scene x(seed), y(seed), moved(seed), gathered(seed);
  x.fill(seed), moved.fill(seed);
  y.fill(seed + 1000), gathered.fill(seed + 1000);
  moved.run(forward);
  gathered.run(adjoint);
  EXPECT_EQ(inner_product(moved.fields, y.fields), inner_product(x.fields, gathered.fields));
}

TEST(bundle, operations_have_their_adjoints) {
  for (std::uint64_t seed = 200; seed < 230; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto depth = std::min<std::int64_t>(scene(seed).widest(), static_cast<std::int64_t>(seed % 3));
    expect_adjoint(seed, {operation::exchange, depth}, {operation::accumulate, depth});
  }
}

TEST(bundle, a_sum_is_its_own_adjoint) {
  for (std::uint64_t seed = 300; seed < 330; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_adjoint(seed, {operation::sum}, {operation::sum});
  }
}

/// All ranks compare their copies of a block with those of its first rank.
void expect_equal_copies(const field& each) {
  for (int block = 0; block < each.cut().blocks(); ++block) {
    const auto ranks = each.cut().ranks_of(block);
    if (ranks.size() < 2) continue;
    std::vector<double> mine, first;
    for_each_place_of_all(each.cut(), [&](int rank, int number, const per_axis& at) {
      if (rank != ranks.front() || number != block) return;
      mine.push_back(0);
      for (const padded_array& array : each.arrays)
        if (array.block() == block) mine.back() = array.get(at);
    });
    first = mine;
    const auto buffer = base::make_buffer(first.data(), SYNCYTE_FLOAT64, std::vector<std::int64_t>{std::ssize(first)});
    collectives::run<collectives::bcast>(world(), "comm_bcast", {}, ranks.front(), &buffer);
    if (std::ranges::find(ranks, world().rank()) != ranks.end()) {
      EXPECT_EQ(mine, first) << "block " << block;
    }
  }
}

TEST(bundle, copies_of_a_block_stay_equal) {
  for (std::uint64_t seed = 400; seed < 440; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const operation way : {operation::exchange, operation::accumulate, operation::sum}) {
      scene here(seed);
      here.fill(seed);
      here.run({way});
      for (const field& each : here.fields) expect_equal_copies(each);
    }
    if (HasFailure()) return;
  }
}

TEST(bundle, a_mask_leaves_the_other_fields_alone) {
  scene here(7, 4);
  here.fill(1);
  const std::vector<padded_array> before = here.fields[1].arrays;
  here.run({operation::exchange, 0, true, {true, false, true, false}});
  EXPECT_EQ(here.fields[1].arrays, before);
  expect_exchanged(here.fields[0], 1, here.widest());
  expect_exchanged(here.fields[2], 1, here.widest());
  here.run({operation::exchange, 0, true, {false, true, false, true}});
  for (const field& each : here.fields) expect_exchanged(each, 1, here.widest());
}

TEST(bundle, other_arrays_may_take_a_fields_place) {
  scene here(9, 1);
  here.fill(1);
  const std::vector<padded_array> first = here.fields[0].arrays;
  std::vector<padded_array> others = first;
  std::vector<syncyte_buffer_t> buffers;
  for (padded_array& each : others) buffers.push_back(each.buffer());
  here.all->set_arrays("field 0", buffers);
  here.run({operation::exchange});
  EXPECT_EQ(here.fields[0].arrays, first);
  here.fields[0].arrays = others;
  expect_exchanged(here.fields[0], 1, here.widest());
}

TEST(bundle, a_call_may_bring_other_arrays_for_the_fields_that_take_part) {
  for (std::uint64_t seed = 500; seed < 520; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    scene here(seed), like(seed);
    here.fill(seed);
    const auto before = here.fields;
    std::vector<padded_array> others[2] = {here.fields[0].arrays, here.fields[2].arrays};
    halo::bundle_request asked{operation::exchange, 0, true, {true, false, true}};
    asked.arrays.emplace();
    for (auto& arrays : others)
      for (padded_array& each : arrays) asked.arrays->push_back(each.buffer());
    here.run(asked);
    for (std::size_t number = 0; number < before.size(); ++number)
      EXPECT_EQ(here.fields[number].arrays, before[number].arrays) << "field " << number;
    here.fields[0].arrays = others[0];
    here.fields[2].arrays = others[1];
    expect_exchanged(here.fields[0], seed, here.widest());
    expect_exchanged(here.fields[2], seed, here.widest());
    if (HasFailure()) return;
  }
}

// Mistakes. Each rank of a line of blocks with ghosts is a neighbour of the next.

struct line {
  std::shared_ptr<shared_layout> cut;
  std::vector<double> cells;
  std::shared_ptr<halo::bundle> all = halo::bundle::create(test::shared_world());

  line() {
    const std::int64_t extent = 4 * world().size();
    distribution::ghost_widths ghosts;
    ghosts.low[0] = ghosts.high[0] = 2;
    const auto axis = distribution::axis::equal(extent, world().size());
    const std::vector<std::vector<int>> by{{0}};
    distribution::mesh mesh{{world().size()}, {}};
    for (int rank = 0; rank < world().size(); ++rank) mesh.ranks.push_back(rank);
    cut = std::make_shared<shared_layout>(test::shared_world(),
                                          layout::on_mesh({&axis, 1}, by, mesh, world().size()).with_ghosts(ghosts));
    cells.assign(8, -1);
    for (int i = 0; i < 4; ++i) cells[static_cast<std::size_t>(2 + i)] = 4 * world().rank() + i;
  }

  syncyte_buffer_t buffer() {
    const std::vector<std::int64_t> shape{8};
    return base::make_buffer(cells.data(), SYNCYTE_FLOAT64, shape);
  }
  void add(const std::string& name = "cells") { all->add({name, cut, SYNCYTE_FLOAT64, {buffer()}, {}}); }

  void expect_works() {
    collectives::barrier(world());
    start(all, {operation::exchange})->wait();
    for (int i = 0; i < 8; ++i) {
      const int cell = 4 * world().rank() + i - 2;
      const bool exists = cell >= 0 && cell < 4 * world().size();
      EXPECT_EQ(cells[static_cast<std::size_t>(i)], exists ? cell : -1);
    }
  }
};

bool is_odd_one() { return world().rank() == world().size() - 1; }
int distance_to_odd_one() { return world().size() - 1 - world().rank(); }

TEST(bundle, fields_that_cannot_be_added_are_refused_on_all_ranks) {
  line here;
  const auto add = [&](auto&& change) {
    halo::field_description asked{"cells", here.cut, SYNCYTE_FLOAT64, {here.buffer()}, {}};
    if (is_odd_one()) change(asked);
    return outcome_of([&] { here.all->add(asked); });
  };
  expect_error(add([](auto& asked) { asked.arrays[0].shape[0] = 4; }), SYNCYTE_ERR_SHAPE, "expected [8], with ghosts");
  expect_error(add([](auto& asked) { asked.arrays.clear(); }), SYNCYTE_ERR_ARGUMENT, "arrays is 0; expected 1 arrays");
  expect_error(add([](auto& asked) { asked.arrays[0].dtype = SYNCYTE_INT64; }), SYNCYTE_ERR_TYPE, "int64");
  expect_error(add([](auto& asked) { asked.name.clear(); }), SYNCYTE_ERR_ARGUMENT, "name");
  if (world().size() > 1) expect_error(add([](auto& asked) { asked.name = "other"; }), SYNCYTE_ERR_MISMATCH, "other");
  here.add();
  expect_error(add([](auto&) {}), SYNCYTE_ERR_ARGUMENT, "one that no field of the bundle has");
  expect_error(outcome_of([&] { here.add("same memory"); }), SYNCYTE_ERR_ARGUMENT, "separate memory");
  expect_error(outcome_of([&] { here.all->set_arrays("no such field", {}); }), SYNCYTE_ERR_ARGUMENT,
               "a field of the bundle");
  here.expect_works();
}

TEST(bundle, a_wrong_call_is_its_ranks_and_its_neighbours_error) {
  line here;
  here.add();
  const auto outcome = outcome_of([&] { start(here.all, {operation::exchange, is_odd_one() ? 3 : 0})->wait(); });
  if (is_odd_one()) expect_error(outcome, SYNCYTE_ERR_ARGUMENT, "depth is 3; expected 0 to 2");
  if (distance_to_odd_one() == 1) expect_error(outcome, SYNCYTE_ERR_ARGUMENT, "a neighbour, has failed");
  if (distance_to_odd_one() > 1) {
    EXPECT_EQ(outcome.status, SYNCYTE_SUCCESS) << outcome.message;
  }
  const auto masked = outcome_of([&] { start(here.all, {operation::sum, 0, true, {}})->wait(); });
  expect_error(masked, SYNCYTE_ERR_SHAPE, "one for each field");
  here.expect_works();
}

TEST(bundle, neighbours_that_do_different_things_are_told) {
  if (world().size() == 1) GTEST_SKIP();
  line here;
  here.add();
  const halo::bundle_request usual{operation::exchange};
  const std::pair<halo::bundle_request, const char*> others[] = {
      {{operation::accumulate}, "is in bundle_"},
      {{operation::sum}, "is in bundle_"},
      {{operation::exchange, 1}, "depth is"},
      {{operation::exchange, 0, true, {false}}, "field \"cells\" takes part on rank"}};
  for (const auto& [other, text] : others) {
    const auto outcome = outcome_of([&] { start(here.all, is_odd_one() ? other : usual)->wait(); });
    if (distance_to_odd_one() <= 1) expect_error(outcome, SYNCYTE_ERR_MISMATCH, text);
    collectives::barrier(world());
  }
  for (int i = 0; i < 4; ++i) here.cells[static_cast<std::size_t>(2 + i)] = 4 * world().rank() + i;
  if (world().rank() == 0) here.cells[0] = here.cells[1] = -1;
  if (is_odd_one()) here.cells[6] = here.cells[7] = -1;
  here.expect_works();
}

TEST(bundle, has_any_number_of_fields) {
  line here;
  here.add();
  std::vector<std::vector<double>> more(300, std::vector<double>(8, -1));
  for (std::size_t number = 0; number < more.size(); ++number) {
    std::vector<double>& cells = more[number];
    for (std::size_t i = 2; i < 6; ++i) cells[i] = here.cells[i] + 1000 * static_cast<double>(number);
    const std::vector<std::int64_t> shape{8};
    here.all->add({"field " + std::to_string(number),
                   here.cut,
                   SYNCYTE_FLOAT64,
                   {base::make_buffer(cells.data(), SYNCYTE_FLOAT64, shape)},
                   {}});
  }
  const auto with = [&](std::size_t left_out) {
    std::vector<bool> only(more.size() + 1, true);
    only[left_out] = false;
    return halo::bundle_request{operation::exchange, 0, true, only};
  };
  if (world().size() > 1) {
    const auto outcome = outcome_of([&] { start(here.all, with(is_odd_one() ? 290 : 291))->wait(); });
    if (distance_to_odd_one() <= 1) expect_error(outcome, SYNCYTE_ERR_MISMATCH, "the mask of fields");
    collectives::barrier(world());
    for (auto* cells : {&here.cells, &more[0], &more[289], &more[299]})
      for (const std::size_t ghost : {0, 1, 6, 7}) (*cells)[ghost] = -1;
  }
  start(here.all, with(290))->wait();
  for (const std::size_t number : {0, 288, 299})
    EXPECT_EQ(more[number][1], world().rank() == 0 ? -1 : 4 * world().rank() - 1 + 1000 * static_cast<double>(number));
  EXPECT_EQ(more[289][1], -1);  // field 290 of the bundle
}

TEST(bundle, other_arrays_and_facts_are_checked) {
  line here;
  here.add();
  std::vector<double> other(8, 0);
  const std::vector<std::int64_t> shape{8}, long_shape{9};
  const auto run = [&](const std::function<void(halo::bundle_request&)>& change) {
    halo::bundle_request asked{operation::exchange};
    asked.arrays.emplace({base::make_buffer(other.data(), SYNCYTE_FLOAT64, shape)});
    change(asked);
    return outcome_of([&] { start(here.all, asked)->wait(); });
  };
  expect_error(run([](auto& asked) { asked.arrays->clear(); }), SYNCYTE_ERR_ARGUMENT, "arrays is 0; expected 1 arrays");
  expect_error(run([](auto& asked) { asked.arrays->push_back(asked.arrays->front()); }), SYNCYTE_ERR_ARGUMENT,
               "count is 2; expected 1");
  expect_error(run([&](auto& asked) { asked.arrays->front().shape[0] = 7; }), SYNCYTE_ERR_SHAPE, "expected [8]");
  const std::array<syncyte_fact_t, 3> facts{{{sizeof(syncyte_fact_t), "first", 1},
                                             {sizeof(syncyte_fact_t), "second", world().rank()},
                                             {sizeof(syncyte_fact_t), "third", 0}}};
  expect_error(run([&](auto& asked) { asked.facts = {3, facts.data(), "facts"}; }), SYNCYTE_ERR_ARGUMENT,
               "fact_count is 3; expected 0 to 2");
  const auto differs = run([&](auto& asked) { asked.facts = {2, facts.data(), "facts"}; });
  if (world().size() > 1) expect_error(differs, SYNCYTE_ERR_MISMATCH, "second is");
  const auto equal = run([&](auto& asked) { asked.facts = {1, facts.data(), "facts"}; });
  EXPECT_EQ(equal.status, SYNCYTE_SUCCESS) << equal.message;
  here.expect_works();
}

TEST(bundle, has_one_operation_in_flight) {
  line here, other;
  here.add();
  other.add();
  const auto first = start(here.all, {operation::exchange});
  const auto second = start(other.all, {operation::exchange});
  expect_error(outcome_of([&] { start(here.all, {operation::exchange}); }), SYNCYTE_ERR_BUSY, "in flight");
  expect_error(outcome_of([&] { here.add("late"); }), SYNCYTE_ERR_BUSY, "in flight");
  second->wait();
  first->wait();
  here.expect_works();
  other.expect_works();
}

}  // namespace
