// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The tables that gather is measured on: usually 256 MiB of rows of 256 bytes, and 100,000 random row numbers.

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "syncyte.h"

namespace syncyte::bench {

constexpr std::int64_t row_floats = 64;
constexpr std::int64_t table_rows = std::int64_t{1} << 20;
constexpr std::int64_t batch = 100000;

inline void must(syncyte_status_t status) {
  if (status == SYNCYTE_SUCCESS) return;
  std::fprintf(stderr, "%s\n", syncyte_last_error());
  syncyte_abort(1);
}

/// Random rows from [first, end), different on every rank.
inline std::vector<std::int64_t> random_rows(std::int64_t first = 0, std::int64_t end = table_rows,
                                             std::int64_t count = batch) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::mt19937_64 generator(static_cast<std::uint64_t>(rank) + 1);
  std::uniform_int_distribution<std::int64_t> row(first, end - 1);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  for (auto& number : rows) number = row(generator);
  return rows;
}

/// The value of a row's elements, by which verify() recognises the row.
inline float mark(std::int64_t row) { return static_cast<float>(row % 8191); }

/// Ends the job unless every gathered row is the one asked for.
inline void verify(const std::vector<std::int64_t>& rows, const std::vector<float>& gathered, const char* way) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (gathered[i * row_floats] == mark(rows[i]) && gathered[i * row_floats + row_floats - 1] == mark(rows[i]))
      continue;
    std::fprintf(stderr, "%s gathered a wrong row at position %zu\n", way, i);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/// The table as a whole tensor; each row is filled with its mark.
class whole_table {
 public:
  explicit whole_table(std::int64_t floats = row_floats) : floats_(floats) {
    const std::int64_t shape[] = {table_rows, floats};
    must(syncyte_comm_world(&comm_));
    must(syncyte_tensor_create(comm_, SYNCYTE_FLOAT32, 2, shape, nullptr, &tensor_));
    syncyte_buffer_t local = SYNCYTE_BUFFER_INIT;
    must(syncyte_tensor_local(tensor_, &local));
    std::int64_t first = 0, count = 0;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    must(syncyte_tensor_rows(tensor_, rank, &first, &count));
    for (std::int64_t i = 0; i < count * floats; ++i) static_cast<float*>(local.data)[i] = mark(first + i / floats);
    must(syncyte_tensor_sync(tensor_));
  }
  ~whole_table() {
    syncyte_tensor_destroy(&tensor_);
    syncyte_comm_destroy(&comm_);
  }
  whole_table(const whole_table&) = delete;
  whole_table& operator=(const whole_table&) = delete;

  /// All rows in one address range.
  const float* rows() const {
    syncyte_buffer_t view = SYNCYTE_BUFFER_INIT;
    std::int64_t first = 0;
    must(syncyte_tensor_node(tensor_, &view, &first));
    return static_cast<const float*>(view.data);
  }

  void gather(std::vector<std::int64_t>& rows, std::vector<float>& result) const {
    const syncyte_buffer_t index = describe(rows), output = describe(rows, result);
    must(syncyte_tensor_gather(tensor_, &index, &output));
  }

  syncyte_request_t start_gather(std::vector<std::int64_t>& rows, std::vector<float>& result) const {
    const syncyte_buffer_t index = describe(rows), output = describe(rows, result);
    syncyte_request_t request = nullptr;
    must(syncyte_tensor_igather(tensor_, &index, &output, &request));
    return request;
  }

  void add(std::vector<std::int64_t>& rows, std::vector<float>& source) const {
    const syncyte_buffer_t index = describe(rows), values = describe(rows, source);
    must(syncyte_tensor_scatter_add(tensor_, &index, &values));
  }

 private:
  static syncyte_buffer_t describe(std::vector<std::int64_t>& rows) {
    const std::int64_t count = static_cast<std::int64_t>(rows.size());
    syncyte_buffer_t result;
    must(syncyte_buffer_init(rows.data(), SYNCYTE_INT64, 1, &count, &result));
    return result;
  }

  syncyte_buffer_t describe(const std::vector<std::int64_t>& rows, std::vector<float>& packed) const {
    const std::int64_t shape[] = {static_cast<std::int64_t>(rows.size()), floats_};
    syncyte_buffer_t result;
    must(syncyte_buffer_init(packed.data(), SYNCYTE_FLOAT32, 2, shape, &result));
    return result;
  }

  const std::int64_t floats_;
  syncyte_comm_t comm_ = nullptr;
  syncyte_tensor_t tensor_ = nullptr;
};

}  // namespace syncyte::bench
