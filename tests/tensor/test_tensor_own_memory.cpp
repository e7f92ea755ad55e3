// SPDX-License-Identifier: BSD-3-Clause
// Operands that lie in the tensor's own memory: an access is refused, and changes nothing, exactly if it would read a
// byte that it also writes at another place; otherwise it does what it does with a copy.

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <optional>

#include "base/strided_copy.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

constexpr std::int64_t row_count = 24;

/// Runs step() on one rank after the other, because they change rows of each other.
template <class Step>
void in_turn(Step&& step) {
  for (int turn = 0; turn < ranks(); ++turn) {
    if (turn == rank()) step();
    barrier();
  }
}

std::int64_t draw(std::int64_t round, std::int64_t place, std::int64_t low, std::int64_t high) {
  return reference::random_integer(77 + rank(), round, place, low, high);
}

const std::byte* row_at(const tensor::whole_tensor& tensor, std::int64_t row) {
  return tensor.held()->mapped_rows().find(row);
}

std::vector<std::int64_t> mapped_rows_of(const tensor::whole_tensor& tensor) {
  std::vector<std::int64_t> result;
  for (std::int64_t row = 0; row < tensor.layout().rows(); ++row)
    if (row_at(tensor, row) != nullptr) result.push_back(row);
  return result;
}

enum class kind { get, put, add };

/// One way to access rows, blocking or started.
struct row_way {
  const char* name;
  kind what;
  std::function<void(tensor::whole_tensor&, const syncyte_buffer_t*, const syncyte_buffer_t*)> run;
};

std::vector<row_way> row_ways(tensor_pointer counters) {
  return {
      {"gather", kind::get, [](auto& t, auto* index, auto* packed) { run<tensor::gather>(t, index, packed); }},
      {"igather", kind::get,
       [](auto& t, auto* index, auto* packed) { start<tensor::gather>(t, index, packed)->wait(); }},
      {"scatter", kind::put, [](auto& t, auto* index, auto* packed) { run<tensor::scatter>(t, index, packed); }},
      {"iscatter", kind::put,
       [](auto& t, auto* index, auto* packed) { start<tensor::scatter>(t, index, packed)->wait(); }},
      {"put_signal", kind::put,
       [=](auto& t, auto* index, auto* packed) {
         run<tensor::put_signal>(t, index, packed, counters, 0, 1, SYNCYTE_OP_SUM);
       }},
      {"iput_signal", kind::put,
       [=](auto& t, auto* index, auto* packed) {
         start<tensor::put_signal>(t, index, packed, counters, 0, 1, SYNCYTE_OP_SUM)->wait();
       }},
      {"scatter_add", kind::add,
       [](auto& t, auto* index, auto* packed) { run<tensor::scatter_add>(t, index, packed); }},
      {"iscatter_add", kind::add,
       [](auto& t, auto* index, auto* packed) { start<tensor::scatter_add>(t, index, packed)->wait(); }},
  };
}

/// Whether packed row i shares a byte with the row of an index other than i, or with its own at another address.
bool is_wrong(const tensor::whole_tensor& tensor, const std::vector<std::int64_t>& index, const std::byte* packed) {
  const auto bytes = static_cast<std::int64_t>(tensor.layout().row_bytes());
  for (std::size_t i = 0; i < index.size(); ++i)
    for (std::size_t j = 0; j < index.size(); ++j) {
      const std::byte* const row = row_at(tensor, index[j]);
      const std::byte* const mine = packed + static_cast<std::int64_t>(i) * bytes;
      if (row == nullptr || (i == j && row == mine)) continue;
      for (std::int64_t a = 0; a < bytes; ++a)
        if (mine + a >= row && mine + a < row + bytes) return true;
    }
  return false;
}

/// All rows after a scatter or an add of a copy of `packed`.
std::vector<std::int64_t> changed(std::vector<std::int64_t> table, const std::vector<std::int64_t>& index,
                                  const std::vector<std::int64_t>& packed, kind what) {
  const std::size_t row = table.size() / row_count;
  for (std::size_t i = 0; i < index.size(); ++i)
    for (std::size_t k = 0; k < row; ++k) {
      std::int64_t& element = table[static_cast<std::size_t>(index[i]) * row + k];
      element = packed[i * row + k] + (what == kind::add ? element : 0);
    }
  return table;
}

std::vector<std::int64_t> own_table(const tensor::whole_tensor& tensor) {
  std::vector<std::int64_t> table(static_cast<std::size_t>(row_count * tensor.layout().row_elements()));
  std::iota(table.begin(), table.end(), 1000 * rank());
  return table;
}

void write_all(tensor::whole_tensor& tensor, const std::vector<std::int64_t>& table) {
  const auto index = all_rows(row_count);
  const syncyte_buffer_t given = index_of(index), source = buffer_of(table, SYNCYTE_INT64, {std::ssize(table)});
  run<tensor::scatter>(tensor, &given, &source);
  tensor.flush();
}

void check_rows(tensor::whole_tensor& tensor, const row_way& way, const std::vector<std::int64_t>& index,
                std::int64_t* packed, int& refused, int& done) {
  const std::int64_t row = tensor.layout().row_elements();
  const std::vector<std::int64_t> before = own_table(tensor);
  write_all(tensor, before);
  const std::vector<std::int64_t> copy(packed, packed + std::ssize(index) * row);
  const syncyte_buffer_t given = index_of(index);
  const std::int64_t elements = std::ssize(copy);
  const syncyte_buffer_t operand = base::make_buffer(packed, SYNCYTE_INT64, {&elements, 1});
  const outcome result = outcome_of([&] { way.run(tensor, &given, &operand); });
  tensor.flush();
  if (is_wrong(tensor, index, reinterpret_cast<const std::byte*>(packed))) {
    ++refused;
    expect_error(result, SYNCYTE_ERR_ARGUMENT, way.what == kind::get ? "output: row[" : "source: row[");
    expect_error(result, SYNCYTE_ERR_ARGUMENT, way.what == kind::get ? "this call reads it" : "this call writes it");
    expect_error(result, SYNCYTE_ERR_ARGUMENT, "clone()");
    EXPECT_EQ(read_all<std::int64_t>(tensor), before) << way.name;
    return;
  }
  ++done;
  EXPECT_EQ(result.status, SYNCYTE_SUCCESS) << way.name << ": " << result.message;
  if (way.what != kind::get) {
    EXPECT_EQ(read_all<std::int64_t>(tensor), changed(before, index, copy, way.what)) << way.name;
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::int64_t source = index[static_cast<std::size_t>(i / row)] * row + i % row;
    ASSERT_EQ(packed[i], before[static_cast<std::size_t>(source)]) << way.name;
  }
}

/// Random rows and a random place of the operand among them, of any alignment to rows.
void check_random_rows(const tensor_pointer& tensor, const tensor_pointer& counters) {
  const std::vector<std::int64_t> here = mapped_rows_of(*tensor);
  if (here.empty()) return;
  int refused = 0, done = 0;
  for (const row_way& way : row_ways(counters))
    for (std::int64_t round = 0; round < 40; ++round) {
      const std::int64_t last = std::ssize(here) - 1;
      const std::int64_t count = draw(round, 0, 1, std::min<std::int64_t>(3, last + 1));
      const std::int64_t first = here[static_cast<std::size_t>(draw(round, 1, 0, last + 1 - count))];
      const std::int64_t shift = draw(round, 2, 0, 3) == 0 && first + count < here.back() ? 1 : 0;
      std::vector<std::int64_t> index;
      for (std::int64_t i = 0; i < count; ++i)
        index.push_back(draw(round, 3, 0, 2) != 0 ? here[static_cast<std::size_t>(draw(round, 4 + i, 0, last))]
                                                  : first + i);
      if (row_at(*tensor, first + count - 1) == nullptr) continue;
      auto* const packed = reinterpret_cast<std::int64_t*>(const_cast<std::byte*>(row_at(*tensor, first))) + shift;
      check_rows(*tensor, way, index, packed, refused, done);
    }
  EXPECT_GT(refused, 10);
  EXPECT_GT(done, 20);
}

TEST(tensor_own_memory, rows_are_refused_exactly_if_another_row_is_read_and_written) {
  const auto counters = make_tensor(SYNCYTE_INT64, {1});
  for (const extents& shape : {extents{row_count}, extents{row_count, 3}}) {
    const auto tensor = make_tensor(SYNCYTE_INT64, shape);
    tensor->sync();
    in_turn([&] { check_random_rows(tensor, counters); });
  }
}

TEST(tensor_own_memory, rows_of_even_numbers_may_go_to_odd_ones) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {row_count, 2});
  const auto counters = make_tensor(SYNCYTE_INT64, {1});
  in_turn([&] {
    const auto here = mapped_rows_of(*tensor);
    auto* const base = reinterpret_cast<std::int64_t*>(const_cast<std::byte*>(row_at(*tensor, here[0])));
    const std::vector<std::int64_t> one{here[1]}, same{here[0]};
    int refused = 0, done = 0;
    for (const row_way& way : row_ways(counters)) {
      check_rows(*tensor, way, one, base, refused, done);                 // row 0 to row 1
      check_rows(*tensor, way, same, base, refused, done);                // row 0 to itself
      check_rows(*tensor, way, {here[0], here[0]}, base, refused, done);  // row 1 goes to row 0, which is read
      check_rows(*tensor, way, {here[1], here[0]}, base, refused, done);  // exchanged
      check_rows(*tensor, way, {here[0], here[1]}, base, refused, done);  // each to itself
    }
    EXPECT_EQ(refused, 16);
    EXPECT_EQ(done, 24);
  });
}

TEST(tensor_own_memory, an_index_that_the_call_writes_is_refused) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {row_count});
  tensor->sync();
  in_turn([&] {
    const auto here = mapped_rows_of(*tensor);
    auto* const base = reinterpret_cast<std::int64_t*>(const_cast<std::byte*>(row_at(*tensor, here[0])));
    base[0] = here[1];
    base[1] = here[2];
    const std::int64_t two = 2;
    const syncyte_buffer_t index = base::make_buffer(base, SYNCYTE_INT64, {&two, 1});
    std::vector<std::int64_t> values{7, 8};
    const syncyte_buffer_t source = buffer_of(values, SYNCYTE_INT64, {2});
    expect_error(outcome_of([&] { run<tensor::scatter>(*tensor, &index, &source); }), SYNCYTE_ERR_ARGUMENT,
                 "index: row[");
    expect_error(outcome_of([&] { run<tensor::gather>(*tensor, &index, &index); }), SYNCYTE_ERR_ARGUMENT,
                 "index is in the memory of output");
    base[0] = base[1] = here[2];
    run<tensor::scatter>(*tensor, &index, &source);  // to another row
    EXPECT_EQ(base[2], 8);
  });
}

/// A box of the tensor, and an array of the same extents in the tensor's memory.
struct box_operand {
  extents lower;
  syncyte_buffer_t array;
};

struct box_way {
  const char* name;
  kind what;
  std::function<void(tensor::whole_tensor&, const box_operand&)> run;
};

const std::vector<box_way> box_ways{
    {"get_box", kind::get, [](auto& t, auto& box) { run<tensor::get_box>(t, box.lower, &box.array); }},
    {"iget_box", kind::get, [](auto& t, auto& box) { start<tensor::get_box>(t, box.lower, &box.array)->wait(); }},
    {"put_box", kind::put, [](auto& t, auto& box) { run<tensor::put_box>(t, box.lower, &box.array); }},
    {"iput_box", kind::put, [](auto& t, auto& box) { start<tensor::put_box>(t, box.lower, &box.array)->wait(); }},
    {"accumulate_box", kind::add,
     [](auto& t, auto& box) { run<tensor::accumulate_box>(t, box.lower, &box.array, nullptr, SYNCYTE_OP_SUM); }},
    {"iaccumulate_box", kind::add,
     [](auto& t, auto& box) {
       start<tensor::accumulate_box>(t, box.lower, &box.array, nullptr, SYNCYTE_OP_SUM)->wait();
     }},
};

constexpr std::int64_t columns = 4;

/// Calls visit(element of the array, element of the tensor) in row-major order.
void for_each_pair(const tensor::whole_tensor& tensor, const box_operand& box,
                   const std::function<void(std::int64_t*, std::int64_t*)>& visit) {
  for (std::int64_t i = 0; i < box.array.shape[0]; ++i)
    for (std::int64_t j = 0; j < box.array.shape[1]; ++j) {
      auto* const user = static_cast<std::byte*>(box.array.data) + i * box.array.strides[0] + j * box.array.strides[1];
      auto* const row = reinterpret_cast<const std::int64_t*>(row_at(tensor, box.lower[0] + i));
      visit(reinterpret_cast<std::int64_t*>(user), const_cast<std::int64_t*>(row) + box.lower[1] + j);
    }
}

bool is_wrong(const tensor::whole_tensor& tensor, const box_operand& box) {
  bool result = false;
  for_each_pair(tensor, box, [&](auto* user, auto* own) {
    for_each_pair(tensor, box, [&](auto*, auto* other) { result |= other == user && own != user; });
  });
  return result;
}

/// A box of mapped rows and an array of elements of them, by rows or transposed, reversed or not.
std::optional<box_operand> random_box(const tensor::whole_tensor& tensor, std::int64_t round) {
  const auto here = mapped_rows_of(tensor);
  const auto count = static_cast<std::int64_t>(here.size());
  box_operand box;
  const std::int64_t extent[] = {draw(round, 0, 1, std::min<std::int64_t>(3, count)), draw(round, 1, 1, 3)};
  box.lower = {here[static_cast<std::size_t>(draw(round, 2, 0, count - extent[0]))],
               draw(round, 3, 0, columns - extent[1])};
  const std::int64_t row_of_array = here[static_cast<std::size_t>(draw(round, 4, 0, count - 1))];
  const bool is_same_place = draw(round, 10, 0, 3) == 0;
  auto* const first = const_cast<std::byte*>(row_at(tensor, is_same_place ? box.lower[0] : row_of_array)) +
                      8 * (is_same_place ? box.lower[1] : draw(round, 5, 0, columns - 1));
  box.array = base::make_buffer(first, SYNCYTE_INT64, extent);
  const bool is_transposed = draw(round, 6, 0, 4) == 0 && !is_same_place;
  box.array.strides[0] = is_transposed ? 8 : 8 * columns * (is_same_place ? 1 : draw(round, 7, -2, 2));
  box.array.strides[1] = is_transposed ? 8 * columns : 8 * (is_same_place ? 1 : draw(round, 8, -1, 1));
  if (box.array.strides[0] == 0 || box.array.strides[1] == 0) return std::nullopt;
  const std::byte *lowest = first, *highest = first + 8;
  for (int d = 0; d < 2; ++d)
    (box.array.strides[d] < 0 ? lowest : highest) += (box.array.shape[d] - 1) * box.array.strides[d];
  const std::byte* const end = row_at(tensor, here.back()) + 8 * columns;
  const bool is_inside = lowest >= row_at(tensor, here.front()) && highest <= end;
  const bool is_in_order = here.back() - here.front() == count - 1;
  return is_inside && is_in_order ? std::optional(box) : std::nullopt;
}

void check_box(tensor::whole_tensor& tensor, const box_way& way, const box_operand& box, int& refused, int& done) {
  const std::vector<std::int64_t> before = own_table(tensor);
  write_all(tensor, before);
  std::vector<std::pair<std::int64_t*, std::int64_t>> expected;
  for_each_pair(tensor, box, [&](auto* user, auto* own) {
    if (way.what == kind::get)
      expected.emplace_back(user, *own);
    else
      expected.emplace_back(own, *user + (way.what == kind::add ? *own : 0));
  });
  const outcome result = outcome_of([&] { way.run(tensor, box); });
  if (is_wrong(tensor, box)) {
    ++refused;
    expect_error(result, SYNCYTE_ERR_ARGUMENT, way.what == kind::get ? "output: row[" : "source: row[");
    EXPECT_EQ(read_all<std::int64_t>(tensor), before) << way.name;
    return;
  }
  ++done;
  EXPECT_EQ(result.status, SYNCYTE_SUCCESS) << way.name << ": " << result.message;
  for (const auto& [at, value] : expected) EXPECT_EQ(*at, value) << way.name;
}

TEST(tensor_own_memory, boxes_are_refused_exactly_if_another_element_is_read_and_written) {
  const auto tensor = make_tensor(SYNCYTE_INT64, {row_count, columns});
  tensor->sync();
  in_turn([&] {
    int refused = 0, done = 0;
    for (const box_way& way : box_ways)
      for (std::int64_t round = 0; round < 600; ++round)  // the last of 7 ranks has few rows
        if (const auto box = random_box(*tensor, round)) check_box(*tensor, way, *box, refused, done);
    EXPECT_GT(refused, 10);
    EXPECT_GT(done, 50);
  });
}

TEST(tensor_own_memory, gradients_may_not_be_rows_or_state_that_they_update) {
  const auto tensor = make_tensor(SYNCYTE_FLOAT32, {row_count, 4});
  tensor::set_optimizer(*tensor, {.optimizer = SYNCYTE_OPTIMIZER_ADAGRAD, .lr = 1.0});
  tensor->sync();
  in_turn([&] {
    const auto here = mapped_rows_of(*tensor);
    const auto apply = [&](const std::vector<std::int64_t>& index, const std::byte* gradients) {
      const syncyte_buffer_t given = index_of(index);
      const std::int64_t elements = 4 * std::ssize(index);
      const syncyte_buffer_t packed =
          base::make_buffer(const_cast<std::byte*>(gradients), SYNCYTE_FLOAT32, {&elements, 1});
      const outcome blocking = outcome_of([&] { run<tensor::apply_gradients>(*tensor, &given, &packed); });
      EXPECT_EQ(outcome_of([&] { start<tensor::apply_gradients>(tensor, &given, &packed)->wait(); }).status,
                blocking.status);
      return blocking;
    };
    const std::byte* const mine = row_at(*tensor, here[0]);
    expect_error(apply({here[1], here[2]}, mine), SYNCYTE_ERR_ARGUMENT, "gradients: row[");
    EXPECT_EQ(apply({here[2]}, mine).status, SYNCYTE_SUCCESS);
    const std::byte* const state = row_at(*tensor->optimizer()->state(), here[0]);
    expect_error(apply({here[0]}, state), SYNCYTE_ERR_ARGUMENT, "state that is in the same memory");
    EXPECT_EQ(apply({here[1]}, state).status, SYNCYTE_SUCCESS);
  });
}

/// Sums of a deterministic tensor are written by the next sync, and not by the call that reads them.
TEST(tensor_own_memory, deterministic_adds_of_own_rows_are_right) {
  tensor::tensor_options options;
  options.deterministic = true;
  const extents shape{row_count};
  const auto tensor = tensor::whole_tensor::create(shared_world(), SYNCYTE_FLOAT64, 1, shape.data(), options);
  std::int64_t first = 0, count = 0;
  tensor->rows(rank(), first, count);
  const syncyte_buffer_t local = tensor->local();
  auto* const mine = static_cast<double*>(local.data);
  for (std::int64_t i = 0; i < count; ++i) mine[i] = static_cast<double>(i);
  std::vector<std::int64_t> reversed(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) reversed[static_cast<std::size_t>(i)] = first + count - 1 - i;
  tensor->sync();
  const syncyte_buffer_t index = index_of(reversed);
  run<tensor::scatter_add>(*tensor, &index, &local);
  const std::int64_t lower[] = {first};
  run<tensor::accumulate_box>(*tensor, lower, &local, nullptr, SYNCYTE_OP_SUM);
  tensor->sync();
  for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(mine[i], static_cast<double>(count - 1 + i));
}

/// Wrapped rows are found by their addresses, by whatever name the caller has them.
TEST(tensor_own_memory, wrapped_rows_are_the_callers_memory) {
  std::vector<std::int64_t> mine(8);
  std::iota(mine.begin(), mine.end(), 0);
  const syncyte_buffer_t local = buffer_of(mine, SYNCYTE_INT64, {8});
  const auto tensor = tensor::whole_tensor::wrap(shared_world(), &local, {});
  std::int64_t first = 0, count = 0;
  tensor->rows(rank(), first, count);
  const std::vector<std::int64_t> rows_1_to_3{first + 1, first + 2, first + 3};
  const syncyte_buffer_t index = index_of(rows_1_to_3), source = buffer_of(mine, SYNCYTE_INT64, {3});
  expect_error(outcome_of([&] { run<tensor::scatter>(*tensor, &index, &source); }), SYNCYTE_ERR_ARGUMENT,
               "source: row[");
  EXPECT_EQ(mine[1], 1);
  tensor->sync();
}

}  // namespace
