#pragma once

#include <mpi.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "mpi/call.hpp"

namespace syncyte::mpi {

// Blocking collectives of a few values that the core itself exchanges. They throw as check().

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

/// The values of all ranks, in order of ranks; every rank gives as many.
template <plain T>
std::vector<T> allgather(std::span<const T> mine, MPI_Comm comm) {
  std::vector<T> all(mine.size() * static_cast<std::size_t>(size_of(comm)));
  const int bytes = static_cast<int>(mine.size_bytes());
  check(MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm), "MPI_Allgather");
  return all;
}

/// One value of every rank, in order of ranks.
template <plain T>
std::vector<T> allgather(const T& mine, MPI_Comm comm) {
  return allgather(std::span<const T>(&mine, 1), comm);
}

template <plain T>
void bcast(std::span<T> values, int root, MPI_Comm comm) {
  check(MPI_Bcast(values.data(), static_cast<int>(values.size_bytes()), MPI_BYTE, root, comm), "MPI_Bcast");
}

template <plain T>
void bcast(T& value, int root, MPI_Comm comm) {
  bcast(std::span<T>(&value, 1), root, comm);
}

/// One number for each rank.
inline void alltoall(std::span<const std::int64_t> to_ranks, std::span<std::int64_t> from_ranks, MPI_Comm comm) {
  check(MPI_Alltoall(to_ranks.data(), 1, MPI_INT64_T, from_ranks.data(), 1, MPI_INT64_T, comm), "MPI_Alltoall");
}

inline void allreduce(std::span<std::uint64_t> values, MPI_Op op, MPI_Comm comm) {
  check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, op, comm),
        "MPI_Allreduce");
}

/// One number or truth value, reduced over all ranks.
template <std::unsigned_integral T>
T allreduce(T value, MPI_Op op, MPI_Comm comm) {
  std::uint64_t reduced = static_cast<std::uint64_t>(value);
  allreduce(std::span(&reduced, 1), op, comm);
  return static_cast<T>(reduced);
}

}  // namespace syncyte::mpi
