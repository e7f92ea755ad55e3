// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call.hpp"

#include <iterator>

#include "base/generated/known.hpp"
#include "mpi/deaths.hpp"
#include "syncyte/element_types.h"

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
#define SYNCYTE_MPI_TYPE(constant, name, type, mpi_type, ...) MPI_##mpi_type,
  static const MPI_Datatype types[] = {SYNCYTE_ELEMENT_TYPES(SYNCYTE_MPI_TYPE)};
#undef SYNCYTE_MPI_TYPE
  static_assert(std::size(types) == base::known::dtype::last);
  base::expect_known<base::known::dtype>(dtype, "dtype", SYNCYTE_ERR_TYPE);
  return types[dtype - SYNCYTE_FLOAT16];
}

}  // namespace syncyte::mpi
