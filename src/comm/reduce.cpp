#include "comm/reduce.hpp"

#include <algorithm>
#include <vector>

#include "base/dtype.hpp"
#include "comm/mpi.hpp"

namespace syncyte::comm {
namespace {

MPI_Op mpi_op(syncyte_op_t op) {
  switch (op) {
    case SYNCYTE_OP_SUM:
      return MPI_SUM;
    case SYNCYTE_OP_PROD:
      return MPI_PROD;
    case SYNCYTE_OP_MIN:
      return MPI_MIN;
    case SYNCYTE_OP_MAX:
      return MPI_MAX;
    case SYNCYTE_OP_LAND:
      return MPI_LAND;
    case SYNCYTE_OP_LOR:
      return MPI_LOR;
    case SYNCYTE_OP_BAND:
      return MPI_BAND;
    case SYNCYTE_OP_BOR:
      return MPI_BOR;
    default:
      return MPI_BXOR;
  }
}

/// Arithmetic on bool is logic: its bytes are 0 or 1 and stay so.
syncyte_op_t bool_op(syncyte_op_t op) {
  switch (op) {
    case SYNCYTE_OP_SUM:
    case SYNCYTE_OP_MAX:
      return SYNCYTE_OP_LOR;
    case SYNCYTE_OP_PROD:
    case SYNCYTE_OP_MIN:
      return SYNCYTE_OP_LAND;
    default:
      return op;
  }
}

/// Half-precision elements go through float32 in pieces that fit the cache.
template <class Half>
void reduce_half(MPI_Comm comm, const Half* input, Half* output, int count, MPI_Op op) {
  constexpr int piece = 1 << 16;
  std::vector<float> wide(static_cast<std::size_t>(std::min(count, piece)));
  for (int first = 0; first < count; first += piece) {
    const int length = std::min(piece, count - first);
    std::transform(input + first, input + first + length, wide.begin(), [](Half x) { return static_cast<float>(x); });
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, wide.data(), length, MPI_FLOAT, op, comm), "MPI_Allreduce");
    std::transform(wide.begin(), wide.begin() + length, output + first, [](float x) { return Half(x); });
  }
}

}  // namespace

void require_reducible(syncyte_dtype_t dtype, syncyte_op_t op) {
  base::require(op >= SYNCYTE_OP_SUM && op <= SYNCYTE_OP_BXOR, SYNCYTE_ERR_ARGUMENT,
                "op {} is unknown here; expected SYNCYTE_OP_SUM (1) to SYNCYTE_OP_BXOR (9)", op);
  const bool is_ordering = op == SYNCYTE_OP_MIN || op == SYNCYTE_OP_MAX;
  const bool is_arithmetic = op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_PROD;
  const bool has_op =
      base::is_integer(dtype) || dtype == SYNCYTE_BOOL || is_arithmetic || (is_ordering && !base::is_complex(dtype));
  base::require(has_op, SYNCYTE_ERR_UNSUPPORTED, "op {} is not defined for dtype {}", base::op_name(op),
                base::dtype_name(dtype));
}

void reduce_piece(MPI_Comm comm, const void* input, void* output, int count, syncyte_dtype_t dtype, syncyte_op_t op) {
  const void* source = input != nullptr ? input : output;
  if (dtype == SYNCYTE_FLOAT16)
    return reduce_half(comm, static_cast<const base::float16*>(source), static_cast<base::float16*>(output), count,
                       mpi_op(op));
  if (dtype == SYNCYTE_BFLOAT16)
    return reduce_half(comm, static_cast<const base::bfloat16*>(source), static_cast<base::bfloat16*>(output), count,
                       mpi_op(op));
  const syncyte_op_t meant = dtype == SYNCYTE_BOOL ? bool_op(op) : op;
  check_mpi(MPI_Allreduce(input != nullptr ? input : MPI_IN_PLACE, output, count, mpi_type(dtype), mpi_op(meant), comm),
            "MPI_Allreduce");
}

}  // namespace syncyte::comm
