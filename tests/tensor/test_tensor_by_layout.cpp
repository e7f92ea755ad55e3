// SPDX-License-Identifier: BSD-3-Clause
// Tensors that are cut by random layouts, against a table of all elements.

#include <gtest/gtest.h>

#include <complex>
#include <mutex>
#include <optional>

#include "collectives/shared_layout.hpp"
#include "comm/split.hpp"
#include "layout_arrays.hpp"
#include "random_layout.hpp"
#include "tensor/optimizer.hpp"
#include "tensor/row_locks.hpp"
#include "tensor/row_operations.hpp"
#include "tensor/row_request.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
using collectives::shared_layout;
using distribution::layout;
using distribution::per_axis;

tensor_pointer make(std::shared_ptr<shared_layout> by, syncyte_dtype_t dtype, const std::string& name = "field",
                    std::int64_t slots = 0) {
  tensor::tensor_options options;
  options.name = name;
  return tensor::whole_tensor::create_by_layout(shared_world(), dtype, by, slots, options);
}

std::shared_ptr<shared_layout> of_world(layout cut) {
  return std::make_shared<shared_layout>(shared_world(), std::move(cut));
}

extents shape_of(const tensor::whole_tensor& tensor) {
  return {tensor.layout().shape().begin(), tensor.layout().shape().end()};
}

/// The elements of a tensor, in row-major order, with the operations done slowly.
class table {
 public:
  explicit table(extents shape) : values(static_cast<std::size_t>(product(shape))), shape_(std::move(shape)) {}

  /// Calls visit(element, place in the box) for all elements of a box.
  template <class Visit>
  void for_each(const extents& lower, const extents& extent, Visit&& visit) {
    std::size_t place = 0;
    per_axis count = distribution::box().count, first{};
    std::ranges::copy(extent, count.begin());
    std::ranges::copy(lower, first.begin());
    reference::for_each_place(count,
                              [&](const per_axis& at) { visit(values[number(reference::plus(first, at))], place++); });
  }

  std::size_t number(const per_axis& point) const {
    std::int64_t result = 0;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) result = result * shape_[axis] + point[axis];
    return static_cast<std::size_t>(result);
  }

  std::vector<double> values;

 private:
  extents shape_;
};

/// By MPI RMA each access takes long.
std::uint64_t trials() { return on_one_node() || has_fabric() ? 60 : 12; }

struct random_box {
  extents lower, extent;

  random_box(const extents& shape, reference::random_numbers& next) {
    for (const std::int64_t whole : shape) {
      lower.push_back(next(0, std::max<std::int64_t>(whole - 1, 0)));
      extent.push_back(next(0, whole - lower.back()));
    }
  }
};

template <class Operation, class... Given>
void run_either(bool is_started, const tensor_pointer& of, Given... given) {
  if (is_started)
    access::start<Operation>(of, given...)->wait();
  else
    run<Operation>(*of, given...);
}

std::vector<double> drawn(std::size_t count, reference::random_numbers& next) {
  std::vector<double> result(count);
  for (double& each : result) each = static_cast<double>(next(-99, 99));
  return result;
}

void check_trial(std::uint64_t seed) {
  const std::vector<std::int64_t> cells = reference::random_cells(seed);
  const layout cut = reference::random_layout(cells, ranks(), seed, reference::random_points(cells.size(), seed));
  const tensor_pointer field = make(of_world(cut), SYNCYTE_FLOAT64);
  const extents shape = shape_of(*field);
  table expected(shape);
  reference::random_numbers next(seed + 1);
  for (int step = 0; step < 4; ++step) {
    const bool is_started = next.to(1) == 0;
    const int writer = next.to(ranks() - 1);
    const random_box written(shape, next), added(shape, next), read(shape, next);
    std::vector<double> values = drawn(static_cast<std::size_t>(product(written.extent)), next);
    const syncyte_buffer_t source = buffer_of(values, SYNCYTE_FLOAT64, written.extent);
    if (rank() == writer) run_either<tensor::put_box>(is_started, field, written.lower, &source);
    expected.for_each(written.lower, written.extent, [&](double& element, std::size_t i) { element = values[i]; });
    field->sync();
    if (tensor::can_add_everywhere(*field)) {
      values = drawn(static_cast<std::size_t>(product(added.extent)), next);
      const syncyte_buffer_t summand = buffer_of(values, SYNCYTE_FLOAT64, added.extent);
      const double twice = 2;
      run_either<tensor::accumulate_box>(is_started, field, added.lower, &summand, static_cast<const void*>(&twice),
                                         SYNCYTE_OP_SUM);  // on all ranks
      expected.for_each(added.lower, added.extent,
                        [&](double& element, std::size_t i) { element += 2 * ranks() * values[i]; });
      field->sync();
    }
    std::vector<double> found(static_cast<std::size_t>(product(read.extent)), -1);
    const syncyte_buffer_t output = buffer_of(found, SYNCYTE_FLOAT64, read.extent);
    run_either<tensor::get_box>(is_started, field, read.lower, &output);
    expected.for_each(read.lower, read.extent, [&](double& element, std::size_t i) { ASSERT_EQ(found[i], element); });
    barrier();
  }
  std::vector<std::int64_t> held;  // elements that all ranks have in their memory
  for (int owner = 0; owner < ranks(); ++owner) held.push_back(field->layout().partition().count(owner));
  EXPECT_EQ(std::accumulate(held.begin(), held.end(), std::int64_t{0}), product(shape)) << "each point once";
}

TEST(tensor_by_layout, boxes_equal_the_loop) {
  for (std::uint64_t seed = 0; seed < trials(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check_trial(seed);
    if (HasFatalFailure()) return;
  }
}

/// The view holds the points that this rank owns, in the order of its block.
TEST(tensor_by_layout, the_view_is_the_block) {
  for (std::uint64_t seed = 0; seed < trials(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<std::int64_t> cells = reference::random_cells(seed);
    const layout cut = reference::random_layout(cells, ranks(), seed, reference::random_points(cells.size(), seed));
    const tensor_pointer field = make(of_world(cut), SYNCYTE_FLOAT64);
    const extents shape = shape_of(*field);
    table all(shape);
    std::iota(all.values.begin(), all.values.end(), 1.0);
    const syncyte_buffer_t source = buffer_of(all.values, SYNCYTE_FLOAT64, shape);
    if (rank() == 0) run<tensor::put_box>(*field, extents(shape.size(), 0), &source);
    field->sync();
    std::vector<int> mine;
    for (const int block : cut.blocks_of(rank()))
      if (cut.ranks_of(block).front() == rank() && !cut.parts_of(block, distribution::holding::owned).empty())
        mine.push_back(block);
    if (mine.size() > 1) {
      expect_error(outcome_of([&] { field->local(); }), SYNCYTE_ERR_UNSUPPORTED, "expected at most 1");
      continue;
    }
    const syncyte_buffer_t view = field->local();
    const base::buffer checked(&view, "view");
    std::vector<double> expected;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      std::map<per_axis, double> by_place;
      for (const auto& part : cut.parts_of(mine[i], distribution::holding::owned))
        reference::for_each_place(part.points.count, [&](const per_axis& at) {
          by_place[reference::plus(part.offset, at)] = all.values[all.number(reference::plus(part.points.first, at))];
        });
      for (const auto& [place, value] : by_place) expected.push_back(value);
    }
    ASSERT_EQ(checked.elements(), std::ssize(expected));
    const auto* const found = static_cast<const double*>(view.data);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(found[i], expected[i]);
  }
}

TEST(tensor_by_layout, empty_blocks_do_not_count_for_the_view) {
  const std::vector<std::int64_t> cells{4, 6};
  const std::vector<distribution::rank_box> blocks{{0, {{}, {4, 6, 1, 1, 1, 1, 1, 1}}},
                                                   {0, {{4, 0}, {0, 6, 1, 1, 1, 1, 1, 1}}}};
  const tensor_pointer field = make(of_world(layout::of_blocks(cells, blocks, ranks())), SYNCYTE_INT8);
  EXPECT_EQ(field->local().shape[0], rank() == 0 ? 4 : 0);
  EXPECT_EQ(field->local().shape[1], rank() == 0 ? 6 : 0);
  barrier();
}

TEST(tensor_by_layout, counters_are_elements_in_row_major_order) {
  const std::vector<std::int64_t> cells{5, 7};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const tensor_pointer field = make(of_world(reference::random_layout(cells, ranks(), seed)), SYNCYTE_INT64);
    for (std::int64_t element = 0; element < 35; ++element) fetch_add(*field, element, element + 1);
    field->sync();
    std::vector<std::int64_t> found(35);
    const syncyte_buffer_t output = buffer_of(found, SYNCYTE_INT64, {5, 7});
    run<tensor::get_box>(*field, extents{0, 0}, &output);
    for (std::int64_t element = 0; element < 35; ++element) {
      EXPECT_EQ(found[static_cast<std::size_t>(element)], ranks() * (element + 1));
      EXPECT_EQ(tensor::load(*field, element), ranks() * (element + 1));
    }
    EXPECT_EQ(outcome_of([&] { tensor::load(*field, 35); }).status, SYNCYTE_ERR_INDEX);
    field->sync();
  }
}

/// All ranks add at once: numbers of 16 bytes take locks, those of less are added by the processor.
template <class T>
void check_no_add_is_lost(syncyte_dtype_t dtype) {
  const std::vector<std::int64_t> cells{4, 33};
  const tensor_pointer field = make(of_world(reference::random_layout(cells, ranks(), 3)), dtype);
  if (!tensor::can_add_everywhere(*field)) return;
  const std::vector<T> ones(4 * 33, T(1));
  const syncyte_buffer_t source = buffer_of(ones, dtype, {4, 33});
  for (int round = 0; round < 50; ++round)
    run<tensor::accumulate_box>(*field, extents{0, 0}, &source, nullptr, SYNCYTE_OP_SUM);
  field->sync();
  std::vector<T> found(ones.size());
  const syncyte_buffer_t output = buffer_of(found, dtype, {4, 33});
  run<tensor::get_box>(*field, extents{0, 0}, &output);
  for (const T& each : found) ASSERT_EQ(each, T(static_cast<float>(50 * ranks())));
  barrier();
}

TEST(tensor_by_layout, no_add_is_lost) {
  check_no_add_is_lost<std::int16_t>(SYNCYTE_INT16);
  check_no_add_is_lost<float>(SYNCYTE_FLOAT32);
  check_no_add_is_lost<std::complex<float>>(SYNCYTE_COMPLEX64);
  check_no_add_is_lost<std::complex<double>>(SYNCYTE_COMPLEX128);
}

/// Ranks with even numbers have the field; the others know its name alone.
TEST(tensor_by_layout, other_ranks_open_it_by_name) {
  const auto some = comm::split(world(), rank() % 2, 0, {.name = "solvers"});
  std::shared_ptr<shared_layout> by;
  if (rank() % 2 == 0) {
    const std::vector<std::int64_t> cells{6, 8};
    by = std::make_shared<shared_layout>(some, reference::random_layout(cells, some->size(), 11));
  }
  const tensor_pointer field = make(by, by ? SYNCYTE_FLOAT32 : 0);
  EXPECT_EQ(field->layout().dtype(), SYNCYTE_FLOAT32);
  ASSERT_EQ(shape_of(*field), (extents{6, 8}));
  for (int other = 1; other < ranks(); other += 2) EXPECT_EQ(field->layout().partition().count(other), 0);
  const std::vector<float> values(48, 2.5F);
  const syncyte_buffer_t source = buffer_of(values, SYNCYTE_FLOAT32, {6, 8});
  if (rank() == ranks() - 1) run<tensor::put_box>(*field, extents{0, 0}, &source);
  field->sync();
  std::vector<float> found(48);
  const syncyte_buffer_t output = buffer_of(found, SYNCYTE_FLOAT32, {6, 8});
  run<tensor::get_box>(*field, extents{0, 0}, &output);
  EXPECT_EQ(found, values);
  barrier();
}

std::shared_ptr<shared_layout> rows_of_world(std::int64_t cells = 6) {
  const std::vector<distribution::axis> axes{distribution::axis::equal(cells, ranks()),
                                             distribution::axis::equal(5, 1)};
  distribution::mesh mesh{{ranks()}, std::vector<int>(static_cast<std::size_t>(ranks()))};
  std::iota(mesh.ranks.begin(), mesh.ranks.end(), 0);
  return of_world(layout::on_mesh(axes, std::vector<std::vector<int>>{{0}, {}}, mesh, ranks()));
}

TEST(tensor_by_layout, ranks_that_disagree_all_get_the_error) {
  expect_error(outcome_of([] { make(nullptr, SYNCYTE_INT8); }), SYNCYTE_ERR_ARGUMENT, "layout is null on all ranks");
  if (ranks() == 1) return;
  const bool is_last = rank() == ranks() - 1;
  expect_error(outcome_of([&] { make(is_last ? nullptr : rows_of_world(), SYNCYTE_INT8, is_last ? "b" : "a"); }),
               SYNCYTE_ERR_MISMATCH, "\"b\"");
  expect_error(outcome_of([&] { make(rows_of_world(), is_last ? SYNCYTE_INT8 : SYNCYTE_INT16); }), SYNCYTE_ERR_MISMATCH,
               "dtype");
  expect_error(outcome_of([&] { make(rows_of_world(is_last ? 7 : 6), SYNCYTE_INT8); }), SYNCYTE_ERR_MISMATCH,
               "shape[0]");
  expect_error(outcome_of([&] { make(rows_of_world(), is_last ? 99 : SYNCYTE_INT8); }), SYNCYTE_ERR_TYPE, "99");
}

TEST(tensor_by_layout, a_layout_of_ranks_outside_is_an_error) {
  const auto part = comm::split(world(), rank() == 0 ? 0 : 1, 0, {.name = "part"});
  tensor::tensor_options options;
  if (ranks() == 1) return;
  expect_error(
      outcome_of([&] { tensor::whole_tensor::create_by_layout(part, SYNCYTE_INT8, rows_of_world(), 0, options); }),
      SYNCYTE_ERR_ARGUMENT, "expected blocks of ranks of");
}

/// Rows that several ranks own are read and written as boxes; the last source of a row that repeats stays.
TEST(tensor_by_layout, rows_are_gathered_and_scattered) {
  const std::vector<std::int64_t> cells{6, 4, 5};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    reference::random_numbers next(seed);
    const tensor_pointer field = make(of_world(reference::random_layout(cells, ranks(), seed)), SYNCYTE_FLOAT64);
    table expected(cells);
    std::vector<std::int64_t> wanted(8);
    for (std::int64_t& row : wanted) row = next(0, 5);
    std::vector<double> values = drawn(8 * 20, next), found(8 * 20, -1);
    const syncyte_buffer_t index = index_of(wanted), source = buffer_of(values, SYNCYTE_FLOAT64, {8, 4, 5});
    if (rank() == static_cast<int>(seed) % ranks()) run_either<tensor::scatter>(seed % 2 == 0, field, &index, &source);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      expected.for_each({wanted[i], 0, 0}, {1, 4, 5},
                        [&](double& element, std::size_t place) { element = values[20 * i + place]; });
    field->sync();
    const syncyte_buffer_t output = buffer_of(found, SYNCYTE_FLOAT64, {8, 4, 5});
    run_either<tensor::gather>(seed % 2 == 1, field, &index, &output);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      expected.for_each({wanted[i], 0, 0}, {1, 4, 5},
                        [&](double& element, std::size_t place) { ASSERT_EQ(found[20 * i + place], element); });
    barrier();
  }
}

TEST(tensor_by_layout, functions_of_rows_are_refused) {
  const tensor_pointer field = make(rows_of_world(), SYNCYTE_INT64);
  std::vector<std::int64_t> values(5);
  const std::vector<std::int64_t> first{0};
  const syncyte_buffer_t index = index_of(first), packed = buffer_of(values, SYNCYTE_INT64, {1, 5});
  const std::string text = "is cut by a layout";
  expect_error(outcome_of([&] { run<tensor::put_signal>(*field, &index, &packed, field, 0, 1, SYNCYTE_OP_SUM); }),
               SYNCYTE_ERR_UNSUPPORTED, text);
  expect_error(outcome_of([&] { tensor::set_optimizer(*make(rows_of_world(), SYNCYTE_FLOAT32), {.lr = 1}, {}); }),
               SYNCYTE_ERR_UNSUPPORTED, text);
  expect_error(outcome_of([&] { run<tensor::scatter_add>(*field, &index, &packed); }), SYNCYTE_ERR_UNSUPPORTED, text);
  std::int64_t from = 0, count = 0;
  std::int32_t owner = 0;
  expect_error(outcome_of([&] { field->rows(0, from, count); }), SYNCYTE_ERR_UNSUPPORTED, text);
  expect_error(outcome_of([&] { field->owner(first, &owner); }), SYNCYTE_ERR_UNSUPPORTED, text);
  expect_error(outcome_of([&] { field->locate_box(extents{0, 0}, extents{1, 1}, 0, nullptr, nullptr, nullptr); }),
               SYNCYTE_ERR_UNSUPPORTED, text);
  syncyte_buffer_t view{};
  expect_error(outcome_of([&] { field->node(view, from); }), SYNCYTE_ERR_UNSUPPORTED, text);
  expect_error(outcome_of([&] { tensor::lock(*field, 0); }), SYNCYTE_ERR_UNSUPPORTED, "row_locks");
  tensor::tensor_options options;
  options.row_locks = true;
  expect_error(outcome_of([&] {
                 tensor::whole_tensor::create_by_layout(shared_world(), SYNCYTE_INT8, rows_of_world(), 0, options);
               }),
               SYNCYTE_ERR_UNSUPPORTED, "row_locks");
  barrier();
}

TEST(tensor_by_layout, arrays_in_its_own_memory) {
  const tensor_pointer field = make(rows_of_world(2 * ranks()), SYNCYTE_INT32);
  const syncyte_buffer_t mine = field->local();
  auto* const values = static_cast<std::int32_t*>(mine.data);
  std::iota(values, values + 10, 10 * rank());
  field->sync();
  run<tensor::get_box>(*field, extents{2 * rank(), 0}, &mine);  // each element to itself
  const syncyte_buffer_t second = base::make_buffer(values + 5, SYNCYTE_INT32, extents{1, 5});
  expect_error(outcome_of([&] { run<tensor::get_box>(*field, extents{2 * rank(), 0}, &mine); }), SYNCYTE_SUCCESS, "");
  expect_error(outcome_of([&] { run<tensor::put_box>(*field, extents{2 * rank() + 1, 0}, &second); }), SYNCYTE_SUCCESS,
               "");
  const std::vector<std::int64_t> next{(2 * rank() + 2) % (2 * ranks())};
  const syncyte_buffer_t index = index_of(next);
  expect_error(outcome_of([&] { run<tensor::gather>(*field, &index, &second); }), SYNCYTE_ERR_ARGUMENT,
               "in the same memory");
  const syncyte_buffer_t shifted = base::make_buffer(values + 1, SYNCYTE_INT32, extents{1, 5});
  expect_error(outcome_of([&] { run<tensor::get_box>(*field, extents{2 * rank(), 0}, &shifted); }),
               SYNCYTE_ERR_ARGUMENT, "in the same memory");
  expect_error(outcome_of([&] { run<tensor::put_box>(*field, extents{2 * rank(), 0}, &shifted); }),
               SYNCYTE_ERR_ARGUMENT, "in the same memory");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(values[i], 10 * rank() + i);
  barrier();
}

}  // namespace
