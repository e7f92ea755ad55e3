#include "mpi/call.hpp"

namespace syncyte::mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) [[likely]]
    return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  base::fail(SYNCYTE_ERR_MPI, "{} failed: {}", call, text);
}

bool has_ended(MPI_Request& request, const char* call) {
  int is_done = 0;
  check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), call);
  return is_done != 0;
}

MPI_Datatype type_of(syncyte_dtype_t dtype) {
  switch (dtype) {
    case SYNCYTE_FLOAT16:
    case SYNCYTE_BFLOAT16:
    case SYNCYTE_UINT16:
      return MPI_UINT16_T;
    case SYNCYTE_FLOAT32:
      return MPI_FLOAT;
    case SYNCYTE_FLOAT64:
      return MPI_DOUBLE;
    case SYNCYTE_COMPLEX64:
      return MPI_C_FLOAT_COMPLEX;
    case SYNCYTE_COMPLEX128:
      return MPI_C_DOUBLE_COMPLEX;
    case SYNCYTE_INT8:
      return MPI_INT8_T;
    case SYNCYTE_INT16:
      return MPI_INT16_T;
    case SYNCYTE_INT32:
      return MPI_INT32_T;
    case SYNCYTE_INT64:
      return MPI_INT64_T;
    case SYNCYTE_UINT8:
    case SYNCYTE_BOOL:
      return MPI_UINT8_T;
    case SYNCYTE_UINT32:
      return MPI_UINT32_T;
    case SYNCYTE_UINT64:
      return MPI_UINT64_T;
    default:
      base::fail(SYNCYTE_ERR_TYPE, "dtype {} is unknown", dtype);
  }
}

}  // namespace syncyte::mpi
