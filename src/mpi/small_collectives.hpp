#pragma once

#include <mpi.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "mpi/call.hpp"
#include "mpi/progress.hpp"

namespace syncyte::mpi {

// Collectives of a few values that the core itself exchanges. They return when they are complete. They poll, and make
// progress of all operations under way; they throw as check(), and SYNCYTE_ERR_PEER_DIED after the death of a rank.

/// Waits for a collective that start(&request) starts by the function `call` of MPI.
template <class Start>
void run(const char* call, Start&& start) {
  require_no_death();
  MPI_Request request = MPI_REQUEST_NULL;
  check(start(&request), call);
  wait_for(request, call);
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

/// The values of all ranks, in order of ranks; every rank gives as many.
template <plain T>
std::vector<T> allgather(std::span<const T> mine, MPI_Comm comm) {
  std::vector<T> all(mine.size() * static_cast<std::size_t>(size_of(comm)));
  const int bytes = static_cast<int>(mine.size_bytes());
  run("MPI_Iallgather", [&](MPI_Request* request) {
    return MPI_Iallgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm, request);
  });
  return all;
}

/// One value of every rank, in order of ranks.
template <plain T>
std::vector<T> allgather(const T& mine, MPI_Comm comm) {
  return allgather(std::span<const T>(&mine, 1), comm);
}

template <plain T>
void bcast(std::span<T> values, int root, MPI_Comm comm) {
  run("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(values.data(), static_cast<int>(values.size_bytes()), MPI_BYTE, root, comm, request);
  });
}

template <plain T>
void bcast(T& value, int root, MPI_Comm comm) {
  bcast(std::span<T>(&value, 1), root, comm);
}

/// One number for each rank.
inline void alltoall(std::span<const std::int64_t> to_ranks, std::span<std::int64_t> from_ranks, MPI_Comm comm) {
  run("MPI_Ialltoall", [&](MPI_Request* request) {
    return MPI_Ialltoall(to_ranks.data(), 1, MPI_INT64_T, from_ranks.data(), 1, MPI_INT64_T, comm, request);
  });
}

inline void allreduce(std::span<std::uint64_t> values, MPI_Op op, MPI_Comm comm) {
  run("MPI_Iallreduce", [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, op, comm,
                          request);
  });
}

/// One number or truth value, reduced over all ranks.
template <std::unsigned_integral T>
T allreduce(T value, MPI_Op op, MPI_Comm comm) {
  std::uint64_t reduced = static_cast<std::uint64_t>(value);
  allreduce(std::span(&reduced, 1), op, comm);
  return static_cast<T>(reduced);
}

}  // namespace syncyte::mpi
