#include "base/dtype.hpp"

#include <array>

namespace syncyte::base {
namespace {

struct description {
  const char* name;
  std::size_t size;
};

constexpr std::array<description, SYNCYTE_UINT64 + 1> descriptions{{{"unknown", 0},
                                                                    {"float16", 2},
                                                                    {"bfloat16", 2},
                                                                    {"float32", 4},
                                                                    {"float64", 8},
                                                                    {"complex64", 8},
                                                                    {"complex128", 16},
                                                                    {"int8", 1},
                                                                    {"int16", 2},
                                                                    {"int32", 4},
                                                                    {"int64", 8},
                                                                    {"uint8", 1},
                                                                    {"bool", 1},
                                                                    {"uint16", 2},
                                                                    {"uint32", 4},
                                                                    {"uint64", 8}}};

}  // namespace

bool is_known(syncyte_dtype_t dtype) { return dtype >= SYNCYTE_FLOAT16 && dtype <= SYNCYTE_UINT64; }

bool is_complex(syncyte_dtype_t dtype) { return dtype == SYNCYTE_COMPLEX64 || dtype == SYNCYTE_COMPLEX128; }

bool is_integer(syncyte_dtype_t dtype) {
  return (dtype >= SYNCYTE_INT8 && dtype <= SYNCYTE_UINT8) || (dtype >= SYNCYTE_UINT16 && dtype <= SYNCYTE_UINT64);
}

std::size_t dtype_size(syncyte_dtype_t dtype, const char* argument) {
  require(is_known(dtype), SYNCYTE_ERR_TYPE,
          "{} {} is unknown; expected one of SYNCYTE_FLOAT16 (1) to SYNCYTE_UINT64 (15)", argument, dtype);
  return descriptions[static_cast<std::size_t>(dtype)].size;
}

const char* op_name(syncyte_op_t op) {
  constexpr const char* names[] = {"unknown", "SUM",  "PROD", "MIN",  "MAX",     "LAND",
                                   "LOR",     "BAND", "BOR",  "BXOR", "REPLACE", "LXOR"};
  return names[op >= SYNCYTE_OP_SUM && op <= SYNCYTE_OP_LXOR ? op : 0];
}

const char* dtype_name(syncyte_dtype_t dtype) {
  return descriptions[is_known(dtype) ? static_cast<std::size_t>(dtype) : 0].name;
}

}  // namespace syncyte::base
