// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file comm.hpp Start and end of Syncyte, and communicators in C++; syncyte/comm.h lists the facts of each call.

#include <exception>
#include <iterator>
#include <vector>

#include "syncyte/messages.hpp"

namespace syncyte {

/// Whether Syncyte is started. Local; callable at any time.
inline bool initialized() { return detail::fetch<std::int32_t>(syncyte_initialized) != 0; }

/// Thread levels of MPI.
enum class thread_level : std::int32_t { single = 0, funneled = 1, serialized = 2, multiple = 3 };

/// Thread level that MPI provides. Local.
inline thread_level provided_thread_level() {
  return static_cast<thread_level>(detail::fetch<std::int32_t>(syncyte_thread_level));
}

/// Whether MPI accepts buffers in a kind of memory.
inline bool mpi_takes(syncyte_memory_t memory) { return detail::fetch<std::int32_t>(syncyte_mpi_takes, memory) != 0; }

/// Whether all ranks of a communicator got this thread's last error: this rank's number in it, otherwise -1. A program
/// that prints its errors may let rank 0 alone print such a one. Local; callable at any time.
inline std::int32_t agreed_rank() { return detail::fetch<std::int32_t>(syncyte_last_error_agreed); }

/// While it lives, waits of this thread that go on `seconds` after its construction throw
/// status::interrupted, as syncyte_wait_limit_set() says. One at a time.
class wait_limit {
 public:
  explicit wait_limit(double seconds) { check(syncyte_wait_limit_set(seconds)); }
  wait_limit(const wait_limit&) = delete;
  wait_limit& operator=(const wait_limit&) = delete;
  ~wait_limit() { static_cast<void>(syncyte_wait_limit_set(0.0)); }
};

/// Ends the whole job at once. Callable at any time, on any rank.
[[noreturn]] inline void abort(std::int32_t exit_code) { syncyte_abort(exit_code); }

/// Starts Syncyte, and ends it in the destructor: one object per program, in main(). Collective over MPI_COMM_WORLD.
/// If an exception destroys it, it does not call syncyte_finalize(), because the other ranks may never do so: catch the
/// exception, print it and call abort().
class environment {
 public:
  /// Initializes MPI with the given thread level, unless it is initialized already.
  explicit environment(thread_level wanted = thread_level::multiple) {
    const syncyte_init_options_t options{sizeof(options), detail::raw(wanted), 0};
    check(syncyte_init(&options));
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() {
    if (std::uncaught_exceptions() <= exceptions_) static_cast<void>(syncyte_finalize());
  }

 private:
  int exceptions_ = std::uncaught_exceptions();
};

/// Options of a new communicator.
struct comm_options {
  std::string name = {};                     ///< for messages; empty: made from the parent's name
  check_level check = check_level::inherit;  ///< inherit: the parent's; without a parent SYNCYTE_CHECK
};

/// Topology of a communicator: its ranks on nodes.
using topology = ::syncyte_topology_t;

/// A number that must be equal on all ranks, and its name for the message.
struct fact : syncyte_fact_t {
  fact(const char* called, std::int64_t number) noexcept : syncyte_fact_t{sizeof(syncyte_fact_t), called, number} {}
};
static_assert(sizeof(fact) == sizeof(syncyte_fact_t), "an array of facts is an array of the C interface");

namespace detail {

/// Makes a communicator with a C function whose last parameters are its options and its handle.
template <typename Make, typename... Arguments>
syncyte_comm_t new_comm(const comm_options& options, Make make, Arguments... arguments) {
  const syncyte_comm_options_t c_options{sizeof(c_options), null_if_empty(options.name), raw(options.check), 0};
  return fetch<syncyte_comm_t>(make, arguments..., &c_options);
}

}  // namespace detail

/// An ordered group of ranks. Move-only; retain() gives a second reference. Collective calls must be made by all its
/// ranks in the same order; all of them throw if one of them has a bad argument. Its methods that move data are in
/// collectives.hpp (bcast, allreduce, gather_along and the others) and in messages.hpp (send, recv and the others).
class communicator : public detail::messages {
 public:
  using detail::messages::messages;

  /// All ranks. Local.
  static communicator world() { return communicator(detail::fetch<syncyte_comm_t>(syncyte_comm_world)); }
  /// This rank alone. Local.
  static communicator self() { return communicator(detail::fetch<syncyte_comm_t>(syncyte_comm_self)); }

  /// A duplicate of a communicator given by its Fortran handle, which the caller keeps. Collective over it.
  static communicator from_fortran(std::int32_t fortran_handle, const comm_options& options = {}) {
    return communicator(detail::new_comm(options, syncyte_comm_from_fortran, fortran_handle));
  }

  /// Another reference to the same communicator. Local.
  communicator retain() const { return communicator(retained_handle()); }

  /// The MPI communicator of this one, as a Fortran handle; Syncyte owns it. Local.
  std::int32_t to_fortran() const { return detail::fetch<std::int32_t>(syncyte_comm_to_fortran, get()); }

  /// The topology: ranks on nodes. Local.
  topology nodes() const { return detail::fetch<topology>(syncyte_comm_topology, get()); }

  /// A duplicate. Collective.
  communicator dup(const comm_options& options = {}) const {
    return communicator(detail::new_comm(options, syncyte_comm_dup, get()));
  }

  /// Color of a rank that joins no part.
  static constexpr std::int32_t no_part = -1;

  /// Splits the communicator: ranks of the same color (0 or more) form a new one, ordered by key; with no_part this
  /// rank gets an empty one. Collective.
  communicator split(std::int32_t color, std::int32_t key = 0, const comm_options& options = {}) const {
    return communicator(detail::new_comm(options, syncyte_comm_split, get(), color, key));
  }

  /// Splits the communicator by program: ranks that pass the same name (by default: the program's file name) form a
  /// part. Collective.
  communicator split_program(const std::string& name = "", const comm_options& options = {}) const {
    return communicator(detail::new_comm(options, syncyte_comm_split_program, get(), detail::null_if_empty(name)));
  }

  /// The ranks that share memory with this one. Collective.
  communicator split_node(const comm_options& options = {}) const {
    return communicator(detail::new_comm(options, syncyte_comm_split_node, get()));
  }

  /// The first rank of each node, in the order of the nodes; the other ranks get an empty one. Collective.
  communicator split_leaders(const comm_options& options = {}) const {
    return communicator(detail::new_comm(options, syncyte_comm_split_leaders, get()));
  }

  /// Some ranks of this communicator, in the order of the list. Collective over these ranks: only they call it, all
  /// with the same list and tag (0 to 1023). It is freed at finalize: make it once and re-use it.
  communicator create_group(std::span<const std::int32_t> ranks, std::int32_t tag = 0,
                            const comm_options& options = {}) const {
    return communicator(
        detail::new_comm(options, syncyte_comm_create_group, get(), std::ssize(ranks), ranks.data(), tag));
  }

  /// A number that is equal on all ranks, and unique among communicators of this and other jobs. Local.
  std::int64_t id() const { return detail::fetch<std::int64_t>(syncyte_comm_id, get()); }

  /// Agreement: throws the same error on all ranks if facts differ or a rank passes an error. Collective.
  void agree(const char* operation, std::span<const fact> facts = {}) const {
    agree(status::success, operation, facts);
  }

  /// Agreement with this rank's own status; unless it is success, all ranks get this thread's last error. Collective.
  void agree(status own, const char* operation, std::span<const fact> facts = {}) const {
    check(syncyte_comm_agree(get(), detail::raw(own), operation, std::ssize(facts), facts.data()));
  }

  /// agree() for ranks that may arrive late because of long work, such as writing a file: the watchdog does not end the
  /// job for it. Collective.
  void agree_unlimited(status own, const char* operation, std::span<const fact> facts = {}) const {
    check(syncyte_comm_agree_unlimited(get(), detail::raw(own), operation, std::ssize(facts), facts.data()));
  }

  /// Frees objects that all ranks have dropped. Collective.
  void collect() const { check(syncyte_comm_collect(get())); }
  /// Returns when all ranks have called it. Collective.
  void barrier() const { check(syncyte_comm_barrier(get())); }
};

}  // namespace syncyte
