#include "window/remote.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <vector>

#include "atomics/elements.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"
#include "memory/scratch.hpp"
#include "mpi/call.hpp"
#include "mpi/process.hpp"

namespace syncyte::window {

namespace {

/// MPI counts are ints; and nothing is gained by larger requests.
constexpr std::size_t largest_request = std::size_t{1} << 28;
/// Pieces that one request describes by a type; more of them make the type itself expensive.
constexpr std::size_t most_pieces = 1 << 13;

/// An MPI type of equal pieces at several offsets; freed when it goes.
class pieces_type {
 public:
  pieces_type(std::span<const std::size_t> offsets, std::size_t bytes) {
    const std::vector<MPI_Aint> places(offsets.begin(), offsets.end());
    mpi::check(MPI_Type_create_hindexed_block(static_cast<int>(places.size()), static_cast<int>(bytes), places.data(),
                                              MPI_BYTE, &type_),
               "MPI_Type_create_hindexed_block");
    mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~pieces_type() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  pieces_type(const pieces_type&) = delete;
  pieces_type& operator=(const pieces_type&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Puts memory that is const, gets other memory.
template <class Byte>
void transfer(Byte* here, std::size_t bytes, int rank, std::size_t offset, int pieces, MPI_Datatype type,
              MPI_Win window) {
  const auto count = static_cast<int>(bytes);
  const auto place = static_cast<MPI_Aint>(offset);
  if constexpr (std::is_const_v<Byte>)
    mpi::check(MPI_Put(here, count, MPI_BYTE, rank, place, pieces, type, window), "MPI_Put");
  else
    mpi::check(MPI_Get(here, count, MPI_BYTE, rank, place, pieces, type, window), "MPI_Get");
}

template <class Byte>
void transfer_bytes(Byte* here, std::size_t bytes, int rank, std::size_t offset, MPI_Win window) {
  for (std::size_t done = 0; done < bytes; done += largest_request) {
    const std::size_t length = std::min(largest_request, bytes - done);
    transfer(here + done, length, rank, offset + done, static_cast<int>(length), MPI_BYTE, window);
  }
}

template <class Byte>
void transfer_rows(Byte* packed, std::size_t bytes, int rank, std::span<const std::size_t> offsets, MPI_Win window) {
  if (bytes == 0) return;
  if (bytes > largest_request) {
    for (std::size_t i = 0; i < offsets.size(); ++i)
      transfer_bytes(packed + i * bytes, bytes, rank, offsets[i], window);
    return;
  }
  const std::size_t batch = std::clamp<std::size_t>(largest_request / bytes, 1, most_pieces);
  for (std::size_t first = 0; first < offsets.size(); first += batch) {
    const std::size_t count = std::min(batch, offsets.size() - first);
    const pieces_type type(offsets.subspan(first, count), bytes);
    transfer(packed + first * bytes, count * bytes, rank, 0, 1, type.get(), window);
  }
}

void flush_local(int rank, MPI_Win window) { mpi::check(MPI_Win_flush_local(rank, window), "MPI_Win_flush_local"); }

/// Bytes that are combined at a time; others wait meanwhile.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

}  // namespace

std::shared_ptr<remote> remote::create(comm::collective_call& call, std::span<std::byte> mine,
                                       std::shared_ptr<void> owner) {
  std::shared_ptr<remote> result(new remote(call.comm(), std::move(owner)));
  call.attempt([&] {
    result->window_ = open_window(call.comm(), mine.data(), mine.size());
    result->mutex_.create();
  });
  call.agree();
  return result;
}

void remote::free_collectively() noexcept {
  mutex_.free();
  close_window(window_);
  owner_.reset();
}

void remote::put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) {
  transfer_bytes(source, bytes, rank, offset, window_);
  flush_local(rank, window_);
}

void remote::get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) {
  mpi::require_rank_process();
  transfer_bytes(target, bytes, rank, offset, window_);
  flush_local(rank, window_);
}

void remote::put_rows(int rank, std::span<const std::size_t> offsets, std::size_t bytes, const std::byte* packed) {
  transfer_rows(packed, bytes, rank, offsets, window_);
  flush_local(rank, window_);
}

void remote::get_rows(int rank, std::span<const std::size_t> offsets, std::size_t bytes, std::byte* packed) {
  mpi::require_rank_process();
  transfer_rows(packed, bytes, rank, offsets, window_);
  flush_local(rank, window_);
}

// Atomics of memory that is not mapped here: while a mutex is held, elements are got, combined and put back. MPI's own
// accumulates are not used, because they are atomic with each other only where all use the same operation
// (MPI 3.1, 11.7.1: accumulate_ops), and because MPI knows no half precision.

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
  const memory::scratch elements(static_cast<std::size_t>(std::min(most, count)) * element);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t length = std::min(most, count - done);
    const std::size_t skipped = static_cast<std::size_t>(done) * element;
    std::byte* const old = previous != nullptr ? previous + skipped : nullptr;
    change(rank, offset + skipped, elements.data(), static_cast<std::size_t>(length) * element, old,
           op != SYNCYTE_OP_REPLACE || old != nullptr,
           [&] { combine_elements(elements.data(), source + skipped, old, length); });
  }
}

void remote::compare_swap(int rank, std::size_t offset, syncyte_dtype_t dtype, const void* expected,
                          const void* desired, void* previous) {
  alignas(std::max_align_t) std::byte element[sizeof(std::uint64_t)];
  change(rank, offset, element, base::dtype_size(dtype), previous, true,
         [&] { atomics::compare_swap_element(dtype, element, expected, desired, previous); });
}

void remote::flush(int rank) {
  if (rank < 0)
    mpi::check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
  else
    mpi::check(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  synchronise_memory();
}

void remote::synchronise_memory() {
  mpi::check(MPI_Win_sync(window_), "MPI_Win_sync");
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace syncyte::window
