#include "base/dtype.hpp"

#include <array>

namespace syncyte::base {
namespace {

constexpr std::array names{"unknown", "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int8",
                           "int16",   "int32",   "int64",    "uint8",   "bool",    "uint16",    "uint32",     "uint64"};
constexpr std::array<std::size_t, SYNCYTE_UINT64 + 1> sizes{0, 2, 2, 4, 8, 8, 16, 1, 2, 4, 8, 1, 1, 2, 4, 8};
static_assert(names.size() == sizes.size());

}  // namespace

bool is_known(syncyte_dtype_t dtype) { return dtype >= SYNCYTE_FLOAT16 && dtype <= SYNCYTE_UINT64; }

bool is_complex(syncyte_dtype_t dtype) { return dtype == SYNCYTE_COMPLEX64 || dtype == SYNCYTE_COMPLEX128; }

bool is_integer(syncyte_dtype_t dtype) {
  return (dtype >= SYNCYTE_INT8 && dtype <= SYNCYTE_UINT8) || (dtype >= SYNCYTE_UINT16 && dtype <= SYNCYTE_UINT64);
}

std::size_t dtype_size(syncyte_dtype_t dtype, const char* argument) {
  expect(is_known(dtype), SYNCYTE_ERR_TYPE, argument, dtype, "one of SYNCYTE_FLOAT16 (1) to SYNCYTE_UINT64 (15)");
  return sizes[static_cast<std::size_t>(dtype)];
}

const char* op_name(syncyte_op_t op) {
  constexpr const char* names[] = {"unknown", "SUM",  "PROD", "MIN",  "MAX",     "LAND",
                                   "LOR",     "BAND", "BOR",  "BXOR", "REPLACE", "LXOR"};
  return names[op >= SYNCYTE_OP_SUM && op <= SYNCYTE_OP_LXOR ? op : 0];
}

const char* dtype_name(syncyte_dtype_t dtype) { return names[is_known(dtype) ? static_cast<std::size_t>(dtype) : 0]; }

}  // namespace syncyte::base
