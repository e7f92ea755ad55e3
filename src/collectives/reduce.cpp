#include "collectives/reduce.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/dtype.hpp"
#include "comm/node_reduction.hpp"
#include "mpi/call.hpp"
#include "mpi/float_min_max.hpp"
#include "mpi/large_counts.hpp"

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

/// Calls visitor(tag) with the storage type of a dtype that travels as float32, and tells whether it is one.
template <class Visitor>
bool visit_half(syncyte_dtype_t dtype, Visitor&& visitor) {
  if (dtype == SYNCYTE_FLOAT16)
    visitor(base::type_tag<base::float16>{});
  else if (dtype == SYNCYTE_BFLOAT16)
    visitor(base::type_tag<base::bfloat16>{});
  else
    return false;
  return true;
}

template <class Half>
void widen(const Half* from, std::size_t count, float* to) {
  std::transform(from, from + count, to, [](Half x) { return static_cast<float>(x); });
}

template <class Half>
void round(const float* from, std::size_t count, Half* to) {
  std::transform(from, from + count, to, [](float x) { return Half(x); });
}

/// Half-precision elements go through float32 in pieces that fit the cache; a null output is not written.
template <class Half, class Call>
void reduce_half(const Half* input, Half* output, std::int64_t count, Call&& call) {
  constexpr std::int64_t piece = 1 << 16;
  std::vector<float> wide(static_cast<std::size_t>(std::min(count, piece)));
  for (std::int64_t first = 0; first < count; first += piece) {
    const std::int64_t length = std::min(piece, count - first);
    widen(input + first, static_cast<std::size_t>(length), wide.data());
    call(wide.data(), wide.data(), static_cast<int>(length), MPI_FLOAT);
    if (output != nullptr) round(wide.data(), static_cast<std::size_t>(length), output + first);
  }
}

/// call(input, output, count, type) reduces a piece that MPI's int can count; equal addresses mean in place.
template <class Call>
void for_pieces(const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype, Call&& call,
                std::int64_t most = std::numeric_limits<int>::max()) {
  const bool is_done = visit_half(dtype, [&](auto tag) {
    using half = typename decltype(tag)::type;
    reduce_half(static_cast<const half*>(input), static_cast<half*>(output), count, call);
  });
  if (is_done) return;
  const std::size_t size = base::dtype_size(dtype);
  mpi::in_pieces(
      count,
      [&](std::int64_t first, int length) {
        const std::size_t offset = static_cast<std::size_t>(first) * size;
        call(static_cast<const std::byte*>(input) + offset,
             output != nullptr ? static_cast<std::byte*>(output) + offset : nullptr, length, mpi::type_of(dtype));
      },
      most);
}

/// MPI's allreduce takes temporary memory of its input's size, which beyond some megabytes comes fresh from the kernel,
/// page by page: pieces of 8 MiB take half the time of 100 MiB at once (2 ranks, Open MPI 4). Pieces stay long enough
/// for all ranks to have a share.
std::int64_t allreduce_piece(MPI_Comm comm, syncyte_dtype_t dtype) {
  constexpr std::int64_t least_bytes = 8 << 20, share_bytes = 256 << 10;
  int size = 0;
  MPI_Comm_size(comm, &size);
  return std::max(least_bytes, size * share_bytes) / static_cast<std::int64_t>(base::dtype_size(dtype));
}

std::size_t size_of(MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  return static_cast<std::size_t>(bytes);
}

const void* send_buffer(const void* input, const void* output) { return input == output ? MPI_IN_PLACE : input; }

/// What a reduction leaves as it is.
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
  base::visit_dtype(dtype, [&](auto tag) {
    using type = typename decltype(tag)::type;
    auto* const values = static_cast<type*>(output);
    if constexpr (std::is_same_v<type, base::boolean>)
      std::fill_n(values, count, type{identity<bool>(bool_op(op))});
    else if constexpr (std::is_same_v<type, base::float16> || std::is_same_v<type, base::bfloat16>)
      std::fill_n(values, count, type(identity<float>(op)));
    else
      std::fill_n(values, count, identity<type>(op));
  });
}

MPI_Op mpi_op(syncyte_dtype_t dtype, syncyte_op_t op) {
  if (const MPI_Op ordering = mpi::float_min_max_op(dtype, op); ordering != MPI_OP_NULL) return ordering;
  return mpi_op(dtype == SYNCYTE_BOOL ? bool_op(op) : op);
}

bool is_half(syncyte_dtype_t dtype) { return dtype == SYNCYTE_FLOAT16 || dtype == SYNCYTE_BFLOAT16; }

void widen_half(const void* half, std::int64_t count, syncyte_dtype_t dtype, float* wide) {
  visit_half(dtype, [&](auto tag) {
    widen(static_cast<const typename decltype(tag)::type*>(half), static_cast<std::size_t>(count), wide);
  });
}

void round_half(const float* wide, std::int64_t count, syncyte_dtype_t dtype, void* half) {
  visit_half(dtype, [&](auto tag) {
    round(wide, static_cast<std::size_t>(count), static_cast<typename decltype(tag)::type*>(half));
  });
}

void require_reducible(syncyte_dtype_t dtype, syncyte_op_t op) {
  base::require((op >= SYNCYTE_OP_SUM && op <= SYNCYTE_OP_BXOR) || op == SYNCYTE_OP_LXOR, SYNCYTE_ERR_ARGUMENT,
                "op {} is unknown here; expected SYNCYTE_OP_SUM (1) to SYNCYTE_OP_BXOR (9) or SYNCYTE_OP_LXOR (11)",
                op);
  const bool is_ordering = op == SYNCYTE_OP_MIN || op == SYNCYTE_OP_MAX;
  const bool is_arithmetic = op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_PROD;
  const bool has_op =
      base::is_integer(dtype) || dtype == SYNCYTE_BOOL || is_arithmetic || (is_ordering && !base::is_complex(dtype));
  base::require(has_op, SYNCYTE_ERR_UNSUPPORTED, "op {} is not defined for dtype {}", base::op_name(op),
                base::dtype_name(dtype));
}

void allreduce_elements(MPI_Comm comm, comm::node_reduction* nearby, const void* input, void* output,
                        std::int64_t count, syncyte_dtype_t dtype, syncyte_op_t op) {
  for_pieces(
      input, output, count, dtype,
      [&](const void* in, void* out, int length, MPI_Datatype type) {
        const std::size_t bytes = static_cast<std::size_t>(length) * size_of(type);
        if (nearby != nullptr && nearby->fits(bytes))
          return nearby->allreduce(in, out, length, type, bytes, mpi_op(dtype, op));
        mpi::check(MPI_Allreduce(send_buffer(in, out), out, length, type, mpi_op(dtype, op), comm), "MPI_Allreduce");
      },
      allreduce_piece(comm, dtype));
}

void reduce_to(MPI_Comm comm, const void* input, void* output, std::int64_t count, int root, syncyte_dtype_t dtype,
               syncyte_op_t op) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const bool is_root = rank == root;
  for_pieces(
      input, is_root ? output : nullptr, count, dtype, [&](const void* in, void* out, int length, MPI_Datatype type) {
        mpi::check(MPI_Reduce(is_root ? send_buffer(in, out) : in, out, length, type, mpi_op(dtype, op), root, comm),
                   "MPI_Reduce");
      });
}

void scan_elements(MPI_Comm comm, const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype,
                   syncyte_op_t op) {
  for_pieces(input, output, count, dtype, [&](const void* in, void* out, int length, MPI_Datatype type) {
    mpi::check(MPI_Scan(send_buffer(in, out), out, length, type, mpi_op(dtype, op), comm), "MPI_Scan");
  });
}

void exscan_elements(MPI_Comm comm, const void* input, void* output, std::int64_t count, syncyte_dtype_t dtype,
                     syncyte_op_t op) {
  for_pieces(input, output, count, dtype, [&](const void* in, void* out, int length, MPI_Datatype type) {
    mpi::check(MPI_Exscan(send_buffer(in, out), out, length, type, mpi_op(dtype, op), comm), "MPI_Exscan");
  });
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) fill_identity(output, count, dtype, op);  // MPI leaves it undefined
}

std::size_t reduce_scatter_scratch(std::int64_t elements, syncyte_dtype_t dtype) {
  return is_half(dtype) ? 2 * static_cast<std::size_t>(elements) * sizeof(float)
                        : 0;  // at most: one rank gets everything
}

void reduce_scatter(MPI_Comm comm, comm::node_reduction* nearby, const void* input, void* output,
                    const std::vector<int>& counts, syncyte_dtype_t dtype, syncyte_op_t op, void* scratch) {
  const int longest = *std::max_element(counts.begin(), counts.end());
  const auto call = [&](const void* in, void* out, MPI_Datatype type) {
    if (nearby != nullptr && nearby->fits_scatter(static_cast<std::size_t>(longest) * size_of(type)))
      return nearby->reduce_scatter(in, out, counts, type, size_of(type), mpi_op(dtype, op));
    mpi::check(MPI_Reduce_scatter(in, out, counts.data(), type, mpi_op(dtype, op), comm), "MPI_Reduce_scatter");
  };
  const bool is_done = visit_half(dtype, [&](auto tag) {
    using half = typename decltype(tag)::type;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    auto* const wide = static_cast<float*>(scratch);
    widen(static_cast<const half*>(input), total, wide);
    call(wide, wide + total, MPI_FLOAT);
    round(wide + total, static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]), static_cast<half*>(output));
  });
  if (!is_done) call(input, output, mpi::type_of(dtype));
}

}  // namespace syncyte::collectives
