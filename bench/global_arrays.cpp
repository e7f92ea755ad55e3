// SPDX-License-Identifier: BSD-3-Clause
// Whole tensors against Global Arrays: NGA_Get and NGA_Acc, one call per row, and NGA_Read_inc.

#include <ga.h>
#include <macdecls.h>

#include "paired.hpp"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

constexpr std::int64_t rows_each = 20000;

/// The same table as a global array.
class global_array {
 public:
  global_array() {
    int shape[] = {static_cast<int>(table_rows), static_cast<int>(row_floats)};
    int chunk[] = {-1, static_cast<int>(row_floats)};  // whole rows
    static char name[] = "table";
    handle_ = NGA_Create(C_FLOAT, 2, shape, name, chunk);
    int low[2], high[2];
    NGA_Distribution(handle_, GA_Nodeid(), low, high);
    std::vector<float> row(row_floats);
    for (int i = low[0]; i <= high[0]; ++i) {
      row.assign(row_floats, mark(i));
      int from[] = {i, 0}, to[] = {i, static_cast<int>(row_floats) - 1}, stride[] = {static_cast<int>(row_floats)};
      NGA_Put(handle_, from, to, row.data(), stride);
    }
    GA_Sync();
  }
  ~global_array() { GA_Destroy(handle_); }
  global_array(const global_array&) = delete;
  global_array& operator=(const global_array&) = delete;

  void gather(const std::vector<std::int64_t>& rows, std::vector<float>& result) const {
    int stride[] = {static_cast<int>(row_floats)};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int row = static_cast<int>(rows[i]);
      int from[] = {row, 0}, to[] = {row, static_cast<int>(row_floats) - 1};
      NGA_Get(handle_, from, to, result.data() + i * row_floats, stride);
    }
  }

  void add(const std::vector<std::int64_t>& rows, std::vector<float>& source) const {
    int stride[] = {static_cast<int>(row_floats)};
    float factor = 1.0f;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int row = static_cast<int>(rows[i]);
      int from[] = {row, 0}, to[] = {row, static_cast<int>(row_floats) - 1};
      NGA_Acc(handle_, from, to, source.data() + i * row_floats, stride, &factor);
    }
  }

 private:
  int handle_ = 0;
};

/// A counter that all ranks add to, as a whole tensor and as a global array.
class counters {
 public:
  counters() {
    const std::int64_t one = 1;
    must(syncyte_comm_world(&comm_));
    must(syncyte_tensor_create(comm_, SYNCYTE_INT64, 1, &one, nullptr, &tensor_));
    int extent[] = {1};
    static char name[] = "counter";
    handle_ = NGA_Create(C_LONG, 1, extent, name, nullptr);
    GA_Zero(handle_);
  }
  ~counters() {
    GA_Destroy(handle_);
    syncyte_tensor_destroy(&tensor_);
    syncyte_comm_destroy(&comm_);
  }
  counters(const counters&) = delete;
  counters& operator=(const counters&) = delete;

  void add(int times) const {
    std::int64_t previous = 0;
    for (int i = 0; i < times; ++i) must(syncyte_tensor_fetch_add(tensor_, 0, 1, &previous));
  }
  void read_inc(int times) const {
    int element[] = {0};
    for (int i = 0; i < times; ++i) NGA_Read_inc(handle_, element, 1);
  }

 private:
  syncyte_comm_t comm_ = nullptr;
  syncyte_tensor_t tensor_ = nullptr;
  int handle_ = 0;
};

void measure_rows() {
  const whole_table table;
  const global_array other;
  auto rows = random_rows(0, table_rows, rows_each);
  std::vector<float> result(rows_each * row_floats);
  other.gather(rows, result);
  verify(rows, result, "NGA_Get");
  measure_rate(
      {"gather of 256-byte rows", "Mrow/s", "Global Arrays, one NGA_Get per row", "higher", 20.0}, rows_each * 1e-6,
      [&] { table.gather(rows, result); }, [&] { other.gather(rows, result); });
  measure_rate(
      {"scatter-add of 256-byte rows", "Mrow/s", "Global Arrays, one NGA_Acc per row", "higher", 5.0}, rows_each * 1e-6,
      [&] { table.add(rows, result); }, [&] { other.add(rows, result); });
}

void measure_counter() {
  constexpr int times = 10000;
  const counters both;
  measure_rate(
      {"fetch_add of one counter by all ranks", "Madd/s", "Global Arrays, NGA_Read_inc", "higher", 1.0}, times * 1e-6,
      [&] { both.add(times); }, [&] { both.read_inc(times); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  GA_Initialize();
  MA_init(MT_C_DBL, 1 << 20, 1 << 20);
  syncyte::bench::must(syncyte_init(nullptr));
  measure_rows();
  measure_counter();
  syncyte_finalize();
  GA_Terminate();
  MPI_Finalize();
}
