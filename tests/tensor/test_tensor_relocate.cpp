// SPDX-License-Identifier: BSD-3-Clause
// Tensors that are cut anew, in place.

#include <gtest/gtest.h>

#include <numeric>

#include "collectives/shared_layout.hpp"
#include "comm/split.hpp"
#include "random_layout.hpp"
#include "tensor/optimizer.hpp"
#include "tensor/row_locks.hpp"
#include "tensor/row_operations.hpp"
#include "tensor/staged_adds.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;
using collectives::shared_layout;
using distribution::layout;

std::shared_ptr<shared_layout> of_world(layout cut) {
  return std::make_shared<shared_layout>(shared_world(), std::move(cut));
}

tensor_pointer make_rows(const extents& shape, const tensor::tensor_options& options = {}) {
  return tensor::whole_tensor::create(shared_world(), SYNCYTE_FLOAT64, static_cast<std::int32_t>(shape.size()),
                                      shape.data(), options);
}

void relocate(tensor::whole_tensor& of, std::shared_ptr<shared_layout> by) { of.relocate({.by = std::move(by)}); }

/// The numbers 1, 2, ..., written by one rank.
void fill(tensor::whole_tensor& of, int writer) {
  const extents shape(of.layout().shape().begin(), of.layout().shape().end());
  std::vector<double> values(static_cast<std::size_t>(product(shape)));
  std::iota(values.begin(), values.end(), 1.0);
  const syncyte_buffer_t source = buffer_of(values, SYNCYTE_FLOAT64, shape);
  if (rank() == writer) run<tensor::put_box>(of, extents(shape.size(), 0), &source);
}

void expect_filled(tensor::whole_tensor& of) {
  const extents shape(of.layout().shape().begin(), of.layout().shape().end());
  std::vector<double> expected(static_cast<std::size_t>(product(shape))), found(expected.size(), -1);
  std::iota(expected.begin(), expected.end(), 1.0);
  const syncyte_buffer_t output = buffer_of(found, SYNCYTE_FLOAT64, shape);
  run<tensor::get_box>(of, extents(shape.size(), 0), &output);
  EXPECT_EQ(found, expected);
}

/// Rows to a layout, to another one, to rows of uneven numbers: the values stay, and nobody needs a sync before.
TEST(tensor_relocate, values_stay_between_random_cuts) {
  const std::uint64_t trials = on_one_node() || has_fabric() ? 40 : 8;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<std::int64_t> cells = reference::random_cells(seed);
    const auto points = reference::random_points(cells.size(), seed);
    const auto one = of_world(reference::random_layout(cells, ranks(), seed, points));
    const auto other = of_world(reference::random_layout(cells, ranks(), seed + 100, points));
    const distribution::per_axis all = one->cut().extents();
    const extents shape(all.begin(), all.begin() + one->cut().ndim());
    if (other->cut().extents() != all) continue;
    const tensor_pointer field = make_rows(shape);
    fill(*field, static_cast<int>(seed) % ranks());
    relocate(*field, one);
    expect_filled(*field);
    relocate(*field, other);
    expect_filled(*field);
    EXPECT_EQ(field->layout().blocks()->layout()->cut(), other->cut());
    const std::vector<std::int64_t> lengths = reference::uneven_lengths(seed, shape[0], ranks());
    field->relocate({.by = nullptr, .local_rows = lengths[static_cast<std::size_t>(rank())]});
    expect_filled(*field);
    for (int owner = 0; owner < ranks(); ++owner)
      EXPECT_EQ(field->layout().partition().count(owner), lengths[static_cast<std::size_t>(owner)]);
    EXPECT_EQ(field->local().shape[0], lengths[static_cast<std::size_t>(rank())]);
    field->sync();
  }
}

TEST(tensor_relocate, locks_and_deterministic_adds_stay_between_rows) {
  const tensor_pointer field = make_rows({7, 3}, {.name = "table", .row_locks = true, .deterministic = true});
  const std::vector<double> ones(21, 1.0);
  const syncyte_buffer_t source = buffer_of(ones, SYNCYTE_FLOAT64, {7, 3});
  for (int round = 0; round < 2; ++round) {
    run<tensor::accumulate_box>(*field, extents{0, 0}, &source, nullptr, SYNCYTE_OP_SUM);
    field->relocate({.local_rows = rank() == ranks() - 1 ? 7 : 0});  // a sync, which makes the adds
    std::vector<double> found(21);
    const syncyte_buffer_t output = buffer_of(found, SYNCYTE_FLOAT64, {7, 3});
    run<tensor::get_box>(*field, extents{0, 0}, &output);
    EXPECT_EQ(found, std::vector<double>(21, (round + 1.0) * ranks()));
    tensor::lock(*field, 3);
    tensor::unlock(*field, 3);
    field->sync();
  }
  EXPECT_NE(field->staged(), nullptr);
  EXPECT_NE(field->layout().text().find("\"table\""), std::string::npos);
}

TEST(tensor_relocate, wrapped_arrays_are_released) {
  std::vector<double> mine(2, rank());
  std::int64_t released = 0;
  const syncyte_buffer_t local = buffer_of(mine, SYNCYTE_FLOAT64, {2});
  const auto field = tensor::whole_tensor::wrap(shared_world(), &local, {.released = &released});
  field->relocate({.local_rows = rank() == 0 ? 2 * ranks() : 0});
  field->sync();
  EXPECT_EQ(released, 1);
  std::vector<double> found(static_cast<std::size_t>(2 * ranks()));
  const syncyte_buffer_t output = buffer_of(found, SYNCYTE_FLOAT64, {2 * ranks()});
  run<tensor::get_box>(*field, extents{0}, &output);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], static_cast<double>(i / 2));
  barrier();
}

/// Ranks outside the layout's communicator pass none, as in the creation of a tensor.
TEST(tensor_relocate, some_ranks_have_the_layout) {
  const tensor_pointer field = make_rows({6, 4});
  fill(*field, 0);
  const auto some = comm::split(world(), rank() % 2, 0, {.name = "solvers"});
  std::shared_ptr<shared_layout> by;
  if (rank() % 2 == 0) {
    const std::vector<std::int64_t> cells{6, 4};
    by = std::make_shared<shared_layout>(some, reference::random_layout(cells, some->size(), 5));
  }
  relocate(*field, by);
  expect_filled(*field);
  for (int other = 1; other < ranks(); other += 2) EXPECT_EQ(field->layout().partition().count(other), 0);
  barrier();
}

TEST(tensor_relocate, all_ranks_get_errors_and_the_tensor_stays) {
  const std::vector<std::int64_t> cells{6, 4}, wrong{4, 6};
  const auto by = of_world(reference::random_layout(cells, ranks(), 1));
  const tensor_pointer field = make_rows({6, 4});
  fill(*field, 0);
  const auto refused = [&](const tensor::relocation_target& to, syncyte_status_t status, const std::string& text) {
    expect_error(outcome_of([&] { field->relocate(to); }), status, text);
    EXPECT_EQ(field->layout().blocks(), nullptr);
  };
  const bool is_last = rank() == ranks() - 1;
  refused({.by = of_world(reference::random_layout(wrong, ranks(), 1))}, SYNCYTE_ERR_SHAPE, "[4, 6]");
  refused({.by = by, .local_rows = is_last ? 3 : -1}, SYNCYTE_ERR_ARGUMENT, "local_rows is 3");
  refused({.local_rows = 3}, ranks() == 2 ? SYNCYTE_SUCCESS : SYNCYTE_ERR_ARGUMENT,
          ranks() == 2 ? "" : "sum of local_rows is");
  if (is_last)
    refused({.error = base::error(SYNCYTE_ERR_BUSY, "views")}, SYNCYTE_ERR_BUSY, "views");
  else
    refused({}, SYNCYTE_ERR_BUSY, "views");
  const tensor_pointer second = make_rows({6, 4});
  if (ranks() > 1)
    expect_error(outcome_of([&] { (is_last ? second : field)->relocate({.by = by}); }), SYNCYTE_ERR_MISMATCH,
                 "creation number of the tensor");
  expect_filled(*field);
  barrier();
}

TEST(tensor_relocate, what_needs_the_old_cut_is_refused) {
  const std::vector<std::int64_t> cells{6, 4};
  const auto by = of_world(reference::random_layout(cells, ranks(), 1));
  const auto refused = [&](const tensor_pointer& of, const std::string& text) {
    expect_error(outcome_of([&] { relocate(*of, by); }), SYNCYTE_ERR_UNSUPPORTED, text);
  };
  refused(make_rows({6, 4}, {.row_locks = true}), "options->row_locks");
  refused(make_rows({6, 4}, {.deterministic = true}), "options->deterministic");
  refused(tensor::whole_tensor::create_by_layout(shared_world(), SYNCYTE_INT8, by, 2, {}), "slots");
  const tensor_pointer trained = make_rows({6, 4});
  tensor::set_optimizer(*trained, {.optimizer = SYNCYTE_OPTIMIZER_SGD, .lr = 1}, {});
  refused(trained, "an optimizer");
}

}  // namespace
