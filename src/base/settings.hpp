#pragma once

#include <array>

namespace syncyte::base {

/// An environment variable of Syncyte. docs/environment.md has the table; a test compares it with this file.
struct setting {
  enum class kind { choice, seconds, bytes, text };

  const char* name;
  kind type = kind::text;
  std::array<const char*, 5> choices = {};  ///< of a choice; the rest is null
  double least = 0;                         ///< of seconds
  const char* otherwise = "";               ///< what holds if the variable is unset
  const char* meaning = "";
};

/// All environment variables that the libraries read, but for UCX's own (fabric/ucx).
namespace settings {

using enum setting::kind;

inline constexpr setting check{.name = "SYNCYTE_CHECK",
                               .type = choice,
                               .choices = {"off", "on", "full"},
                               .otherwise = "on",
                               .meaning = "how much of a collective's arguments the ranks compare before data moves"};
inline constexpr setting watchdog{
    .name = "SYNCYTE_WATCHDOG",
    .type = seconds,
    .otherwise = "60, and stuck ranks are only reported",
    .meaning = "time in one collective or wait after which a stuck rank ends the job; 0: no watchdog"};
inline constexpr setting watchdog_action{
    .name = "SYNCYTE_WATCHDOG_ACTION",
    .type = choice,
    .choices = {"abort", "report"},
    .otherwise = "abort",
    .meaning = "whether a stuck job is ended or only reported, if SYNCYTE_WATCHDOG is set"};
inline constexpr setting log{.name = "SYNCYTE_LOG",
                             .type = choice,
                             .choices = {"off", "error", "warn", "info", "debug"},
                             .otherwise = "warn",
                             .meaning = "least severity of lines on stderr"};
inline constexpr setting trace{.name = "SYNCYTE_TRACE",
                               .otherwise = "no trace",
                               .meaning = "a folder, where every rank writes rank-N.json with the times of its calls"};
inline constexpr setting shm{.name = "SYNCYTE_SHM",
                             .type = choice,
                             .choices = {"proc", "socket", "shm", "none"},
                             .otherwise = "the first that works",
                             .meaning = "how the ranks of a node share memory; none: every rank is a node of its own"};
inline constexpr setting huge_pages{.name = "SYNCYTE_HUGE_PAGES",
                                    .type = choice,
                                    .choices = {"on", "off"},
                                    .otherwise = "on",
                                    .meaning = "2 MiB pages for whole tensors, if the kernel has free ones"};
inline constexpr setting pool_limit{.name = "SYNCYTE_POOL_LIMIT",
                                    .type = bytes,
                                    .otherwise = "a 16th of the memory",
                                    .meaning = "most bytes of freed buffers that are kept for re-use"};
inline constexpr setting cuda_aware{.name = "SYNCYTE_CUDA_AWARE",
                                    .type = choice,
                                    .choices = {"off", "on"},
                                    .otherwise = "as the MPI library reports",
                                    .meaning = "whether MPI accepts memory of CUDA devices"};
inline constexpr setting fabric{.name = "SYNCYTE_FABRIC",
                                .type = choice,
                                .choices = {"on", "off", "start"},
                                .otherwise = "on",
                                .meaning = "requests between nodes; start: opened in syncyte_init"};
inline constexpr setting fabric_deadline{.name = "SYNCYTE_FABRIC_DEADLINE",
                                         .type = seconds,
                                         .least = 0.1,
                                         .otherwise = "8",
                                         .meaning = "silence after which a process of another node is dead"};
inline constexpr setting cache_name{
    .name = "SYNCYTE_CACHE", .otherwise = "cache", .meaning = "name of the socket that passes a shared cache"};
inline constexpr setting cache_folder{.name = "SYNCYTE_CACHE_FOLDER",
                                      .otherwise = "$XDG_RUNTIME_DIR/syncyte, or $TMPDIR/syncyte-UID",
                                      .meaning = "folder of that socket"};
inline constexpr setting cache_timeout{.name = "SYNCYTE_CACHE_TIMEOUT",
                                       .type = seconds,
                                       .otherwise = "10",
                                       .meaning = "time to wait for the other process"};
inline constexpr setting cache_parameter_bytes{.name = "SYNCYTE_CACHE_PARAMETER_BYTES",
                                               .type = bytes,
                                               .otherwise = "1 GiB, less if memory is short",
                                               .meaning = "size of a shared cache's part for parameters"};
inline constexpr setting cache_computation_bytes{.name = "SYNCYTE_CACHE_COMPUTATION_BYTES",
                                                 .type = bytes,
                                                 .otherwise = "1 GiB, less if memory is short",
                                                 .meaning = "size of a shared cache's part for computation"};

inline constexpr std::array all{&check,
                                &watchdog,
                                &watchdog_action,
                                &log,
                                &trace,
                                &shm,
                                &huge_pages,
                                &pool_limit,
                                &cuda_aware,
                                &fabric,
                                &fabric_deadline,
                                &cache_name,
                                &cache_folder,
                                &cache_timeout,
                                &cache_parameter_bytes,
                                &cache_computation_bytes};

}  // namespace settings
}  // namespace syncyte::base
