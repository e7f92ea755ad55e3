// SPDX-License-Identifier: BSD-3-Clause
// Loops over random rows of a table.

#include <utility>

#include "base/dtype.hpp"
#include "base/streaming_copy.hpp"
#include "micro.hpp"
#include "rows/add_rows.hpp"
#include "rows/convert_rows.hpp"
#include "rows/copy_rows.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::bench;

constexpr std::size_t row_elements = 64;
constexpr std::size_t batch_bytes = std::size_t{4} << 20;

/// A table that fills the first half, and some of its rows at a time.
struct table {
  table(std::size_t row_bytes, std::size_t batch) : table({0, rows_of(row_bytes), first_half()}, row_bytes, batch) {}
  table(rows::row_range all, std::size_t row_bytes, std::size_t batch)
      : map({&all, 1}, row_bytes), numbers(all.count, batch) {}

  static std::int64_t rows_of(std::size_t row_bytes) { return static_cast<std::int64_t>(half_bytes / row_bytes); }
  rows::row_index next() { return rows::row_index(numbers.next()); }

  rows::row_map map;
  random_numbers numbers;
};

atomics::lock_table locks_of_one_process() {
  static std::vector<std::uint64_t> words(atomics::lock_table::most_words);
  return {words, 0, [](int) { return true; }};
}

/// Gathers and scatters copy bytes, whatever the type of the elements.
void declare_copies(std::size_t row_bytes, std::size_t batch) {
  const std::string what = std::to_string(batch) + " rows of " + std::to_string(row_bytes) + " bytes";
  measure_bytes("gather " + what, 2 * batch * row_bytes, [=] {
    return [all = table(row_bytes, batch)]() mutable { rows::gather_rows(all.map, all.next(), second_half()); };
  });
  measure_bytes("scatter " + what, 2 * batch * row_bytes, [=] {
    return [all = table(row_bytes, batch)]() mutable { rows::scatter_rows(all.map, all.next(), second_half()); };
  });
}

/// An addition reads its source, and reads and writes the rows.
void declare_adds(syncyte_dtype_t dtype) {
  const std::size_t row_bytes = row_elements * base::dtype_size(dtype), batch = batch_bytes / row_bytes;
  measure_bytes(std::string("add rows of 64 ") + base::dtype_name(dtype), 3 * batch * row_bytes, [=] {
    return [all = table(row_bytes, batch), locks = locks_of_one_process(), dtype]() mutable {
      rows::add_rows(all.map, all.next(), second_half(), dtype, locks);
    };
  });
}

void declare_conversion(syncyte_dtype_t from, syncyte_dtype_t to) {
  const std::size_t row_bytes = row_elements * base::dtype_size(from), batch = batch_bytes / row_bytes;
  const std::string what = std::string(base::dtype_name(from)) + " to " + base::dtype_name(to);
  measure_bytes("gather rows of 64 " + what, batch * row_elements * (base::dtype_size(from) + base::dtype_size(to)),
                [=] {
                  return [all = table(row_bytes, batch), from, to]() mutable {
                    rows::gather_converted_rows(all.map, all.next(), second_half(), from, to);
                  };
                });
}

const bool declared = [] {
  for (const std::size_t row_bytes : {4, 64, 256, 1024, 4096}) declare_copies(row_bytes, 1024);
  declare_copies(256, 2 * base::streaming_threshold / 256);  // by non-temporal stores
  for (const auto dtype : {SYNCYTE_FLOAT16, SYNCYTE_BFLOAT16, SYNCYTE_FLOAT32, SYNCYTE_FLOAT64, SYNCYTE_COMPLEX64,
                           SYNCYTE_COMPLEX128, SYNCYTE_INT8, SYNCYTE_INT16, SYNCYTE_INT32, SYNCYTE_INT64, SYNCYTE_BOOL})
    declare_adds(dtype);
  for (const auto narrow : {SYNCYTE_FLOAT16, SYNCYTE_BFLOAT16, SYNCYTE_FLOAT64}) {
    declare_conversion(narrow, SYNCYTE_FLOAT32);
    declare_conversion(SYNCYTE_FLOAT32, narrow);
  }
  return true;
}();

}  // namespace
