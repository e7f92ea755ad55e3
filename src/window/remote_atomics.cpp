// Atomics of memory that is not mapped here: while a mutex is held, elements are got, combined and put back. MPI's own
// accumulates are not used, because they are atomic with each other only where all use the same operation
// (MPI 3.1, 11.7.1: accumulate_ops), and because MPI knows no half precision.
#include <algorithm>
#include <cstring>
#include <vector>

#include "atomics/elements.hpp"
#include "base/dtype.hpp"
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

/// Gets elements if step() needs the old ones, calls step(), and puts them if they are not `previous`, which step() has
/// stored; null: puts them always.
template <class Step>
void remote::change(int rank, std::size_t offset, std::byte* elements, std::size_t bytes, const void* previous,
                    bool needs_old, Step&& step) {
  mpi::require_rank_process();
  mutex_.while_held(rank, [&] {
    if (needs_old) get(rank, offset, elements, bytes);
    step();
    if (previous != nullptr && std::memcmp(elements, previous, bytes) == 0) return;
    put(rank, offset, elements, bytes);
    flush(rank);
  });
}

void remote::combine(int rank, std::size_t offset, syncyte_dtype_t dtype, syncyte_op_t op, const std::byte* source,
                     std::byte* previous, std::int64_t count) {
  const atomics::atomic_combine combine_elements = atomics::find_combine(dtype, op);
  const std::size_t element = base::dtype_size(dtype);
  const auto most = static_cast<std::int64_t>(piece_bytes / element);
  scratch room = make_scratch(static_cast<std::size_t>(std::min(most, count)) * element);
  auto* const elements = reinterpret_cast<std::byte*>(room.data());
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t length = std::min(most, count - done);
    const std::size_t skipped = static_cast<std::size_t>(done) * element;
    std::byte* const old = previous != nullptr ? previous + skipped : nullptr;
    change(rank, offset + skipped, elements, static_cast<std::size_t>(length) * element, old,
           op != SYNCYTE_OP_REPLACE || old != nullptr,
           [&] { combine_elements(elements, source + skipped, old, length); });
  }
}

void remote::compare_swap(int rank, std::size_t offset, syncyte_dtype_t dtype, const void* expected,
                          const void* desired, void* previous) {
  alignas(std::max_align_t) std::byte element[sizeof(std::uint64_t)];
  change(rank, offset, element, base::dtype_size(dtype), previous, true,
         [&] { atomics::compare_swap_element(dtype, element, expected, desired, previous); });
}

}  // namespace syncyte::window
