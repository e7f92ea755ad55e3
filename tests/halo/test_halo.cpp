// SPDX-License-Identifier: BSD-3-Clause
// Halo exchange against the whole array, its adjoint by the adjoint identity, and mistakes of one rank.

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/collectives.hpp"
#include "comm/cart.hpp"
#include "core_world.hpp"
#include "halo/grid_halo.hpp"
#include "messages/message.hpp"
#include "mpi/large_counts.hpp"
#include "reference.hpp"
#include "strided_array.hpp"

namespace {

using namespace syncyte;
using comm::cartesian_grid;
using test::expect_error;
using test::extents;
using test::outcome_of;
using test::strided_array;
using test::strides;
using test::world;

constexpr strides all_strides[] = {strides::dense, strides::gaps, strides::transposed};

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Number of interior cells of the rank at a place along a dimension; they are uneven.
std::int64_t interior_at(int place) { return std::vector<std::int64_t>{3, 5, 4}[at(place % 3)]; }

struct widths {
  std::int64_t low, high;
};

/// Ranks on a grid, their parts of a whole array, and the cells of the whole array that ghosts copy.
struct scene {
  std::shared_ptr<comm::communicator> cart;
  std::vector<int> axes;  // of the grid's dimensions, from 0
  int ndim;
  std::vector<widths> ghosts;  // of the grid's dimensions
  bool has_corners;
  std::vector<int> place;

  extents shape() const {
    extents result(at(ndim), 2);  // axes that are not cut
    for (std::size_t d = 0; d < axes.size(); ++d)
      result[at(axes[d])] = interior_at(place[d]) + ghosts[d].low + ghosts[d].high;
    return result;
  }

  halo::description description() const {
    halo::description result;
    result.dtype = SYNCYTE_INT32;
    result.shape = shape();
    result.axes = axes;
    for (const auto [low, high] : ghosts) result.low.push_back(low), result.high.push_back(high);
    result.has_corners = has_corners;
    return result;
  }

  /// Index of a local cell in the whole array; nothing for a ghost that is a copy of no cell.
  std::optional<extents> shown(const extents& local) const {
    extents result = local;
    int ghost_axes = 0;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const int count = cart->grid()->dims[d];
      std::int64_t first = 0, whole = 0;
      for (int i = 0; i < count; ++i) {
        if (i < place[d]) first += interior_at(i);
        whole += interior_at(i);
      }
      std::int64_t& index = result[at(axes[d])];
      index -= ghosts[d].low;
      if (index < 0 || index >= interior_at(place[d])) ++ghost_axes;
      index += first;
      if (cart->grid()->periods[d] == 0 && (index < 0 || index >= whole)) return std::nullopt;
      index = (index + whole) % whole;
    }
    if (ghost_axes > 1 && !has_corners) return std::nullopt;
    return result;
  }

  bool is_interior(const extents& local) const {
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const std::int64_t index = local[at(axes[d])] - ghosts[d].low;
      if (index < 0 || index >= interior_at(place[d])) return false;
    }
    return true;
  }
};

std::int32_t value_at(const extents& whole) {
  std::int64_t result = 7;
  for (const auto index : whole) result = 31 * result + index;
  return static_cast<std::int32_t>(result % 1000003);
}

std::int32_t mark_at(const extents& local) { return -1000 - value_at(local); }

void run(const std::shared_ptr<halo::grid_halo>& plan, strided_array& array, halo::operation way) {
  const auto buffer = array.buffer();
  halo::start(plan, &buffer, way)->wait();
}

void check_exchange(const scene& here, const std::shared_ptr<halo::grid_halo>& plan, strides how) {
  strided_array array(here.shape(), how);
  array.fill(
      [&](const extents& local) { return here.is_interior(local) ? value_at(*here.shown(local)) : mark_at(local); });
  run(plan, array, halo::operation::exchange);
  array.expect([&](const extents& local) {
    const auto cell = here.shown(local);
    return cell ? value_at(*cell) : mark_at(local);
  });
}

/// Whole numbers from -9 to 9.
auto random_numbers(std::uint64_t seed) {
  return [seed, next = std::int64_t{0}](const extents&) mutable {
    return static_cast<std::int32_t>(reference::random_bits(seed, world().rank(), next++) % 19) - 9;
  };
}

std::int64_t inner_product(strided_array& a, strided_array& b) {
  std::vector<std::int64_t> left, right;
  a.for_each([&](std::int32_t element, const extents&) { left.push_back(element); });
  b.for_each([&](std::int32_t element, const extents&) { right.push_back(element); });
  std::int64_t sum = std::inner_product(left.begin(), left.end(), right.begin(), std::int64_t{0});
  const auto buffer = base::make_buffer(&sum, SYNCYTE_INT64, {});
  collectives::run<collectives::allreduce>(world(), "comm_allreduce", {}, nullptr, SYNCYTE_OP_SUM, &buffer);
  return sum;
}

/// <H x, y> = <x, H' y>, on the whole arrays; ghosts that are copies of a cell are 0 after H'.
void check_adjoint(const scene& here, const std::shared_ptr<halo::grid_halo>& plan, strides how, std::uint64_t seed) {
  strided_array x(here.shape(), how), y(here.shape(), how), moved(here.shape(), how), gathered(here.shape(), how);
  x.fill(random_numbers(seed));
  moved.fill(random_numbers(seed));
  y.fill(random_numbers(seed + 1));
  gathered.fill(random_numbers(seed + 1));
  run(plan, moved, halo::operation::exchange);
  run(plan, gathered, halo::operation::accumulate);
  EXPECT_EQ(inner_product(moved, y), inner_product(x, gathered));
  gathered.for_each([&](std::int32_t element, const extents& local) {
    if (!here.is_interior(local) && here.shown(local)) {
      ASSERT_EQ(element, 0);
    }
  });
}

void check_scene(const scene& here) {
  const auto plan = halo::grid_halo::create(here.cart, here.description());
  for (const strides how : all_strides) {
    check_exchange(here, plan, how);
    check_adjoint(here, plan, how, 2 * here.axes.size());
  }
}

const std::vector<std::vector<widths>> all_widths = {{{1, 1}, {1, 1}, {1, 1}}, {{2, 0}, {0, 3}, {1, 2}},
                                                     {{0, 0}, {2, 1}, {0, 0}}, {{3, 3}, {2, 3}, {3, 1}},
                                                     {{0, 2}, {3, 0}, {2, 2}}, {{0, 0}, {0, 0}, {0, 0}}};

/// Checks one grid with all widths, with and without corners, and with the axes in order and in reverse order.
void check_grid(const cartesian_grid& asked) {
  const auto cart = comm::make_cartesian(world(), asked, {});
  const int dimensions = cart->grid()->ndim();
  const auto place = comm::coordinates_of(*cart, cart->rank());
  std::vector<int> ordered(at(dimensions)), turned(at(dimensions));
  std::iota(ordered.begin(), ordered.end(), 0);
  for (int d = 0; d < dimensions; ++d) turned[at(d)] = dimensions - d;  // axis 0 is not cut
  for (const auto& all : all_widths)
    for (const bool has_corners : {true, false}) {
      const std::vector<widths> ghosts(all.begin(), all.begin() + dimensions);
      check_scene({cart, ordered, dimensions, ghosts, has_corners, place});
      check_scene({cart, turned, dimensions + 1, ghosts, has_corners, place});
    }
}

TEST(halo, in_one_dimension) {
  for (const int period : {0, 1}) check_grid({{0}, {period}});
}

TEST(halo, in_two_dimensions) {
  for (const auto& periods : {std::vector{0, 0}, {1, 0}, {0, 1}, {1, 1}}) check_grid({{0, 0}, periods});
  check_grid({{1, 0}, {1, 1}});
}

TEST(halo, in_three_dimensions) {
  for (const auto& periods : {std::vector{0, 0, 0}, {1, 0, 1}, {1, 1, 1}}) check_grid({{0, 0, 0}, periods});
  check_grid({{1, 1, 0}, {0, 1, 1}});
}

/// A scene in one dimension, periodic or not, with a ghost cell at each end.
scene line(int period) {
  const auto cart = comm::make_cartesian(world(), {{world().size()}, {period}}, {});
  return {cart, {0}, 1, {{1, 1}}, true, {cart->rank()}};
}

TEST(halo, in_pieces_as_beyond_what_mpi_counts) {
  const std::int64_t limit = mpi::piece_limit();
  mpi::piece_limit() = 5;
  check_grid({{0, 0}, {1, 0}});
  mpi::piece_limit() = limit;
}

template <class T>
bool is_number(const T& value, float number) {
  const T expected(number);
  return std::memcmp(&value, &expected, sizeof value) == 0;
}

TEST(halo, adds_every_dtype) {
  const auto here = line(1);
  for (syncyte_dtype_t dtype = SYNCYTE_FLOAT16; dtype <= base::known::dtype::last; ++dtype)
    base::visit_dtype(dtype, [&](auto tag) {
      using type = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<type, base::boolean>) {
        auto asked = here.description();
        asked.dtype = dtype;
        std::vector<type> values(static_cast<std::size_t>(asked.shape[0]), type(1.0f));
        const auto buffer = base::make_buffer(values.data(), dtype, asked.shape);
        halo::start(halo::grid_halo::create(here.cart, asked), &buffer, halo::operation::accumulate)->wait();
        EXPECT_TRUE(is_number(values.front(), 0.0f)) << base::dtype_name(dtype);
        EXPECT_TRUE(is_number(values.back(), 0.0f)) << base::dtype_name(dtype);
        EXPECT_TRUE(is_number(values[1], 2.0f)) << base::dtype_name(dtype);
        EXPECT_TRUE(is_number(values[2], 1.0f)) << base::dtype_name(dtype);
      }
    });
}

TEST(halo, goes_on_when_it_is_tested) {
  const auto here = line(1);
  const auto plan = halo::grid_halo::create(here.cart, here.description());
  strided_array array(here.shape(), strides::dense);
  array.fill([&](const extents& local) { return here.is_interior(local) ? value_at(*here.shown(local)) : 0; });
  const auto buffer = array.buffer();
  const auto in_flight = halo::start(plan, &buffer, halo::operation::exchange);
  expect_error(outcome_of([&] { halo::start(plan, &buffer, halo::operation::exchange); }), SYNCYTE_ERR_BUSY,
               "in flight");
  while (!in_flight->test()) {
  }
  array.expect([&](const extents& local) { return value_at(*here.shown(local)); });
  halo::start(plan, &buffer, halo::operation::exchange)->wait();  // free again
}

bool is_odd_one() { return world().rank() == world().size() - 1; }

test::outcome create_with(const scene& here, auto&& change) {
  auto asked = here.description();
  if (is_odd_one()) change(asked);
  return outcome_of([&] { halo::grid_halo::create(here.cart, asked); });
}

TEST(halo, mistakes_of_one_rank_when_it_is_made_are_every_ranks_error) {
  const auto here = line(1);
  using asked = halo::description&;
  expect_error(create_with(here, [](asked a) { a.low[0] = 9; }), SYNCYTE_ERR_SHAPE, "expected at least 9 + 1");
  expect_error(create_with(here, [](asked a) { a.high[0] = -1; }), SYNCYTE_ERR_ARGUMENT, "expected 0 or more");
  expect_error(create_with(here, [](asked a) { a.axes[0] = 1; }), SYNCYTE_ERR_ARGUMENT, "axes[0] is 1");
  expect_error(create_with(here, [](asked a) { a.dtype = 99; }), SYNCYTE_ERR_TYPE, "99");
  expect_error(create_with(here, [](asked a) { a.shape.clear(); }), SYNCYTE_ERR_SHAPE,
               "ndim is 0; expected at least 1");
  expect_error(create_with(here, [](asked a) { a.shape[0] = 2; }), SYNCYTE_ERR_SHAPE, "interior along axis 0 is 0");
  auto elsewhere = here;
  elsewhere.cart = test::shared_world();
  auto description = here.description();
  expect_error(outcome_of([&] { halo::grid_halo::create(test::shared_world(), description); }), SYNCYTE_ERR_ARGUMENT,
               "not Cartesian");
  if (world().size() == 1) return;
  expect_error(create_with(here, [](asked a) { a.low[0] = 0; }), SYNCYTE_ERR_MISMATCH, "low[0] is 1 on");
  expect_error(create_with(here, [](asked a) { a.dtype = SYNCYTE_FLOAT32; }), SYNCYTE_ERR_MISMATCH, "dtype is int32");
  expect_error(create_with(here, [](asked a) { a.has_corners = false; }), SYNCYTE_ERR_MISMATCH, "corners is");
}

TEST(halo, extents_across_a_cut_must_be_equal) {
  if (world().size() == 1) GTEST_SKIP();
  const auto cart = comm::make_cartesian(world(), {{world().size(), 1}, {0, 0}}, {});
  const scene here{cart, {0, 1}, 2, {{1, 1}, {1, 1}}, true, comm::coordinates_of(*cart, cart->rank())};
  expect_error(create_with(here, [](halo::description& a) { ++a.shape[1]; }), SYNCYTE_ERR_MISMATCH,
               "shape[1] is 5 on rank 0, but 6 on rank " + std::to_string(world().size() - 1));
  const scene uncut{cart, {0, 1}, 3, {{1, 1}, {1, 1}}, true, here.place};
  expect_error(create_with(uncut, [](halo::description& a) { ++a.shape[2]; }), SYNCYTE_ERR_MISMATCH, "shape[2] is");
}

TEST(halo, a_wrong_array_is_its_ranks_and_its_neighbours_error) {
  const auto here = line(0);
  const auto plan = halo::grid_halo::create(here.cart, here.description());
  strided_array array(here.shape(), strides::dense);
  auto buffer = array.fill(mark_at).buffer();
  if (is_odd_one()) buffer.dtype = SYNCYTE_FLOAT32;
  for (const halo::operation way : {halo::operation::exchange, halo::operation::accumulate}) {
    const auto result = outcome_of([&] { halo::start(plan, &buffer, way)->wait(); });
    const int distance = world().size() - 1 - world().rank();
    if (distance == 0) expect_error(result, SYNCYTE_ERR_TYPE, "array: dtype is float32; expected int32");
    if (distance == 1) expect_error(result, SYNCYTE_ERR_TYPE, "a neighbour, has failed with SYNCYTE_ERR_TYPE");
    if (distance > 1) {
      EXPECT_EQ(result.status, SYNCYTE_SUCCESS) << result.message;
    }
  }
  buffer.shape[0] = 1;
  expect_error(outcome_of([&] {
                 buffer.dtype = SYNCYTE_INT32;
                 halo::start(plan, &buffer, halo::operation::exchange)->wait();
               }),
               SYNCYTE_ERR_SHAPE, "array: shape is [1]; expected [");
  check_exchange(here, plan, strides::dense);  // the halo still works
}

TEST(halo, neighbours_that_do_different_things_are_told) {
  if (world().size() == 1) GTEST_SKIP();
  const auto here = line(0);
  const auto plan = halo::grid_halo::create(here.cart, here.description());
  strided_array array(here.shape(), strides::dense);
  const auto buffer = array.fill(mark_at).buffer();
  const auto way = is_odd_one() ? halo::operation::accumulate : halo::operation::exchange;
  const auto result = outcome_of([&] { halo::start(plan, &buffer, way)->wait(); });
  if (world().rank() >= world().size() - 2) expect_error(result, SYNCYTE_ERR_MISMATCH, "is in halo_");
  collectives::barrier(world());
  check_exchange(here, plan, strides::dense);
}

/// Some ranks accumulate while the others exchange, with messages of different lengths in both directions: all ranks
/// get an error.
void expect_all_to_be_told(const scene& here, bool is_other) {
  const auto plan = halo::grid_halo::create(here.cart, here.description());
  for (const bool exchanges : {true, false}) {
    strided_array array(here.shape(), strides::dense);
    const auto buffer = array.fill(mark_at).buffer();
    const auto way = is_other == exchanges ? halo::operation::accumulate : halo::operation::exchange;
    const auto result = outcome_of([&] { halo::start(plan, &buffer, way)->wait(); });
    expect_error(result, SYNCYTE_ERR_MISMATCH, "is in halo_");
    collectives::barrier(world());
    check_exchange(here, plan, strides::dense);
  }
}

TEST(halo, messages_of_other_lengths_are_a_mismatch_too) {
  if (world().size() != 2 && world().size() != 3) GTEST_SKIP() << "every rank is to be a neighbour of the odd one";
  const std::int64_t limit = mpi::piece_limit();
  for (const std::int64_t pieces : {limit, std::int64_t{7}})
    for (const auto ghosts : {widths{1, 3}, widths{3, 1}}) {
      auto here = line(1);
      here.ghosts = {ghosts};
      mpi::piece_limit() = pieces;
      expect_all_to_be_told(here, is_odd_one());
      mpi::piece_limit() = limit;
    }
}

TEST(halo, a_mismatch_of_neighbours_in_different_phases_is_told) {
  if (world().size() % 2 != 0) GTEST_SKIP() << "needs a grid of two rows";
  const auto cart = comm::make_cartesian(world(), {{2, 0}, {0, 0}}, {});
  const auto place = comm::coordinates_of(*cart, cart->rank());
  expect_all_to_be_told({cart, {0, 1}, 3, {{1, 2}, {2, 1}}, true, place}, (place[0] + place[1]) % 2 != 0);
}

TEST(halo, after_an_error_of_mpi_its_memory_is_left_to_mpi) {
  if (world().size() == 1) GTEST_SKIP();
  const auto here = line(0);
  const auto number = here.cart->sequence() + 1;
  auto plan = halo::grid_halo::create(here.cart, here.description());
  const std::weak_ptr<halo::grid_halo> observer = plan;
  if (world().rank() == 0) {  // longer than anything that the halo's neighbours send
    const std::vector<char> foreign(1000);
    MPI_Send(foreign.data(), 1000, MPI_CHAR, 1, comm::control_tag(number * 2 * SYNCYTE_MAX_NDIM), here.cart->control());
  }
  collectives::barrier(world());
  strided_array array(here.shape(), strides::dense);
  const auto buffer = array.fill(mark_at).buffer();
  const auto result = outcome_of([&] { halo::start(plan, &buffer, halo::operation::exchange)->wait(); });
  if (world().rank() == 1) {
    EXPECT_EQ(result.status, SYNCYTE_ERR_MPI) << result.message;
    expect_error(outcome_of([&] { halo::start(plan, &buffer, halo::operation::exchange); }), SYNCYTE_ERR_BUSY,
                 "has failed half-way");
  } else {
    EXPECT_EQ(result.status, SYNCYTE_SUCCESS) << result.message;
  }
  plan.reset();
  EXPECT_EQ(observer.expired(), world().rank() != 1);
}

}  // namespace
