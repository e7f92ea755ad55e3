#include "base/dtype.hpp"

#include <array>
#include <string_view>

namespace syncyte::base {
namespace {

constexpr std::array names{"unknown", "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int8",
                           "int16",   "int32",   "int64",    "uint8",   "bool",    "uint16",    "uint32",     "uint64"};
constexpr std::array<std::size_t, known::dtype::last + 1> sizes{0, 2, 2, 4, 8, 8, 16, 1, 2, 4, 8, 1, 1, 2, 4, 8};
static_assert(names.size() == sizes.size());

}  // namespace

bool is_complex(syncyte_dtype_t dtype) { return dtype == SYNCYTE_COMPLEX64 || dtype == SYNCYTE_COMPLEX128; }

bool is_integer(syncyte_dtype_t dtype) {
  return (dtype >= SYNCYTE_INT8 && dtype <= SYNCYTE_UINT8) || (dtype >= SYNCYTE_UINT16 && dtype <= SYNCYTE_UINT64);
}

std::size_t dtype_size(syncyte_dtype_t dtype, const char* argument) {
  expect(known::dtype::contains(dtype), SYNCYTE_ERR_TYPE, argument, dtype, "one of {}", known::dtype::text);
  return sizes[static_cast<std::size_t>(dtype)];
}

const char* op_name(syncyte_op_t op) {
  const char* const name = known::op::name(op);
  return name != nullptr ? name + std::string_view("SYNCYTE_OP_").size() : "unknown";
}

const char* dtype_name(syncyte_dtype_t dtype) {
  return names[known::dtype::contains(dtype) ? static_cast<std::size_t>(dtype) : 0];
}

}  // namespace syncyte::base
