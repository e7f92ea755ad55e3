// SPDX-License-Identifier: BSD-3-Clause
#include "window/rma.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "atomics/elements.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"
#include "memory/scratch.hpp"
#include "mpi/call.hpp"
#include "mpi/deaths.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"

namespace syncyte::window {

namespace {

/// MPI counts are ints; and nothing is gained by larger requests.
constexpr std::size_t largest_request = std::size_t{1} << 28;
/// Pieces that one request describes by a type; more of them make the type itself expensive.
constexpr std::size_t most_pieces = 1 << 13;
/// Rows that are not in order here are copied to a buffer of this size, about: large batches need little extra memory.
constexpr std::size_t buffer_bytes = std::size_t{32} << 20;

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
void transfer_request(Byte* here, std::size_t bytes, int rank, std::size_t offset, int pieces, MPI_Datatype type,
                      MPI_Win window) {
  mpi::require_no_death();
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
    transfer_request(here + done, length, rank, offset + done, static_cast<int>(length), MPI_BYTE, window);
  }
}

template <class Byte>
void transfer_rows(Byte* packed, const remote_rows& request, MPI_Win window) {
  const std::size_t bytes = request.row_bytes;
  if (bytes > largest_request) {
    for (std::size_t i = 0; i < request.offsets.size(); ++i)
      transfer_bytes(packed + i * bytes, bytes, request.rank, request.offsets[i], window);
    return;
  }
  const std::size_t batch = std::clamp<std::size_t>(largest_request / bytes, 1, most_pieces);
  for (std::size_t first = 0; first < request.offsets.size(); first += batch) {
    const std::size_t count = std::min(batch, request.offsets.size() - first);
    const pieces_type type(request.offsets.subspan(first, count), bytes);
    transfer_request(packed + first * bytes, count * bytes, request.rank, 0, 1, type.get(), window);
  }
}

/// `count` rows from row `first`.
remote_rows part_of(const remote_rows& rows, std::size_t first, std::size_t count) {
  remote_rows part = rows;
  part.offsets = rows.offsets.subspan(first, count);
  if (rows.places.empty())
    part.packed += first * rows.row_bytes;
  else
    part.places = rows.places.subspan(first, count);
  return part;
}

/// Whether the rows are in order, one behind the other, in memory here.
bool is_packed(const remote_rows& rows) {
  return std::adjacent_find(rows.places.begin(), rows.places.end(), [](std::int64_t place, std::int64_t next) {
           return next != place + 1;
         }) == rows.places.end();
}

/// Calls visitor(rows, memory for them in order) for parts of an owner's rows. The memory is the rows' own if they are
/// in order there.
template <class Visitor>
void for_each_request(const remote_rows& rows, Visitor&& visitor) {
  if (rows.row_bytes == 0) return;
  const std::size_t most = std::max<std::size_t>(1, buffer_bytes / rows.row_bytes);
  memory::scratch buffer;
  for (std::size_t first = 0; first < rows.offsets.size(); first += most) {
    const remote_rows request = part_of(rows, first, std::min(most, rows.offsets.size() - first));
    if (is_packed(request)) {
      visitor(request, request.here(0));
      continue;
    }
    if (buffer.data() == nullptr) buffer = memory::scratch(std::min(most, rows.offsets.size()) * rows.row_bytes);
    visitor(request, buffer.data());
  }
}

/// An owner's rows, each once: of a row that repeats the last copy, because one request must not write a row twice.
class last_rows {
 public:
  explicit last_rows(const remote_rows& all) : rows_(all) {
    const auto& offsets = all.offsets;
    if (std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) == offsets.end()) return;
    std::vector<std::pair<std::size_t, std::size_t>> sorted;  // {offset, position}
    sorted.reserve(offsets.size());
    for (std::size_t i = 0; i < offsets.size(); ++i) sorted.emplace_back(offsets[i], i);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (i + 1 < sorted.size() && sorted[i + 1].first == sorted[i].first) continue;
      const std::size_t position = sorted[i].second;
      offsets_.push_back(sorted[i].first);
      places_.push_back(all.places.empty() ? static_cast<std::int64_t>(position) : all.places[position]);
    }
    rows_.offsets = offsets_;
    rows_.places = places_;
  }
  last_rows(const last_rows&) = delete;
  last_rows& operator=(const last_rows&) = delete;

  const remote_rows& rows() const { return rows_; }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<std::int64_t> places_;
  remote_rows rows_;
};

/// A rank that dies meanwhile is seen by the watchdog alone: MPI's flush cannot be left.
void flush_local(int rank, MPI_Win window) { mpi::check(MPI_Win_flush_local(rank, window), "MPI_Win_flush_local"); }

/// Bytes that are combined at a time; others wait meanwhile.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

}  // namespace

std::shared_ptr<rma> rma::create(comm::collective_call& call, std::span<std::byte> mine, std::shared_ptr<void> owner) {
  std::shared_ptr<rma> result(new rma(call.comm(), std::move(owner)));
  call.attempt([&] {
    result->window_ = open_window(call.comm(), mine.data(), mine.size());
    result->mutex_.create();
  });
  call.agree();
  return result;
}

void rma::free_collectively() noexcept {
  mutex_.free();
  close_window(window_);
  owner_.reset();
}

void rma::put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) {
  transfer_bytes(source, bytes, rank, offset, window_);
  flush_local(rank, window_);
}

std::unique_ptr<transfer> rma::start_put(int rank, std::size_t offset, const std::byte* source, std::size_t bytes) {
  put(rank, offset, source, bytes);
  flush(rank);
  return nullptr;
}

std::unique_ptr<transfer> rma::start_get(int rank, std::size_t offset, std::byte* target, std::size_t bytes) {
  mpi::require_rank_process();
  transfer_bytes(target, bytes, rank, offset, window_);
  flush_local(rank, window_);
  return nullptr;
}

std::unique_ptr<transfer> rma::start_rows(const char*, row_access what, std::span<const remote_rows> owners,
                                          syncyte_op_t) {
  switch (what) {
    case row_access::get:
      get_rows(owners);
      break;
    case row_access::put:
      put_rows(owners);
      break;
    case row_access::add:
      base::fail(SYNCYTE_ERR_UNSUPPORTED, "MPI has no atomic addition of rows at other ranks");
  }
  return nullptr;
}

void rma::get_rows(std::span<const remote_rows> owners) {
  mpi::require_rank_process();
  for (const remote_rows& owner : owners)
    for_each_request(owner, [&](const remote_rows& request, std::byte* packed) {
      transfer_rows(packed, request, window_);
      flush_local(request.rank, window_);
      if (packed == request.here(0)) return;
      for (std::size_t i = 0; i < request.offsets.size(); ++i)
        std::memcpy(request.here(i), packed + i * request.row_bytes, request.row_bytes);
    });
}

void rma::put_rows(std::span<const remote_rows> owners) {
  for (const remote_rows& owner : owners) {
    const last_rows last(owner);
    for_each_request(last.rows(), [&](const remote_rows& request, std::byte* packed) {
      if (packed != request.here(0))
        for (std::size_t i = 0; i < request.offsets.size(); ++i)
          std::memcpy(packed + i * request.row_bytes, request.here(i), request.row_bytes);
      transfer_rows(static_cast<const std::byte*>(packed), request, window_);
      flush_local(request.rank, window_);
    });
    flush(owner.rank);  // orders these writes before later ones to the same rows
  }
}

// Atomics of memory that is not mapped here: while a mutex is held, elements are got, combined and put back. MPI's own
// accumulates are not used, because they are atomic with each other only where all use the same operation
// (MPI 3.1, 11.7.1: accumulate_ops), and because MPI knows no half precision.

/// Gets elements if step() needs the old ones, calls step(), and puts them unless they equal `previous`, where step()
/// has stored the old ones; null: puts them always.
template <class Step>
void rma::change(int rank, std::size_t offset, std::byte* elements, std::size_t bytes, const void* previous,
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

std::unique_ptr<transfer> rma::start_combine(const char*, int rank, std::size_t offset, syncyte_dtype_t dtype,
                                             syncyte_op_t op, const std::byte* source, std::byte* previous,
                                             std::int64_t count) {
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
  return nullptr;
}

std::unique_ptr<transfer> rma::start_compare_swap(const char*, int rank, std::size_t offset, syncyte_dtype_t dtype,
                                                  const void* expected, const void* desired, void* previous) {
  alignas(std::max_align_t) std::byte element[sizeof(std::uint64_t)];
  change(rank, offset, element, base::dtype_size(dtype), previous, true,
         [&] { atomics::compare_swap_element(dtype, element, expected, desired, previous); });
  return nullptr;
}

void rma::flush(int rank) {
  mpi::require_no_death();
  if (rank < 0)
    mpi::check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
  else
    mpi::check(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  synchronize_memory();
}

void rma::serve_others() { mpi::probe(); }

void rma::synchronize_memory() {
  mpi::require_no_death();
  mpi::check(MPI_Win_sync(window_), "MPI_Win_sync");
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace syncyte::window
