#include "syncyte/comm.h"

#include <fmt/format.h>
#include <mpi.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "collectives/collectives.hpp"
#include "comm/collective.hpp"
#include "comm/split.hpp"
#include "comm_table.hpp"
#include "guard.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/process.hpp"
#include "runtime/runtime.hpp"
#include "syncyte_mpi.h"
#include "watchdog/application_line.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::capi {

comm_table& comms() {
  static auto* const the_table = new comm_table("communicator");
  return *the_table;
}

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

constexpr std::intptr_t world_number = 0xC1, self_number = 0xC2;

std::intptr_t number_of(const comm::communicator& comm) {
  if (&comm == runtime::world().get()) return world_number;
  if (&comm == runtime::self().get()) return self_number;
  constexpr std::uint64_t tagged = std::uint64_t{1} << 62;  // next_handle_number() never reaches this
  return static_cast<std::intptr_t>(tagged | (comm.id() & (tagged - 1)));
}

/// A copy of the name that is never freed: the watchdog may read it after its owner has freed it.
const char* kept(const char* name) {
  static auto* const names = new std::unordered_set<std::string>;  // leaked
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return names->emplace(name).first->c_str();
}

void agree(syncyte_comm_t comm, syncyte_status_t status, const char* operation, std::int32_t count,
           const syncyte_fact_t* facts, bool is_patient) {
  const auto group = find_comm(comm);
  comm::collective_call call(*group, operation != nullptr ? kept(operation) : "comm_agree",
                             comm::collective_call::lifecycle);
  if (is_patient) call.be_patient();
  call.attempt([&] {
    base::expect(base::is_known_status(status), SYNCYTE_ERR_ARGUMENT, "status", status,
                 "SYNCYTE_SUCCESS (0) to SYNCYTE_ERR_INTERRUPTED (21)");
    if (status != SYNCYTE_SUCCESS) throw base::error(status, last_error_reason().what(), last_error_reason().fields());
    base::expect(operation != nullptr, SYNCYTE_ERR_ARGUMENT, "operation", "null", "a name");
    base::expect(count >= 0 && count <= 32, SYNCYTE_ERR_ARGUMENT, "count", count, "0 to 32");
    base::expect(facts != nullptr || count == 0, SYNCYTE_ERR_ARGUMENT, "facts", "null", "{} facts", count);
    for (int32_t i = 0; i < count; ++i)
      call.fact(facts[i].name != nullptr ? facts[i].name : "a fact without a name", facts[i].value);
  });
  call.agree();
}

}  // namespace

syncyte_comm_t handle_of(std::shared_ptr<comm::communicator> comm) {
  if (!comm) return nullptr;
  const std::intptr_t number = number_of(*comm);
  return comms().insert_as(number, std::move(comm));
}

}  // namespace syncyte::capi

using namespace syncyte;
using capi::comms;
using capi::find_comm;
using capi::forks_too;
using capi::guarded;
using capi::handle_of;
using capi::looked_up;
using capi::out;
using capi::started;

extern "C" {

syncyte_status_t syncyte_init(const syncyte_init_options_t* options) {
  return guarded("init", [&] {
    if (mpi::is_forked_child()) return;
    syncyte_init_options_t chosen SYNCYTE_INIT_OPTIONS_INIT;
    const auto error = capi::error_of([&] { chosen = capi::options_or(options, chosen); });
    runtime::start(chosen.thread_level, error);
    capi::tag_handle_numbers(runtime::world()->id());
    capi::open_trace_file();
  });
}

syncyte_status_t syncyte_finalize(void) {
  return guarded("finalize", [] {
    if (mpi::is_forked_child()) return;
    runtime::finish();
    capi::close_trace_file();
  });
}

syncyte_status_t syncyte_watchdog_line_set(syncyte_line_fn_t hook, void* context) {
  return guarded("watchdog_line_set", [&] { watchdog::set_line_function(hook, context); });
}

syncyte_status_t syncyte_interrupt_set(syncyte_interrupt_fn_t hook, void* context) {
  return guarded("interrupt_set", [&] { watchdog::set_interrupt_function(hook, context); });
}

void syncyte_abort(int32_t exit_code) { mpi::abort_job(exit_code >= 1 && exit_code <= 255 ? exit_code : 1); }

syncyte_status_t syncyte_initialized(int32_t* flag) {
  return guarded("initialized", [&] { out(flag, "flag") = mpi::is_started() || mpi::is_forked_child(); });
}

syncyte_status_t syncyte_thread_level(int32_t* level) {
  return looked_up<capi::callers::ranks>("thread_level", [&] { out(level, "level") = mpi::thread_level(); });
}

syncyte_status_t syncyte_mpi_takes(syncyte_memory_t memory, int32_t* flag) {
  return looked_up<capi::callers::ranks>("mpi_takes", [&] { out(flag, "flag") = mpi::takes(memory) ? 1 : 0; });
}

syncyte_status_t syncyte_comm_world(syncyte_comm_t* comm) {
  return looked_up("comm_world", [&] { out(comm, "comm") = handle_of(runtime::world()); });
}

syncyte_status_t syncyte_comm_self(syncyte_comm_t* comm) {
  return looked_up("comm_self", [&] { out(comm, "comm") = handle_of(runtime::self()); });
}

syncyte_status_t syncyte_comm_from_mpi(MPI_Comm mpi_comm, const syncyte_comm_options_t* options, syncyte_comm_t* comm) {
  return started("comm_from_mpi", [&] {
    auto made = runtime::adopt(mpi_comm, capi::comm_options(options, comm, "comm"));
    *comm = handle_of(std::move(made));
  });
}

syncyte_status_t syncyte_comm_from_fortran(int32_t fortran_handle, const syncyte_comm_options_t* options,
                                           syncyte_comm_t* comm) {
  return started("comm_from_fortran", [&] {
    auto made = runtime::adopt(MPI_Comm_f2c(fortran_handle), capi::comm_options(options, comm, "comm"),
                               fmt::format("fortran_handle is {},", fortran_handle));
    *comm = handle_of(std::move(made));
  });
}

syncyte_status_t syncyte_comm_to_fortran(syncyte_comm_t comm, int32_t* fortran_handle) {
  return looked_up<capi::callers::ranks>(
      "comm_to_fortran", [&] { out(fortran_handle, "fortran_handle") = MPI_Comm_c2f(find_comm(comm)->data()); });
}

syncyte_status_t syncyte_comm_dup(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                  syncyte_comm_t* duplicate) {
  return started("comm_dup", [&] {
    auto made = comm::duplicate(*find_comm(comm), capi::comm_options(options, duplicate, "duplicate"));
    *duplicate = handle_of(std::move(made));
  });
}

syncyte_status_t syncyte_comm_split(syncyte_comm_t comm, int32_t color, int32_t key,
                                    const syncyte_comm_options_t* options, syncyte_comm_t* part) {
  return started("comm_split", [&] {
    const int mpi_color = color == -1 ? MPI_UNDEFINED : color;
    *part = handle_of(comm::split(*find_comm(comm), mpi_color, key, capi::comm_options(options, part, "part")));
  });
}

syncyte_status_t syncyte_comm_split_program(syncyte_comm_t comm, const char* name,
                                            const syncyte_comm_options_t* options, syncyte_comm_t* part) {
  return started("comm_split_program", [&] {
    const std::string program = name != nullptr ? name : program_invocation_short_name;
    *part = handle_of(comm::split_program(*find_comm(comm), program, capi::comm_options(options, part, "part")));
  });
}

syncyte_status_t syncyte_comm_node(syncyte_comm_t comm, const syncyte_comm_options_t* options, syncyte_comm_t* node) {
  return started("comm_node", [&] {
    *node = handle_of(comm::split_node(*find_comm(comm), capi::comm_options(options, node, "node")));
  });
}

syncyte_status_t syncyte_comm_leaders(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                      syncyte_comm_t* leaders) {
  return started("comm_leaders", [&] {
    *leaders = handle_of(comm::split_leaders(*find_comm(comm), capi::comm_options(options, leaders, "leaders")));
  });
}

syncyte_status_t syncyte_comm_group(syncyte_comm_t comm, const int32_t* ranks, int64_t count, int32_t tag,
                                    const syncyte_comm_options_t* options, syncyte_comm_t* group) {
  return started("comm_group", [&] {
    if (ranks == nullptr)
      base::refuse(SYNCYTE_ERR_ARGUMENT, {.argument = "ranks", .value = "null", .expected = "a list of ranks"});
    if (count < 1 || count > INT32_MAX)
      base::refuse(SYNCYTE_ERR_ARGUMENT,
                   {.argument = "count", .value = fmt::to_string(count), .expected = "1 to 2^31 - 1"});
    const std::span list(ranks, static_cast<std::size_t>(count));
    *group = handle_of(runtime::group(*find_comm(comm), list, tag, capi::comm_options(options, group, "group")));
  });
}

syncyte_status_t syncyte_comm_topology(syncyte_comm_t comm, syncyte_topology_t* topology) {
  return looked_up("comm_topology", [&] {
    const auto size = out(topology, "topology").struct_size;
    base::expect(size == sizeof *topology, SYNCYTE_ERR_ARGUMENT, "topology->struct_size", size, "{}", sizeof *topology);
    const topology::node_group& node = find_comm(comm)->node();
    *topology = {size, node.count, node.index, node.size, node.rank};
  });
}

syncyte_status_t syncyte_comm_rank(syncyte_comm_t comm, int32_t* rank) {
  return looked_up("comm_rank", [&] { out(rank, "rank") = find_comm(comm)->rank(); });
}

syncyte_status_t syncyte_comm_size(syncyte_comm_t comm, int32_t* size) {
  return looked_up("comm_size", [&] { out(size, "size") = find_comm(comm)->size(); });
}

syncyte_status_t syncyte_comm_check_level(syncyte_comm_t comm, int32_t* level) {
  return looked_up("comm_check_level", [&] { out(level, "level") = static_cast<int32_t>(find_comm(comm)->check()); });
}

syncyte_status_t syncyte_comm_sequence(syncyte_comm_t comm, int64_t* number) {
  return looked_up("comm_sequence", [&] { out(number, "number") = static_cast<int64_t>(find_comm(comm)->sequence()); });
}

syncyte_status_t syncyte_comm_id(syncyte_comm_t comm, int64_t* id) {
  return looked_up("comm_id", [&] { out(id, "id") = static_cast<int64_t>(find_comm(comm)->id()); });
}

syncyte_status_t syncyte_comm_retain(syncyte_comm_t comm) {
  return guarded("comm_retain", [&] { comms().retain(comm, "comm"); });
}

syncyte_status_t syncyte_comm_release(syncyte_comm_t comm) {
  return guarded("comm_release", [&] { comms().release(comm, "comm"); });
}

syncyte_status_t syncyte_comm_destroy(syncyte_comm_t* comm) {
  return guarded("comm_destroy", [&] { comms().destroy(comm, "comm"); });
}

syncyte_status_t syncyte_comm_agree(syncyte_comm_t comm, syncyte_status_t status, const char* operation, int32_t count,
                                    const syncyte_fact_t* facts) {
  return started<forks_too>("comm_agree", [&] { capi::agree(comm, status, operation, count, facts, false); });
}

syncyte_status_t syncyte_comm_agree_patiently(syncyte_comm_t comm, syncyte_status_t status, const char* operation,
                                              int32_t count, const syncyte_fact_t* facts) {
  return started<forks_too>("comm_agree_patiently", [&] { capi::agree(comm, status, operation, count, facts, true); });
}

syncyte_status_t syncyte_collect(syncyte_comm_t comm) {
  return started("collect", [&] {
    const auto group = find_comm(comm);
    comm::collective_call(*group, "collect", comm::collective_call::lifecycle).agree();
  });
}

syncyte_status_t syncyte_comm_barrier(syncyte_comm_t comm) {
  return started<forks_too>("comm_barrier", [&] { collectives::barrier(*find_comm(comm)); });
}
}
