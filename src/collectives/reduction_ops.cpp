// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/reduction_ops.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/dtype.hpp"
#include "mpi/float_min_max.hpp"

namespace syncyte::collectives {
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
    case SYNCYTE_OP_LXOR:
      return MPI_LXOR;
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

/// Identity element of a reduction.
template <class T>
T identity(syncyte_op_t op) {
  using limits = std::numeric_limits<T>;
  switch (op) {
    case SYNCYTE_OP_PROD:
    case SYNCYTE_OP_LAND:
      return T(1);
    case SYNCYTE_OP_MIN:
      if constexpr (limits::is_specialized) return limits::has_infinity ? limits::infinity() : limits::max();
      return T(1);
    case SYNCYTE_OP_MAX:
      if constexpr (limits::is_specialized) return limits::has_infinity ? T(-limits::infinity()) : limits::lowest();
      return T(0);
    case SYNCYTE_OP_BAND:
      if constexpr (limits::is_integer && !std::is_same_v<T, bool>) return static_cast<T>(~T(0));
      return T(1);
    default:
      return T(0);
  }
}

}  // namespace

void fill_identity(void* output, std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op) {
  base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
    auto* const values = static_cast<T*>(output);
    if constexpr (std::is_same_v<T, base::boolean>)
      std::fill_n(values, count, T{identity<bool>(bool_op(op))});
    else if constexpr (base::is_half<T>)
      std::fill_n(values, count, T(identity<float>(op)));
    else
      std::fill_n(values, count, identity<T>(op));
  });
}

MPI_Op mpi_op(syncyte_dtype_t dtype, syncyte_op_t op) {
  if (const MPI_Op ordering = mpi::float_min_max_op(dtype, op); ordering != MPI_OP_NULL) return ordering;
  return mpi_op(dtype == SYNCYTE_BOOL ? bool_op(op) : op);
}

void require_reducible(syncyte_dtype_t dtype, syncyte_op_t op) {
  base::expect_known<base::known::reduction>(op, "op");
  const bool is_ordering = op == SYNCYTE_OP_MIN || op == SYNCYTE_OP_MAX;
  const bool is_arithmetic = op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_PROD;
  const bool has_op =
      base::is_integer(dtype) || dtype == SYNCYTE_BOOL || is_arithmetic || (is_ordering && !base::is_complex(dtype));
  base::expect(has_op, SYNCYTE_ERR_UNSUPPORTED, "op", base::op_name(op), "an operation that is defined for dtype {}",
               base::dtype_name(dtype));
}

}  // namespace syncyte::collectives
