// SPDX-License-Identifier: BSD-3-Clause
// Kernels on rows, against one row at a time on the host. They run on a device, or on the stand-in for the driver.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/ops.hpp"
#include "memory/device.hpp"
#include "rows/convert_rows.hpp"
#include "rows/cuda/bodies.hpp"
#include "rows/device_rows.hpp"

namespace {

using namespace syncyte;
using bytes = std::vector<std::byte>;

/// A copy of host memory on device 0, at a distance from the block's beginning.
class on_device {
 public:
  explicit on_device(const bytes& host, std::size_t distance = 0)
      : bytes_(host.size()),
        distance_(distance),
        block_(memory::acquire(host.size() + distance + 1, SYNCYTE_MEMORY_CUDA, 0)) {
    memory::copy({data(), SYNCYTE_MEMORY_CUDA, 0}, host_place(host.data()), bytes_);
  }
  ~on_device() { memory::release(block_); }
  on_device(const on_device&) = delete;
  on_device& operator=(const on_device&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(block_) + distance_; }
  bytes read() const {
    bytes result(bytes_);
    memory::copy(host_place(result.data()), {data(), SYNCYTE_MEMORY_CUDA, 0}, bytes_);
    return result;
  }

 private:
  static memory::place host_place(const std::byte* data) {
    return {const_cast<std::byte*>(data), SYNCYTE_MEMORY_HOST, 0};
  }

  std::size_t bytes_, distance_;
  void* block_;
};

class device_rows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (memory::cuda_backend().count() == 0) GTEST_SKIP() << "no CUDA device";
    stream_ = memory::cuda_backend().create_stream(0);
    report_.emplace(0);
  }
  void wait() { memory::cuda_backend().synchronize(0, stream_); }

  std::int64_t draw(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bytes random_bytes(std::size_t count) {
    bytes result(count);
    for (std::byte& each : result) each = static_cast<std::byte>(draw(0, 255));
    return result;
  }
  /// Rows of a table, and now and then a number that is none.
  std::vector<std::int64_t> random_rows(std::int64_t count, std::int64_t rows, bool has_bad) {
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < count; ++i)
      result.push_back(has_bad && draw(0, 9) == 0 ? draw(0, 1) == 0 ? -draw(1, 3) : rows + draw(0, 3)
                                                  : draw(0, rows - 1));
    return result;
  }
  /// The list on the device, as int64 or int32.
  static bytes list_bytes(const std::vector<std::int64_t>& rows, bool is_wide) {
    const std::vector<std::int32_t> narrow(rows.begin(), rows.end());
    const auto all = is_wide ? std::as_bytes(std::span(rows)) : std::as_bytes(std::span(narrow));
    return {all.begin(), all.end()};
  }
  static rows::device_index index_at(const on_device& list, std::size_t count, bool is_wide) {
    const std::int64_t extents[] = {static_cast<std::int64_t>(count)};
    syncyte_buffer_t raw = base::make_buffer(list.data(), is_wide ? SYNCYTE_INT64 : SYNCYTE_INT32, extents);
    raw.memory = SYNCYTE_MEMORY_CUDA;
    return {base::buffer(&raw, "index"), 0};
  }
  /// Checks that the report has the first bad row of a list, or none.
  void expect_report(const std::vector<std::int64_t>& index, std::int64_t rows, rows::device_operation operation) {
    const auto found = report_->take();
    for (std::size_t i = 0; i < index.size(); ++i)
      if (index[i] < 0 || index[i] >= rows) {
        ASSERT_TRUE(found);
        EXPECT_EQ(found->position, static_cast<std::int64_t>(i));
        EXPECT_EQ(found->value, index[i]);
        EXPECT_EQ(found->operation, operation);
        return;
      }
    EXPECT_FALSE(found);
  }

  std::mt19937_64 random_{17};
  void* stream_ = nullptr;
  std::optional<rows::index_report> report_;
};

TEST_F(device_rows, copies_equal_the_hosts) {
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const std::int64_t rows = draw(1, 60), count = draw(0, 90);
    const auto row_bytes = static_cast<std::size_t>(draw(1, round % 3 == 0 ? 700 : 40));
    const std::size_t stride = row_bytes + (round % 2 == 0 ? 0 : static_cast<std::size_t>(draw(0, 16)));
    const bool is_wide = draw(0, 1) == 1, is_scatter = draw(0, 1) == 1;
    const auto index = random_rows(count, rows, round % 4 == 0);
    bytes table = random_bytes(static_cast<std::size_t>(rows) * stride);
    bytes packed = random_bytes(static_cast<std::size_t>(count) * row_bytes);
    const on_device on_table(table, static_cast<std::size_t>(draw(0, 16))), on_packed(packed, draw(0, 1) == 0 ? 0 : 3),
        list(list_bytes(index, is_wide));
    const rows::device_table given{on_table.data(), rows, row_bytes, static_cast<std::int64_t>(stride)};
    const auto on_index = index_at(list, index.size(), is_wide);
    if (is_scatter)
      rows::scatter_rows(0, given, on_index, on_packed.data(), *report_, stream_);
    else
      rows::gather_rows(0, given, on_index, on_packed.data(), *report_, stream_);
    wait();
    expect_report(index, rows, is_scatter ? rows::device_operation::scatter : rows::device_operation::gather);
    if (!is_scatter) {
      for (std::size_t i = 0; i < index.size(); ++i)
        if (index[i] >= 0 && index[i] < rows)
          std::memcpy(packed.data() + i * row_bytes, table.data() + static_cast<std::size_t>(index[i]) * stride,
                      row_bytes);
        else
          std::memset(packed.data() + i * row_bytes, 0, row_bytes);
      ASSERT_EQ(on_packed.read(), packed);
      ASSERT_EQ(on_table.read(), table);
      continue;
    }
    // Of a row that repeats, any source may stay, whole or in parts: compare rows that do not.
    const bytes changed = on_table.read();
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::size_t>(row) * stride;
      const auto first = std::ranges::find(index, row);
      const auto times = std::ranges::count(index, row);
      if (times == 1)
        std::memcpy(table.data() + at, packed.data() + static_cast<std::size_t>(first - index.begin()) * row_bytes,
                    row_bytes);
      if (times > 1) std::memcpy(table.data() + at, changed.data() + at, row_bytes);
    }
    ASSERT_EQ(changed, table);
  }
}

/// Small whole numbers, whose sums all types hold exactly.
template <class T>
T small_number(std::int64_t value) {
  if constexpr (base::is_half<T>)
    return T(static_cast<float>(value));
  else
    return T(value);
}

template <class T>
double as_double(T value) {
  if constexpr (base::is_half<T>)
    return static_cast<float>(value);
  else
    return static_cast<double>(value);
}

TEST_F(device_rows, sums_equal_the_hosts) {
  for (const syncyte_dtype_t dtype :
       {SYNCYTE_INT32, SYNCYTE_INT64, SYNCYTE_FLOAT16, SYNCYTE_BFLOAT16, SYNCYTE_FLOAT32, SYNCYTE_FLOAT64}) {
    ASSERT_TRUE(rows::can_add_on_devices(dtype));
    for (int round = 0; round < 25; ++round) {
      SCOPED_TRACE(fmt::format("{} {}", base::dtype_name(dtype), round));
      base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
        if constexpr (base::is_half<T> || std::is_arithmetic_v<T>) {
          const auto elements = static_cast<std::size_t>(draw(1, 40));
          const std::int64_t rows = draw(1, 7), count = draw(0, 30);
          const auto index = random_rows(count, rows, round % 4 == 0);
          std::vector<T> table(static_cast<std::size_t>(rows) * elements), packed(index.size() * elements);
          for (T& each : table) each = small_number<T>(draw(-4, 4));
          for (T& each : packed) each = small_number<T>(draw(-3, 3));
          const auto raw = std::as_bytes(std::span(table)), sources = std::as_bytes(std::span(packed));
          const std::size_t halves = base::is_half<T> ? 2 * static_cast<std::size_t>(draw(0, 1)) : 0;
          const on_device on_table({raw.begin(), raw.end()}, halves), on_packed({sources.begin(), sources.end()}),
              list(list_bytes(index, true));
          const std::size_t row_bytes = elements * sizeof(T);
          rows::add_device_rows(0, {on_table.data(), rows, row_bytes, static_cast<std::int64_t>(row_bytes)},
                                index_at(list, index.size(), true), on_packed.data(), dtype, *report_, stream_);
          wait();
          expect_report(index, rows, rows::device_operation::scatter_add);
          std::vector<double> wanted;
          for (const T each : table) wanted.push_back(as_double(each));
          for (std::size_t i = 0; i < index.size(); ++i)
            for (std::size_t k = 0; k < elements && index[i] >= 0 && index[i] < rows; ++k)
              wanted[static_cast<std::size_t>(index[i]) * elements + k] += as_double(packed[i * elements + k]);
          const bytes sums = on_table.read();
          std::memcpy(table.data(), sums.data(), sums.size());
          for (std::size_t k = 0; k < table.size(); ++k) ASSERT_EQ(as_double(table[k]), wanted[k]) << k;
        }
      });
    }
  }
}

TEST_F(device_rows, conversions_equal_the_hosts) {
  const syncyte_dtype_t floats[] = {SYNCYTE_FLOAT16, SYNCYTE_BFLOAT16, SYNCYTE_FLOAT32, SYNCYTE_FLOAT64};
  for (const syncyte_dtype_t from : floats)
    for (const syncyte_dtype_t to : floats) {
      SCOPED_TRACE(fmt::format("{} to {}", base::dtype_name(from), base::dtype_name(to)));
      const std::int64_t rows = 50, elements = 13;
      std::vector<double> numbers(static_cast<std::size_t>(rows * elements));
      std::normal_distribution<double> normal;
      for (double& each : numbers) each = normal(random_) * std::exp2(static_cast<double>(draw(-30, 18)));
      std::vector<std::int64_t> all(numbers.size());
      std::iota(all.begin(), all.end(), 0);
      const rows::row_range range{0, std::ssize(numbers), reinterpret_cast<std::byte*>(numbers.data())};
      bytes table(numbers.size() * base::dtype_size(from));
      rows::gather_converted_rows(rows::row_map({&range, 1}, sizeof(double)),
                                  rows::row_index(std::span<const std::int64_t>(all)), table.data(), SYNCYTE_FLOAT64,
                                  from);
      const auto index = random_rows(80, rows, false);
      const std::size_t row_bytes = static_cast<std::size_t>(elements) * base::dtype_size(from);
      bytes wanted(index.size() * static_cast<std::size_t>(elements) * base::dtype_size(to));
      const rows::row_range table_rows{0, rows, table.data()};
      rows::gather_converted_rows(rows::row_map({&table_rows, 1}, row_bytes),
                                  rows::row_index(std::span<const std::int64_t>(index)), wanted.data(), from, to);
      const on_device on_table(table), output(bytes(wanted.size())), list(list_bytes(index, true));
      rows::gather_converted_rows(0, {on_table.data(), rows, row_bytes, static_cast<std::int64_t>(row_bytes)},
                                  index_at(list, index.size(), true), output.data(), from, to, *report_, stream_);
      wait();
      ASSERT_EQ(output.read(), wanted);
    }
}

TEST_F(device_rows, a_result_is_not_there_before_the_stream_is_waited_for) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "a device may be fast";
  const bytes table = random_bytes(64), before(64);
  const on_device on_table(table), output(before), list(list_bytes({0}, true));
  rows::gather_rows(0, {on_table.data(), 1, 64, 64}, index_at(list, 1, true), output.data(), *report_, stream_);
  EXPECT_EQ(output.read(), before);
  wait();
  EXPECT_EQ(output.read(), table);
}

/// Threads in place of kernels: they note positions while the host takes. Every note of the lowest position is found,
/// and each position has its value.
TEST_F(device_rows, notes_are_taken_while_kernels_write_others) {
  using rows::cuda::note;
  rows::cuda::row_arguments given{};
  given.bad = static_cast<rows::cuda::bad_index*>(report_->data());
  std::atomic<int> taken{0};
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) note(given, 2, 200);
  });
  std::thread host([&] {
    while (!is_over)
      if (const auto found = report_->take()) {
        EXPECT_EQ(found->value, 100 * found->position);
        taken += found->position == 1 ? 1 : 0;
      }
  });
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  for (int round = 0; clock::now() - begin < std::chrono::milliseconds(100) && !HasFailure(); ++round) {
    note(given, 1, 100);
    while (taken <= round && !HasFailure()) {
      if (clock::now() - begin > std::chrono::seconds(20)) ADD_FAILURE() << "note " << round << " was lost";
      std::this_thread::yield();
    }
  }
  is_over = true;
  other.join();
  host.join();
}

}  // namespace
