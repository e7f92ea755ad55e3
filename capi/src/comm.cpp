// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/comm.h"

#include <fmt/format.h>
#include <mpi.h>

#include <cerrno>
#include <span>
#include <string>
#include <utility>

#include "collectives/collectives.hpp"
#include "collectives/started_collective.hpp"
#include "comm/collective_call.hpp"
#include "comm/split.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"
#include "library_operation.hpp"
#include "lifecycle/lifecycle.hpp"
#include "mpi/communicators.hpp"
#include "mpi/deaths.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/process.hpp"
#include "runtime/roots.hpp"
#include "syncyte/nonblocking.h"
#include "syncyte_mpi.h"
#include "watchdog/application_line.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::capi {

comm::communicator_options comm_options(const syncyte_comm_options_t* given, const syncyte_comm_t* result,
                                        const char* argument) {
  comm::communicator_options options;
  options.error = error_of([&] {
    out(result, argument);
    const auto chosen = options_or(given, syncyte_comm_options_t SYNCYTE_COMM_OPTIONS_INIT);
    options.name = chosen.name != nullptr ? chosen.name : "";
    options.check = chosen.check;
  });
  return options;
}

namespace {

/// This thread's last error with another status, for an agreement to pass on.
base::error last_error_with(syncyte_status_t status) {
  const base::error& reason = last_error().reason;
  return {status, reason.what(), reason.fields()};
}

void agree(syncyte_comm_t comm, syncyte_status_t status, const char* operation, std::int64_t count,
           const syncyte_fact_t* given, bool is_unlimited) {
  const auto group = find_comm(comm);
  comm::collective_call call(*group, operation != nullptr ? kept(operation) : "comm_agree",
                             comm::collective_call::always_agrees);
  if (is_unlimited) call.lift_time_limit();
  call.attempt([&] {
    base::expect_known<base::known::status>(status, "status");
    if (status != SYNCYTE_SUCCESS) throw last_error_with(status);
    base::expect(operation != nullptr, SYNCYTE_ERR_ARGUMENT, "operation", "null", "a name");
    base::expect(count >= 0 && count <= 32, SYNCYTE_ERR_ARGUMENT, "count", count, "0 to 32");
    base::expect(given != nullptr || count == 0, SYNCYTE_ERR_ARGUMENT, "facts", "null", "{} facts", count);
    const base::struct_array facts(count, given, "facts");
    for (std::int64_t i = 0; i < count; ++i) {
      const syncyte_fact_t fact = facts[i];
      call.fact(fact.name != nullptr ? fact.name : "a fact without a name", fact.value);
    }
  });
  call.agree();
}

}  // namespace

syncyte_comm_t handle_of(std::shared_ptr<comm::communicator> comm) {
  if (!comm) return nullptr;
  constexpr std::uint64_t tagged = std::uint64_t{1} << 62;  // next_handle_number() never reaches this
  const std::uint64_t number = comm == runtime::world()  ? 0xC1
                               : comm == runtime::self() ? 0xC2
                                                         : tagged | (comm->id() & (tagged - 1));
  return tables::comm().insert_as(static_cast<std::intptr_t>(number), std::move(comm));
}

}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_init_abi(const syncyte_init_options_t* options, int32_t abi) {
  return guarded("init", [&] {
    if (mpi::is_forked_child()) return;
    syncyte_init_options_t chosen SYNCYTE_INIT_OPTIONS_INIT;
    const auto error = error_of([&] {
      base::require(
          abi == SYNCYTE_ABI_VERSION, SYNCYTE_ERR_VERSION,
          "the program was compiled for the binary interface {} of Syncyte, but the library's is {}: compile it with "
          "this library's headers",
          abi, SYNCYTE_ABI_VERSION);
      chosen = options_or(options, chosen);
    });
    lifecycle::start(chosen.thread_level, error, end_library_operations);
    tag_handle_numbers(runtime::world()->id());
    open_trace_file();
  });
}

syncyte_status_t syncyte_finalize(void) {
  return guarded("finalize", [] {
    if (mpi::is_forked_child()) return;
    lifecycle::finish();
    close_trace_file();
  });
}

syncyte_status_t syncyte_watchdog_line_set(syncyte_line_fn_t hook, void* context) {
  return guarded("watchdog_line_set", [&] { watchdog::set_line_function(hook, context); });
}

syncyte_status_t syncyte_interrupt_set(syncyte_interrupt_fn_t hook, void* context) {
  return guarded("interrupt_set", [&] { watchdog::set_interrupt_function(hook, context); });
}

syncyte_status_t syncyte_wait_limit_set(double seconds) {
  return guarded("wait_limit_set", [&] { watchdog::set_wait_limit(seconds); });
}

void syncyte_abort(int32_t exit_code) { mpi::abort_job(exit_code >= 1 && exit_code <= 255 ? exit_code : 1); }

syncyte_status_t syncyte_initialized(int32_t* flag) {
  return guarded("initialized", [&] { out(flag, "flag") = mpi::is_started() || mpi::is_forked_child(); });
}

syncyte_status_t syncyte_death_known(int32_t* flag) {
  return guarded("death_known", [&] { out(flag, "flag") = mpi::knows_death() ? 1 : 0; });
}

syncyte_status_t syncyte_thread_level(int32_t* level) {
  return lookup_after_init<callers::ranks>("thread_level", [&] { out(level, "level") = mpi::thread_level(); });
}

syncyte_status_t syncyte_mpi_takes(syncyte_memory_t memory, int32_t* flag) {
  return lookup_after_init<callers::ranks>("mpi_takes", [&] { out(flag, "flag") = mpi::takes(memory) ? 1 : 0; });
}

syncyte_status_t syncyte_comm_world(syncyte_comm_t* comm) {
  return lookup_after_init("comm_world", [&] { out(comm, "comm") = handle_of(runtime::world()); });
}

syncyte_status_t syncyte_comm_self(syncyte_comm_t* comm) {
  return lookup_after_init("comm_self", [&] { out(comm, "comm") = handle_of(runtime::self()); });
}

syncyte_status_t syncyte_comm_from_mpi(MPI_Comm mpi_comm, const syncyte_comm_options_t* options, syncyte_comm_t* comm) {
  return after_init("comm_from_mpi",
                    [&] { *comm = handle_of(runtime::adopt(mpi_comm, comm_options(options, comm, "comm"))); });
}

syncyte_status_t syncyte_comm_from_fortran(int32_t fortran_handle, const syncyte_comm_options_t* options,
                                           syncyte_comm_t* comm) {
  return after_init("comm_from_fortran", [&] {
    *comm = handle_of(runtime::adopt(mpi::from_fortran(fortran_handle), comm_options(options, comm, "comm"),
                                     fmt::format("fortran_handle is {},", fortran_handle)));
  });
}

syncyte_status_t syncyte_comm_to_fortran(syncyte_comm_t comm, int32_t* fortran_handle) {
  return lookup_after_init<callers::ranks>(
      "comm_to_fortran", [&] { out(fortran_handle, "fortran_handle") = mpi::to_fortran(find_comm(comm)->data()); });
}

syncyte_status_t syncyte_comm_dup(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                  syncyte_comm_t* duplicate) {
  return after_init("comm_dup", [&] {
    *duplicate = handle_of(comm::duplicate(*find_comm(comm), comm_options(options, duplicate, "duplicate")));
  });
}

syncyte_status_t syncyte_comm_split(syncyte_comm_t comm, int32_t color, int32_t key,
                                    const syncyte_comm_options_t* options, syncyte_comm_t* part) {
  return after_init("comm_split", [&] {
    const int mpi_color = color == -1 ? MPI_UNDEFINED : color;
    *part = handle_of(comm::split(*find_comm(comm), mpi_color, key, comm_options(options, part, "part")));
  });
}

syncyte_status_t syncyte_comm_split_program(syncyte_comm_t comm, const char* name,
                                            const syncyte_comm_options_t* options, syncyte_comm_t* part) {
  return after_init("comm_split_program", [&] {
    const std::string program = name != nullptr ? name : program_invocation_short_name;
    *part = handle_of(comm::split_program(*find_comm(comm), program, comm_options(options, part, "part")));
  });
}

syncyte_status_t syncyte_comm_split_node(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                         syncyte_comm_t* node) {
  return after_init("comm_split_node", [&] {
    *node = handle_of(comm::split_node(*find_comm(comm), comm_options(options, node, "node")));
  });
}

syncyte_status_t syncyte_comm_split_leaders(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                            syncyte_comm_t* leaders) {
  return after_init("comm_split_leaders", [&] {
    *leaders = handle_of(comm::split_leaders(*find_comm(comm), comm_options(options, leaders, "leaders")));
  });
}

syncyte_status_t syncyte_comm_create_group(syncyte_comm_t comm, int64_t count, const int32_t* ranks, int32_t tag,
                                           const syncyte_comm_options_t* options, syncyte_comm_t* group) {
  return after_init("comm_create_group", [&] {
    base::expect(ranks != nullptr, SYNCYTE_ERR_ARGUMENT, "ranks", "null", "a list of ranks");
    base::expect(count >= 1 && count <= INT32_MAX, SYNCYTE_ERR_ARGUMENT, "count", count, "1 to 2^31 - 1");
    const std::span list(ranks, static_cast<std::size_t>(count));
    *group = handle_of(runtime::group(*find_comm(comm), list, tag, comm_options(options, group, "group")));
  });
}

syncyte_status_t syncyte_comm_topology(syncyte_comm_t comm, syncyte_topology_t* topology) {
  return lookup_after_init("comm_topology", [&] {
    const topology::node_group& node = find_comm(comm)->node();
    base::fill_struct(topology, "topology", {sizeof *topology, node.count, node.index, node.size, node.rank});
  });
}

syncyte_status_t syncyte_comm_check_level(syncyte_comm_t comm, int32_t* level) {
  return lookup_after_init("comm_check_level",
                           [&] { out(level, "level") = static_cast<int32_t>(find_comm(comm)->check()); });
}

syncyte_status_t syncyte_comm_barrier(syncyte_comm_t comm) {
  return after_init<forks_too>("comm_barrier", [&] { collectives::barrier(*find_comm(comm)); });
}

syncyte_status_t syncyte_comm_agree(syncyte_comm_t comm, syncyte_status_t status, const char* operation, int64_t count,
                                    const syncyte_fact_t* facts) {
  return after_init<forks_too>("comm_agree", [&] { agree(comm, status, operation, count, facts, false); });
}

syncyte_status_t syncyte_comm_agree_unlimited(syncyte_comm_t comm, syncyte_status_t status, const char* operation,
                                              int64_t count, const syncyte_fact_t* facts) {
  return after_init<forks_too>("comm_agree_unlimited", [&] { agree(comm, status, operation, count, facts, true); });
}

syncyte_status_t syncyte_comm_collect(syncyte_comm_t comm) {
  return after_init("comm_collect", [&] {
    const auto group = find_comm(comm);
    comm::collective_call(*group, "comm_collect", comm::collective_call::always_agrees).agree();
  });
}

syncyte_status_t syncyte_comm_ifail(syncyte_comm_t comm, syncyte_status_t status, const char* operation) {
  return after_init("comm_ifail", [&] {
    base::expect(operation != nullptr, SYNCYTE_ERR_ARGUMENT, "operation", "null", "a name");
    base::expect(status != SYNCYTE_SUCCESS, SYNCYTE_ERR_ARGUMENT, "status", base::status_name(status), "an error");
    const auto group = find_comm(comm);
    if (group->check() != comm::check_level::off)
      collectives::fail_collective(group, kept(operation), last_error_with(status));
  });
}
}
