#include "mpi/call.hpp"

#include <iterator>

#include "mpi/deaths.hpp"

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
  require_no_death();
  int is_done = 0;
  check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), call);
  return is_done != 0;
}

MPI_Datatype type_of(syncyte_dtype_t dtype) {
  static const MPI_Datatype types[] = {MPI_UINT16_T,        MPI_UINT16_T,         MPI_FLOAT,   MPI_DOUBLE,
                                       MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_INT8_T,  MPI_INT16_T,
                                       MPI_INT32_T,         MPI_INT64_T,          MPI_UINT8_T, MPI_UINT8_T,
                                       MPI_UINT16_T,        MPI_UINT32_T,         MPI_UINT64_T};
  static_assert(std::size(types) == base::known::dtype::last);
  base::expect_known<base::known::dtype>(dtype, "dtype", SYNCYTE_ERR_TYPE);
  return types[dtype - SYNCYTE_FLOAT16];
}

}  // namespace syncyte::mpi
