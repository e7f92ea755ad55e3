// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/call.hpp"
#include "mpi/progress.hpp"

namespace syncyte::mpi {

// Collectives of a few values that the core itself exchanges. They return when they are complete. They poll, and make
// progress of all operations in flight; they throw as check(), and SYNCYTE_ERR_PEER_DIED after the death of a rank.

/// Waits for a collective that start(&request) starts by the function `call` of MPI. `memory` is what MPI reads and
/// writes: if the wait ends with an error, MPI may still use it.
template <class Start>
void run(const char* call, std::shared_ptr<void> memory, Start&& start) {
  require_no_death();
  MPI_Request request = MPI_REQUEST_NULL;
  check(start(&request), call);
  try {
    wait_for(request, call);
  } catch (...) {
    keep_for_ever(std::move(memory));
    throw;
  }
}

template <class T>
concept plain = std::is_trivially_copyable_v<T>;

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

template <plain T>
auto copy_of(std::span<const T> values) {
  return std::make_shared<std::vector<T>>(values.begin(), values.end());
}

/// The values of all ranks, in order of ranks; every rank gives as many.
template <plain T>
std::vector<T> allgather(std::span<const T> mine, MPI_Comm comm) {
  struct exchanged {
    std::vector<T> mine, all;
  };
  const auto values = std::make_shared<exchanged>();
  values->mine.assign(mine.begin(), mine.end());
  values->all.resize(mine.size() * static_cast<std::size_t>(size_of(comm)));
  const int bytes = static_cast<int>(mine.size_bytes());
  run("MPI_Iallgather", values, [&](MPI_Request* request) {
    return MPI_Iallgather(values->mine.data(), bytes, MPI_BYTE, values->all.data(), bytes, MPI_BYTE, comm, request);
  });
  return std::move(values->all);
}

/// One value of every rank, in order of ranks.
template <plain T>
std::vector<T> allgather(const T& mine, MPI_Comm comm) {
  return allgather(std::span<const T>(&mine, 1), comm);
}

template <plain T>
void bcast(std::span<T> values, int root, MPI_Comm comm) {
  const auto copy = copy_of(std::span<const T>(values));
  run("MPI_Ibcast", copy, [&](MPI_Request* request) {
    return MPI_Ibcast(copy->data(), static_cast<int>(values.size_bytes()), MPI_BYTE, root, comm, request);
  });
  std::ranges::copy(*copy, values.begin());
}

template <plain T>
void bcast(T& value, int root, MPI_Comm comm) {
  bcast(std::span<T>(&value, 1), root, comm);
}

/// One number for each rank.
inline void alltoall(std::span<const std::int64_t> to_ranks, std::span<std::int64_t> from_ranks, MPI_Comm comm) {
  using numbers = std::vector<std::int64_t>;
  const auto copies = std::make_shared<std::pair<numbers, numbers>>(numbers(to_ranks.begin(), to_ranks.end()),
                                                                    numbers(from_ranks.size()));
  run("MPI_Ialltoall", copies, [&](MPI_Request* request) {
    return MPI_Ialltoall(copies->first.data(), 1, MPI_INT64_T, copies->second.data(), 1, MPI_INT64_T, comm, request);
  });
  std::ranges::copy(copies->second, from_ranks.begin());
}

inline void allreduce(std::span<std::uint64_t> values, MPI_Op op, MPI_Comm comm) {
  const auto copy = copy_of(std::span<const std::uint64_t>(values));
  run("MPI_Iallreduce", copy, [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, copy->data(), static_cast<int>(copy->size()), MPI_UINT64_T, op, comm, request);
  });
  std::ranges::copy(*copy, values.begin());
}

/// One number or truth value, reduced over all ranks.
template <std::unsigned_integral T>
T allreduce(T value, MPI_Op op, MPI_Comm comm) {
  std::uint64_t reduced = static_cast<std::uint64_t>(value);
  allreduce(std::span(&reduced, 1), op, comm);
  return static_cast<T>(reduced);
}

}  // namespace syncyte::mpi
