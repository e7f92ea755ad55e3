// SPDX-License-Identifier: BSD-3-Clause
// Arguments of a C function are checked: the time of a call for one row beside that of the loop below it.

#include "micro.hpp"
#include "rows/copy_rows.hpp"
#include "table.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::bench;

/// A small tensor, one row's number and room for the row; it stays until MPI_Finalize() frees it.
struct gather {
  gather() {
    const std::int64_t shape[] = {1000, row_floats}, row_shape[] = {1, row_floats};
    must(syncyte_comm_world(&comm));
    must(syncyte_tensor_create(comm, SYNCYTE_FLOAT32, 2, shape, nullptr, &tensor));
    must(syncyte_buffer_init(&number, SYNCYTE_INT64, 1, row_shape, &index));
    must(syncyte_buffer_init(row, SYNCYTE_FLOAT32, 2, row_shape, &output));
    must(syncyte_buffer_init(row, SYNCYTE_INT32, 2, row_shape, &wrong));
  }

  void call(const syncyte_buffer_t& result, syncyte_status_t expected) const {
    if (syncyte_tensor_gather(tensor, &index, &result) != expected) syncyte_abort(1);
  }

  std::int64_t number = 7;
  float row[row_floats] = {};
  syncyte_comm_t comm = nullptr;
  syncyte_tensor_t tensor = nullptr;
  syncyte_buffer_t index, output, wrong;
};

const gather& example() {
  static const gather result;
  return result;
}

const bool declared = [] {
  const std::string loop = "gather 1 row of 256 bytes";
  constexpr std::size_t row_bytes = row_floats * sizeof(float);
  measure_bytes(loop, 2 * row_bytes, [] {
    const rows::row_range all{0, 1000, first_half()};
    return [map = rows::row_map({&all, 1}, row_bytes), number = std::int64_t{7}] {
      rows::gather_rows(map, rows::row_index({&number, 1}), second_half());
    };
  });
  measure_time("C call: " + loop, loop, [] { return [&all = example()] { all.call(all.output, SYNCYTE_SUCCESS); }; });
  measure_time("C call refused for its dtype: " + loop, loop,
               [] { return [&all = example()] { all.call(all.wrong, SYNCYTE_ERR_TYPE); }; });
  return true;
}();

}  // namespace
