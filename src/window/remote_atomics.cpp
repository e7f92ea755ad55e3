// Atomics of a window that spans nodes: MPI's, on the dtypes and ops that MPI has, and otherwise repeated
// compare-and-swap through MPI.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/dtype.hpp"
#include "comm/mpi.hpp"
#include "window/atomics.hpp"
#include "window/ops.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

namespace {

using comm::check_mpi;

constexpr std::int64_t largest_count = std::int64_t{1} << 26;

/// How MPI is to be asked. A bool is a byte of 0 or 1, on which logic is bit by bit.
struct request {
  MPI_Datatype type;
  MPI_Op op;
};

MPI_Op arithmetic_op(syncyte_op_t op) {
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
    case SYNCYTE_OP_BXOR:
      return MPI_BXOR;
    default:
      return MPI_REPLACE;
  }
}

MPI_Op logic_op(syncyte_op_t op) {
  switch (op) {
    case SYNCYTE_OP_REPLACE:
      return MPI_REPLACE;
    case SYNCYTE_OP_BXOR:
      return MPI_BXOR;
    case SYNCYTE_OP_SUM:
    case SYNCYTE_OP_MAX:
    case SYNCYTE_OP_LOR:
    case SYNCYTE_OP_BOR:
      return MPI_BOR;
    default:
      return MPI_BAND;
  }
}

request request_for(syncyte_dtype_t dtype, syncyte_op_t op) {
  if (dtype == SYNCYTE_BOOL) return {MPI_UINT8_T, logic_op(op)};
  return {comm::mpi_type(dtype), arithmetic_op(op)};
}

bool is_half_precision(syncyte_dtype_t dtype) { return dtype == SYNCYTE_FLOAT16 || dtype == SYNCYTE_BFLOAT16; }

/// MPI sees bytes of a bool; ours are 0 or 1.
void normalise(std::uint8_t* values, std::size_t count) {
  std::transform(values, values + count, values, [](std::uint8_t value) { return value != 0; });
}

/// One element with room for the largest dtype.
using element = std::array<std::byte, 16>;

element element_from(const void* source, syncyte_dtype_t dtype) {
  element result{};
  std::memcpy(result.data(), source, base::dtype_size(dtype));
  if (dtype == SYNCYTE_BOOL) normalise(reinterpret_cast<std::uint8_t*>(result.data()), 1);
  return result;
}

}  // namespace

void remote::accumulate(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const void* source,
                        std::int64_t count) {
  const std::size_t bytes = base::dtype_size(dtype);
  const auto* from = static_cast<const std::byte*>(source);
  if (is_half_precision(dtype)) {  // every op in the same way, so that they are atomic with each other
    element previous;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      fetch_op(rank, offset + i * bytes, dtype, op, from + i * bytes, previous.data());
    return;
  }
  std::vector<std::uint8_t> bools;
  if (dtype == SYNCYTE_BOOL) {
    bools.assign(reinterpret_cast<const std::uint8_t*>(from), reinterpret_cast<const std::uint8_t*>(from) + count);
    normalise(bools.data(), bools.size());
    from = reinterpret_cast<const std::byte*>(bools.data());
  }
  const request how = request_for(dtype, op);
  for (std::int64_t done = 0; done < count; done += largest_count) {
    const int length = static_cast<int>(std::min(largest_count, count - done));
    const std::size_t skipped = static_cast<std::size_t>(done) * bytes;
    check_mpi(MPI_Accumulate(from + skipped, length, how.type, rank, static_cast<MPI_Aint>(offset + skipped), length,
                             how.type, how.op, window_),
              "MPI_Accumulate");
  }
  check_mpi(MPI_Win_flush_local(rank, window_), "MPI_Win_flush_local");
}

void remote::fetch_op(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const void* operand,
                      void* previous) {
  if (is_half_precision(dtype)) return fetch_half(rank, offset, dtype, op, operand, previous);
  const element given = element_from(operand, dtype);
  element seen;
  const request how = request_for(dtype, op);
  check_mpi(MPI_Fetch_and_op(given.data(), seen.data(), how.type, rank, static_cast<MPI_Aint>(offset), how.op, window_),
            "MPI_Fetch_and_op");
  check_mpi(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  std::memcpy(previous, seen.data(), base::dtype_size(dtype));
}

/// MPI knows no half precision: its bits are exchanged until nobody came between.
void remote::fetch_half(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const void* operand,
                        void* previous) {
  std::uint16_t expected = 0, seen = 0;
  for (bool is_done = false; !is_done; expected = seen) {
    std::uint16_t desired = 0;
    combine_element(dtype, op, &expected, operand, &desired);
    check_mpi(
        MPI_Compare_and_swap(&desired, &expected, &seen, MPI_UINT16_T, rank, static_cast<MPI_Aint>(offset), window_),
        "MPI_Compare_and_swap");
    check_mpi(MPI_Win_flush(rank, window_), "MPI_Win_flush");
    is_done = seen == expected;
  }
  std::memcpy(previous, &seen, sizeof(seen));
}

void remote::compare_swap(int rank, std::size_t offset, syncyte_dtype_t dtype, const void* expected,
                          const void* desired, void* previous) {
  const element old = element_from(expected, dtype);
  const element fresh = element_from(desired, dtype);
  element seen;
  check_mpi(MPI_Compare_and_swap(fresh.data(), old.data(), seen.data(), request_for(dtype, SYNCYTE_OP_REPLACE).type,
                                 rank, static_cast<MPI_Aint>(offset), window_),
            "MPI_Compare_and_swap");
  check_mpi(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  std::memcpy(previous, seen.data(), base::dtype_size(dtype));
}

std::uint64_t remote::swap_word(int rank, std::size_t offset, std::uint64_t expected, std::uint64_t desired) {
  std::uint64_t seen = 0;
  check_mpi(
      MPI_Compare_and_swap(&desired, &expected, &seen, MPI_UINT64_T, rank, static_cast<MPI_Aint>(offset), window_),
      "MPI_Compare_and_swap");
  check_mpi(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  return seen;
}

}  // namespace syncyte::window
