// SPDX-License-Identifier: BSD-3-Clause
#include "base/dtype.hpp"

#include <iterator>
#include <string_view>
#include <type_traits>

namespace syncyte::base {
namespace {

template <class T>
constexpr bool is_complex_type = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// An element type.
struct element_type {
  syncyte_dtype_t dtype;
  const char* name;
  std::size_t bytes;
  bool is_integer, is_complex, is_half;
};

#define SYNCYTE_ROW(constant, name, type, ...) \
  {SYNCYTE_##constant, #name, sizeof(type), std::is_integral_v<type>, is_complex_type<type>, is_half<type>},
constexpr element_type all[] = {{0, "unknown", 0, false, false, false}, SYNCYTE_ELEMENT_TYPES(SYNCYTE_ROW)};
#undef SYNCYTE_ROW

constexpr bool are_numbered() {
  for (std::size_t i = 0; i < std::size(all); ++i)
    if (all[i].dtype != static_cast<syncyte_dtype_t>(i)) return false;
  return std::size(all) == known::dtype::last + 1;
}
static_assert(are_numbered(), "syncyte/element_types.h has the types of syncyte/base.h, in their order");

/// The row of a dtype; the first row, "unknown", for any other number.
const element_type& row_of(syncyte_dtype_t dtype) { return all[known::dtype::contains(dtype) ? dtype : 0]; }

}  // namespace

bool is_complex(syncyte_dtype_t dtype) { return row_of(dtype).is_complex; }

bool is_integer(syncyte_dtype_t dtype) { return row_of(dtype).is_integer; }

bool is_half_precision(syncyte_dtype_t dtype) { return row_of(dtype).is_half; }

std::size_t dtype_size(syncyte_dtype_t dtype, const char* argument) {
  expect(known::dtype::contains(dtype), SYNCYTE_ERR_TYPE, argument, dtype, "one of {}", known::dtype::text);
  return row_of(dtype).bytes;
}

const char* op_name(syncyte_op_t op) {
  const char* const name = known::op::name(op);
  return name != nullptr ? name + std::string_view("SYNCYTE_OP_").size() : "unknown";
}

const char* dtype_name(syncyte_dtype_t dtype) { return row_of(dtype).name; }

}  // namespace syncyte::base
