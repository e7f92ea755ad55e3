// Atomics of memory that is not mapped here: while a mutex is held, elements are got, combined and put back. MPI's own
// accumulates are not used, because they are atomic with each other only where all use the same operation
// (MPI 3.1, 11.7.1: accumulate_ops), and because MPI knows no half precision.
#include <algorithm>
#include <cstring>
#include <vector>

#include "atomics/elements.hpp"
#include "base/dtype.hpp"
#include "mpi/call.hpp"
#include "mpi/process.hpp"
#include "window/remote.hpp"

namespace syncyte::window {

namespace {

/// Bytes that are combined at a time; others wait meanwhile.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// Room for elements of any dtype, aligned to them.
using scratch = std::vector<std::max_align_t>;

scratch make_scratch(std::size_t bytes) {
  return scratch((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
}

}  // namespace

void remote::combine_piece(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op,
                           const std::byte* source, std::byte* previous, std::int64_t count) {
  mpi::require_rank_process();
  const atomics::atomic_combine combine = atomics::find_combine(dtype, op);
  const std::size_t bytes = static_cast<std::size_t>(count) * base::dtype_size(dtype);
  scratch room = make_scratch(bytes);
  auto* elements = reinterpret_cast<std::byte*>(room.data());
  remote_guard guard(mutex_, rank);
  if (op != SYNCYTE_OP_REPLACE || previous != nullptr) get(rank, offset, elements, bytes);
  combine(elements, source, previous, count);
  if (previous == nullptr || std::memcmp(elements, previous, bytes) != 0) {
    put(rank, offset, elements, bytes);
    flush(rank);
  }
  guard.end();
}

void remote::accumulate(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const void* source,
                        std::int64_t count) {
  const std::size_t bytes = base::dtype_size(dtype);
  const auto most = static_cast<std::int64_t>(piece_bytes / bytes);
  const auto* from = static_cast<const std::byte*>(source);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::size_t skipped = static_cast<std::size_t>(done) * bytes;
    combine_piece(rank, offset + skipped, dtype, op, from + skipped, nullptr, std::min(most, count - done));
  }
}

void remote::fetch_op(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const void* operand,
                      void* previous) {
  combine_piece(rank, offset, dtype, op, static_cast<const std::byte*>(operand), static_cast<std::byte*>(previous), 1);
}

void remote::compare_swap(int rank, std::size_t offset, syncyte_dtype_t dtype, const void* expected,
                          const void* desired, void* previous) {
  const std::size_t bytes = base::dtype_size(dtype);
  alignas(std::max_align_t) std::byte element[sizeof(std::uint64_t)];
  remote_guard guard(mutex_, rank);
  get(rank, offset, element, bytes);
  atomics::compare_swap_element(dtype, element, expected, desired, previous);
  if (std::memcmp(element, previous, bytes) != 0) {
    put(rank, offset, element, bytes);
    flush(rank);
  }
  guard.end();
}

}  // namespace syncyte::window
