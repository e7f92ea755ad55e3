#include "window/remote.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/error.hpp"
#include "mpi/call.hpp"
#include "mpi/process.hpp"

namespace syncyte::window {

namespace {

/// MPI counts are ints; and nothing is gained by larger requests.
constexpr std::size_t largest_request = std::size_t{1} << 28;
/// Pieces that one request describes by a type; more of them make the type itself expensive.
constexpr std::size_t most_pieces = 1 << 13;

MPI_Aint displacement(std::size_t offset) { return static_cast<MPI_Aint>(offset); }

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

/// Calls body(first, count) for batches of pieces that each fit one request.
template <class Body>
void for_batches(std::size_t pieces, std::size_t bytes, Body&& body) {
  const std::size_t batch = std::clamp<std::size_t>(largest_request / bytes, 1, most_pieces);
  for (std::size_t first = 0; first < pieces; first += batch) body(first, std::min(batch, pieces - first));
}

/// MPI does not allow a put to write a place twice.
bool is_overlapping(std::span<const std::size_t> offsets, std::size_t bytes) {
  std::vector<std::size_t> sorted(offsets.begin(), offsets.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] < bytes) return true;
  }
  return false;
}

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

void remote::put(int rank, std::size_t offset, const void* source, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(source);
  for (std::size_t done = 0; done < bytes; done += largest_request) {
    const int count = static_cast<int>(std::min(largest_request, bytes - done));
    mpi::check(MPI_Put(from + done, count, MPI_BYTE, rank, displacement(offset + done), count, MPI_BYTE, window_),
               "MPI_Put");
  }
  mpi::check(MPI_Win_flush_local(rank, window_), "MPI_Win_flush_local");
}

void remote::get(int rank, std::size_t offset, void* target, std::size_t bytes) {
  mpi::require_rank_process();
  auto* to = static_cast<std::byte*>(target);
  for (std::size_t done = 0; done < bytes; done += largest_request) {
    const int count = static_cast<int>(std::min(largest_request, bytes - done));
    mpi::check(MPI_Get(to + done, count, MPI_BYTE, rank, displacement(offset + done), count, MPI_BYTE, window_),
               "MPI_Get");
  }
  mpi::check(MPI_Win_flush_local(rank, window_), "MPI_Win_flush_local");
}

void remote::put_rows(int rank, std::span<const std::size_t> offsets, std::size_t bytes, const void* packed) {
  const auto* from = static_cast<const std::byte*>(packed);
  if (bytes == 0) return;
  if (bytes > largest_request || is_overlapping(offsets, bytes)) {
    for (std::size_t i = 0; i < offsets.size(); ++i) put(rank, offsets[i], from + i * bytes, bytes);
    return;
  }
  for_batches(offsets.size(), bytes, [&](std::size_t first, std::size_t count) {
    const pieces_type type(offsets.subspan(first, count), bytes);
    mpi::check(
        MPI_Put(from + first * bytes, static_cast<int>(count * bytes), MPI_BYTE, rank, 0, 1, type.get(), window_),
        "MPI_Put");
  });
  mpi::check(MPI_Win_flush_local(rank, window_), "MPI_Win_flush_local");
}

void remote::get_rows(int rank, std::span<const std::size_t> offsets, std::size_t bytes, void* packed) {
  mpi::require_rank_process();
  auto* to = static_cast<std::byte*>(packed);
  if (bytes == 0) return;
  if (bytes > largest_request) {
    for (std::size_t i = 0; i < offsets.size(); ++i) get(rank, offsets[i], to + i * bytes, bytes);
    return;
  }
  for_batches(offsets.size(), bytes, [&](std::size_t first, std::size_t count) {
    const pieces_type type(offsets.subspan(first, count), bytes);
    mpi::check(MPI_Get(to + first * bytes, static_cast<int>(count * bytes), MPI_BYTE, rank, 0, 1, type.get(), window_),
               "MPI_Get");
  });
  mpi::check(MPI_Win_flush_local(rank, window_), "MPI_Win_flush_local");
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
