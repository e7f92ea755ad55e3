// SPDX-License-Identifier: BSD-3-Clause
// Random shapes, partitions and operations of all ranks, and of several threads of each, against a sequential
// reference.
//
// In each step every row has one use: all read it, one thread writes it, all add to it, all count in its elements, or
// all change it while they hold its lock. Each rank computes the operations of all ranks from the seed, so it knows the
// whole tensor after the step. SYNCYTE_TEST_ROUNDS is the number of tensors for each test.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <thread>

#include "tensor/row_locks.hpp"
#include "tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

/// Random numbers, which depend on the seed and the stream only.
class dice {
 public:
  dice(std::uint64_t seed, int stream) : seed_(seed), stream_(stream) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return reference::random_integer(seed_, stream_, position_++, low, high);
  }
  bool one_in(int n) { return between(1, n) == 1; }
  template <class Values>
  const auto& any(const Values& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(values.size()) - 1))];
  }
  template <class Values>
  void shuffle(Values& values) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
  }

 private:
  std::uint64_t seed_;
  int stream_;
  std::int64_t position_ = 0;
};

int rounds_or(int standard) {
  const char* const value = std::getenv("SYNCYTE_TEST_ROUNDS");
  return value != nullptr ? std::atoi(value) : standard;
}

enum class use { read, write, add, count, lock };

struct row_use {
  use what;
  int writer;  // the only actor that writes the row
};

/// A tensor, and the actors that use it: the threads of all ranks.
struct setting {
  extents shape;
  reference::lengths parts;
  int threads;

  int actors() const { return threads * ranks(); }
  std::int64_t rows() const { return shape[0]; }
  std::int64_t row_elements() const { return product(shape, 1); }
};

enum class kind {
  gather,
  igather,
  scatter,
  iscatter,
  scatter_add,
  iscatter_add,
  get_box,
  iget_box,
  put_box,
  iput_box,
  accumulate_box,
  iaccumulate_box,
  fetch_add,
  ifetch_add,
  compare_swap,  // adds too, by as many compare_swap as it takes
  icompare_swap,
  locked_add  // reads and writes a row under its lock
};

bool reads_box(kind what) { return what == kind::get_box || what == kind::iget_box; }

template <class T>
struct operation {
  kind what;
  std::vector<std::int64_t> index;  // rows; of a box its lower corner; of a counter its element
  extents shape;                    // of the packed array
  std::vector<T> values;            // written, added or, after a gather, read
};

extents random_shape(dice& random) {
  if (random.one_in(8)) return {random.between(1, 6), random.between(9000, 40000)};  // rows that travel one by one
  extents shape{random.between(1, 80)};
  for (std::int64_t more = random.between(0, 2); more > 0; --more) shape.push_back(random.between(1, 9));
  return shape;
}

reference::lengths random_parts(dice& random, std::int64_t rows) {
  switch (random.between(0, 3)) {
    case 0:
      return reference::equal_lengths(rows, ranks());
    case 1:
      return reference::lengths_on_one(rows, ranks(), static_cast<int>(random.between(0, ranks() - 1)));
    case 2:
      return reference::lengths_with_gaps(rows, ranks());
    default:
      return reference::uneven_lengths(static_cast<std::uint64_t>(random.between(0, 1000)), rows, ranks());
  }
}

/// Neighbouring rows often have the same use, so that there are boxes of several rows.
std::vector<row_use> random_uses(dice& random, const setting& where, bool can_count) {
  const bool can_add = on_one_node() || has_fabric();
  std::vector<row_use> uses;
  while (static_cast<std::int64_t>(uses.size()) < where.rows()) {
    auto what = static_cast<use>(random.between(0, 4));
    if (what == use::count && !can_count) what = use::add;
    if (what == use::add && !can_add) what = use::read;
    const int writer = static_cast<int>(random.between(0, where.actors() - 1));
    uses.insert(uses.end(), static_cast<std::size_t>(random.between(1, 5)), {what, writer});
  }
  uses.resize(static_cast<std::size_t>(where.rows()));
  return uses;
}

std::vector<std::int64_t> rows_with(const std::vector<row_use>& uses, use what, int writer = -1) {
  std::vector<std::int64_t> found;
  for (std::size_t row = 0; row < uses.size(); ++row)
    if (uses[row].what == what && (writer < 0 || uses[row].writer == writer))
      found.push_back(static_cast<std::int64_t>(row));
  return found;
}

template <class T>
std::vector<T> random_elements(dice& random, std::int64_t count) {
  return reference::random_values<T>(static_cast<std::uint64_t>(random.between(0, 1 << 30)), 0, count);
}

extents packed_shape(const setting& where, std::size_t rows) {
  extents shape = where.shape;
  shape[0] = static_cast<std::int64_t>(rows);
  return shape;
}

/// The operations of one actor in one step.
template <class T>
class plan {
 public:
  plan(const setting& where, const std::vector<row_use>& uses, std::uint64_t seed, int actor)
      : where_(where), random_(seed, actor) {
    add_writes(rows_with(uses, use::write, actor));
    add_adds(rows_with(uses, use::add));
    add_counts(rows_with(uses, use::count));
    add_locked(rows_with(uses, use::lock));
    for (std::int64_t i = random_.between(0, 3); i > 0; --i) add_gather();
    if (random_.one_in(2)) add_box(either(kind::get_box, kind::iget_box), 0, where.rows());
    random_.shuffle(operations);
  }

  std::vector<operation<T>> operations;

 private:
  kind either(kind blocking, kind started) { return random_.one_in(2) ? blocking : started; }

  void add_access(kind what, std::vector<std::int64_t> index, bool has_values = true) {
    const extents shape = packed_shape(where_, index.size());
    auto values = has_values ? random_elements<T>(random_, product(shape)) : std::vector<T>{};
    operations.push_back({what, std::move(index), shape, std::move(values)});
  }

  /// A box in the rows from first to last, without it; it has all of them if it is put.
  void add_box(kind what, std::int64_t first, std::int64_t last) {
    operation<T> made{what, {first}, {last - first}, {}};
    if (what != kind::put_box && what != kind::iput_box) {
      made.index[0] = random_.between(first, last - 1);
      made.shape[0] = random_.between(0, last - made.index[0]);
    }
    for (std::size_t axis = 1; axis < where_.shape.size(); ++axis) {
      made.index.push_back(random_.between(0, where_.shape[axis] - 1));
      made.shape.push_back(random_.between(0, where_.shape[axis] - made.index[axis]));
    }
    if (!reads_box(what)) made.values = random_elements<T>(random_, product(made.shape));
    operations.push_back(std::move(made));
  }

  /// Each row is written by one operation only, because started ones have no order.
  void add_writes(const std::vector<std::int64_t>& mine) {
    std::vector<std::int64_t> scattered;
    for (std::size_t begin = 0, end = 0; begin < mine.size(); begin = end) {
      for (end = begin + 1; end < mine.size() && mine[end] == mine[end - 1] + 1;) ++end;
      if (random_.one_in(3))
        add_box(either(kind::put_box, kind::iput_box), mine[begin], mine[end - 1] + 1);
      else
        scattered.insert(scattered.end(), mine.begin() + static_cast<std::ptrdiff_t>(begin),
                         mine.begin() + static_cast<std::ptrdiff_t>(end));
    }
    random_.shuffle(scattered);
    while (!scattered.empty()) {
      const auto count = random_.between(1, static_cast<std::int64_t>(scattered.size()));
      add_access(either(kind::scatter, kind::iscatter), {scattered.end() - count, scattered.end()});
      scattered.resize(scattered.size() - static_cast<std::size_t>(count));
    }
  }

  std::vector<std::int64_t> with_repeats(const std::vector<std::int64_t>& rows) {
    std::vector<std::int64_t> index;
    const std::int64_t most = where_.row_elements() > 5000 ? 4 : 30;
    for (std::int64_t i = random_.between(0, most); i > 0; --i) index.push_back(random_.any(rows));
    return index;
  }

  void add_adds(const std::vector<std::int64_t>& rows) {
    for (std::int64_t i = random_.between(0, 3); i > 0 && !rows.empty(); --i)
      add_access(either(kind::scatter_add, kind::iscatter_add), with_repeats(rows));
    if (rows.empty() || random_.one_in(2)) return;
    const auto begin = static_cast<std::size_t>(random_.between(0, std::ssize(rows) - 1));
    std::size_t end = begin + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    add_box(either(kind::accumulate_box, kind::iaccumulate_box), rows[begin], rows[end - 1] + 1);
  }

  void add_counts(const std::vector<std::int64_t>& rows) {
    for (std::int64_t i = random_.between(0, 10); i > 0 && !rows.empty(); --i) {
      const std::int64_t element =
          random_.any(rows) * where_.row_elements() + random_.between(0, where_.row_elements() - 1);
      const kind what =
          random_.any(std::array{kind::fetch_add, kind::ifetch_add, kind::compare_swap, kind::icompare_swap});
      operations.push_back({what, {element}, {1}, random_elements<T>(random_, 1)});
    }
  }

  void add_locked(const std::vector<std::int64_t>& rows) {
    for (std::int64_t i = random_.between(0, 3); i > 0 && !rows.empty(); --i)
      add_access(kind::locked_add, {random_.any(rows)});
  }

  void add_gather() {
    std::vector<std::int64_t> all(static_cast<std::size_t>(where_.rows()));
    std::iota(all.begin(), all.end(), 0);
    add_access(either(kind::gather, kind::igather), with_repeats(all), false);
  }

  const setting& where_;
  dice random_;
};

/// Calls visit(element of the box, element of the tensor) for each element.
template <class Visit>
void visit_box(const extents& whole, const extents& lower, const extents& box, Visit visit) {
  for (std::int64_t i = 0; i < product(box); ++i) {
    std::int64_t rest = i, place = 0, stride = 1;
    for (std::size_t axis = whole.size(); axis-- > 0;) {
      place += (lower[axis] + rest % box[axis]) * stride;
      rest /= box[axis];
      stride *= whole[axis];
    }
    visit(static_cast<std::size_t>(i), static_cast<std::size_t>(place));
  }
}

template <class T>
void apply(const setting& where, const operation<T>& what, std::vector<T>& table) {
  switch (what.what) {
    case kind::scatter:
    case kind::iscatter:
      return reference::scatter_rows(table, where.row_elements(), what.index, what.values);
    case kind::scatter_add:
    case kind::iscatter_add:
    case kind::locked_add:
      return reference::scatter_add_rows(table, where.row_elements(), what.index, what.values);
    case kind::put_box:
    case kind::iput_box:
      return visit_box(where.shape, what.index, what.shape,
                       [&](std::size_t i, std::size_t place) { table[place] = what.values[i]; });
    case kind::accumulate_box:
    case kind::iaccumulate_box:
      return visit_box(where.shape, what.index, what.shape, [&](std::size_t i, std::size_t place) {
        table[place] = reference::sum<T>(table[place], what.values[i]);
      });
    case kind::fetch_add:
    case kind::ifetch_add:
    case kind::compare_swap:
    case kind::icompare_swap: {
      T& element = table[static_cast<std::size_t>(what.index[0])];
      element = reference::sum<T>(element, what.values[0]);
      return;
    }
    default:
      return;
  }
}

/// Describes the first difference; empty if there is none.
template <class T>
std::string difference(const std::vector<T>& found, const std::vector<T>& expected) {
  if (found.size() != expected.size()) return "another number of elements";
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != expected[i])
      return "element " + std::to_string(i) + " is " + std::to_string(found[i]) + ", not " +
             std::to_string(expected[i]);
  return {};
}

/// One thread that does the operations of a plan.
template <class T>
class actor {
 public:
  actor(tensor::whole_tensor& on, syncyte_dtype_t dtype, std::vector<operation<T>> operations, dice random)
      : tensor_(on), dtype_(dtype), operations_(std::move(operations)), random_(random) {}

  void run() {
    for (auto& each : operations_) {
      start(each);
      if (!running_.empty() && random_.one_in(3)) {
        running_.front()->wait();
        running_.pop_front();
      }
    }
    for (const auto& each : running_) each->wait();
    running_.clear();
  }

  /// Compares what was read from rows that nobody changed.
  void check(const setting& where, const std::vector<row_use>& uses, const std::vector<T>& table) const {
    const auto is_quiet = [&](std::int64_t row) { return uses[static_cast<std::size_t>(row)].what == use::read; };
    int wrong = 0;
    for (const auto& each : operations_) {
      if (each.what == kind::gather || each.what == kind::igather) {
        const auto expected = reference::gather_rows(table, where.row_elements(), each.index);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const std::int64_t row = each.index[i / static_cast<std::size_t>(where.row_elements())];
          wrong += is_quiet(row) && each.values[i] != expected[i];
        }
      } else if (reads_box(each.what)) {
        visit_box(where.shape, each.index, each.shape, [&](std::size_t i, std::size_t place) {
          const std::int64_t row = static_cast<std::int64_t>(place) / where.row_elements();
          wrong += is_quiet(row) && each.values[i] != table[place];
        });
      }
    }
    EXPECT_EQ(wrong, 0) << "elements that were read, of rows that nobody changed";
  }

 private:
  void start(operation<T>& each) {
    const bool reads = each.what == kind::gather || each.what == kind::igather || reads_box(each.what);
    if (reads) each.values.assign(static_cast<std::size_t>(product(each.shape)), T{});
    const syncyte_buffer_t index = index_of(each.index);
    const syncyte_buffer_t packed = buffer_of(each.values, dtype_, each.shape);
    switch (each.what) {
      case kind::gather:
        return access::run<tensor::gather>(tensor_, &index, &packed);
      case kind::igather:
        return running_.push_back(test::start<tensor::gather>(tensor_, &index, &packed));
      case kind::scatter:
        return access::run<tensor::scatter>(tensor_, &index, &packed);
      case kind::iscatter:
        return running_.push_back(test::start<tensor::scatter>(tensor_, &index, &packed));
      case kind::scatter_add:
        return access::run<tensor::scatter_add>(tensor_, &index, &packed);
      case kind::iscatter_add:
        return running_.push_back(test::start<tensor::scatter_add>(tensor_, &index, &packed));
      case kind::get_box:
        return access::run<tensor::get_box>(tensor_, each.index, &packed);
      case kind::iget_box:
        return running_.push_back(test::start<tensor::get_box>(tensor_, each.index, &packed));
      case kind::put_box:
        return access::run<tensor::put_box>(tensor_, each.index, &packed);
      case kind::iput_box:
        return running_.push_back(test::start<tensor::put_box>(tensor_, each.index, &packed));
      case kind::accumulate_box:
        return access::run<tensor::accumulate_box>(tensor_, each.index, &packed, nullptr, SYNCYTE_OP_SUM);
      case kind::iaccumulate_box:
        return running_.push_back(
            test::start<tensor::accumulate_box>(tensor_, each.index, &packed, nullptr, SYNCYTE_OP_SUM));
      case kind::fetch_add:
        fetch_add(tensor_, each.index[0], static_cast<std::int64_t>(each.values[0]));
        return;
      case kind::ifetch_add:
        return running_.push_back(
            test::start<tensor::fetch_add>(tensor_, each.index[0], static_cast<std::int64_t>(each.values[0]), nullptr));
      case kind::compare_swap:
        return add_by_swaps(each, [&](std::int64_t expected, std::int64_t desired) {
          return compare_swap(tensor_, each.index[0], expected, desired);
        });
      case kind::icompare_swap:
        return add_by_swaps(each, [&](std::int64_t expected, std::int64_t desired) {
          std::int64_t seen = 0;
          test::start<tensor::compare_swap>(tensor_, each.index[0], expected, desired, &seen)->wait();
          return seen;
        });
      case kind::locked_add:
        return add_under_lock(each);
    }
  }

  template <class Swap>
  static void add_by_swaps(const operation<T>& each, Swap swap) {
    std::int64_t seen = 0, expected = 0;
    do {
      expected = seen;
      seen = swap(expected, reference::sum<T>(static_cast<T>(expected), each.values[0]));
    } while (seen != expected);
  }

  void add_under_lock(const operation<T>& each) {
    std::vector<T> row(each.values.size());
    const syncyte_buffer_t index = index_of(each.index);
    const syncyte_buffer_t packed = buffer_of(row, dtype_, each.shape);
    tensor::lock(tensor_, each.index[0]);
    access::run<tensor::gather>(tensor_, &index, &packed);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = reference::sum<T>(row[i], each.values[i]);
    access::run<tensor::scatter>(tensor_, &index, &packed);
    tensor::unlock(tensor_, each.index[0]);
  }

  tensor::whole_tensor& tensor_;
  syncyte_dtype_t dtype_;
  std::vector<operation<T>> operations_;
  dice random_;
  std::deque<started_access> running_;
};

/// A random tensor, used in some steps.
template <class T>
class trial_of {
 public:
  trial_of(syncyte_dtype_t dtype, std::uint64_t seed, int threads)
      : dtype_(dtype), seed_(seed), random_(seed, 0), where_(random_setting(random_, threads)) {}

  void run() {
    tensor_ = make_tensor(dtype_, where_.shape, where_.parts, true);
    fill<T>(*tensor_);
    table_ = filled_table<T>(product(where_.shape));
    for (int step = 0; step < 3; ++step) run_step(seed_ + 7 * static_cast<std::uint64_t>(step + 1));
    barrier();
  }

 private:
  static setting random_setting(dice& random, int threads) {
    const extents shape = random_shape(random);
    return {shape, random_parts(random, shape[0]), threads};
  }

  void run_step(std::uint64_t seed) {
    const bool can_count = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
    const auto uses = random_uses(random_, where_, can_count);
    const std::vector<T> before = table_;
    std::deque<actor<T>> mine;
    for (int each = 0; each < where_.actors(); ++each) {
      plan<T> all(where_, uses, seed, each);
      for (const auto& operation : all.operations) apply(where_, operation, table_);
      if (each / where_.threads == rank())
        mine.emplace_back(*tensor_, dtype_, std::move(all.operations), dice(seed, -1 - each));
    }
    run_actors(mine);
    for (const auto& each : mine) each.check(where_, uses, before);
    check_own_writes(uses);
    tensor_->sync();
    EXPECT_EQ(difference(read_all<T>(*tensor_), table_), "");
    barrier();  // nobody changes rows before all have read them
  }

  static void run_actors(std::deque<actor<T>>& mine) {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < mine.size(); ++i) threads.emplace_back([&mine, i] { mine[i].run(); });
    mine[0].run();
    for (auto& thread : threads) thread.join();
  }

  /// A rank reads what it has written, before any collective.
  void check_own_writes(const std::vector<row_use>& uses) {
    for (int thread = 0; thread < where_.threads; ++thread) {
      const auto rows = rows_with(uses, use::write, rank() * where_.threads + thread);
      const extents shape = packed_shape(where_, rows.size());
      std::vector<T> output(static_cast<std::size_t>(product(shape)));
      const syncyte_buffer_t index = index_of(rows), packed = buffer_of(output, dtype_, shape);
      access::run<tensor::gather>(*tensor_, &index, &packed);
      EXPECT_EQ(difference(output, reference::gather_rows(table_, where_.row_elements(), rows)), "");
    }
  }

  syncyte_dtype_t dtype_;
  std::uint64_t seed_;
  dice random_;
  setting where_;
  tensor_pointer tensor_;
  std::vector<T> table_;
};

void run_trial(int round, int threads) {
  const std::uint64_t seed = 1000 * static_cast<std::uint64_t>(round) + static_cast<std::uint64_t>(threads);
  SCOPED_TRACE("round " + std::to_string(round));
  switch (round % 6) {
    case 0:
      return trial_of<std::int64_t>(SYNCYTE_INT64, seed, threads).run();
    case 1:
      return trial_of<float>(SYNCYTE_FLOAT32, seed, threads).run();
    case 2:
      return trial_of<std::int32_t>(SYNCYTE_INT32, seed, threads).run();
    case 3:
      return trial_of<double>(SYNCYTE_FLOAT64, seed, threads).run();
    case 4:
      return trial_of<std::uint8_t>(SYNCYTE_UINT8, seed, threads).run();
    default:
      return trial_of<std::int16_t>(SYNCYTE_INT16, seed, threads).run();
  }
}

TEST(random_operations, one_thread) {
  for (int round = 0; round < rounds_or(120); ++round) run_trial(round, 1);
}

TEST(random_operations, several_threads) {
  for (int round = 0; round < rounds_or(40); ++round) run_trial(round, 3);
}

}  // namespace
