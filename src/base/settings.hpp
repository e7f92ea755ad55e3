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

using choice_list = std::array<const char*, 5>;

constexpr setting a_choice(const char* name, choice_list choices, const char* otherwise, const char* meaning) {
  return {name, setting::kind::choice, choices, 0, otherwise, meaning};
}
constexpr setting a_seconds(const char* name, double least, const char* otherwise, const char* meaning) {
  return {name, setting::kind::seconds, {}, least, otherwise, meaning};
}
constexpr setting a_bytes(const char* name, const char* otherwise, const char* meaning) {
  return {name, setting::kind::bytes, {}, 0, otherwise, meaning};
}
constexpr setting a_text(const char* name, const char* otherwise, const char* meaning) {
  return {name, setting::kind::text, {}, 0, otherwise, meaning};
}

inline constexpr setting check = a_choice("SYNCYTE_CHECK", {"off", "on", "full"}, "on",
                                          "how much of a collective's arguments the ranks compare before data moves");
inline constexpr setting watchdog =
    a_seconds("SYNCYTE_WATCHDOG", 0, "60, and stuck ranks are only reported",
              "time in one collective or wait after which a stuck rank ends the job; 0: no watchdog");
inline constexpr setting watchdog_action =
    a_choice("SYNCYTE_WATCHDOG_ACTION", {"abort", "report"}, "abort",
             "whether a stuck job is ended or only reported, if SYNCYTE_WATCHDOG is set");
inline constexpr setting log =
    a_choice("SYNCYTE_LOG", {"off", "error", "warn", "info", "debug"}, "warn", "least severity of lines on stderr");
inline constexpr setting trace =
    a_text("SYNCYTE_TRACE", "no trace", "a folder, where every rank writes rank-N.json with the times of its calls");
inline constexpr setting shm = a_choice("SYNCYTE_SHM", {"proc", "socket", "shm", "none"}, "the first that works",
                                        "how the ranks of a node share memory; none: every rank is a node of its own");
inline constexpr setting huge_pages =
    a_choice("SYNCYTE_HUGE_PAGES", {"on", "off"}, "on", "2 MiB pages for whole tensors, if the kernel has free ones");
inline constexpr setting pool_limit =
    a_bytes("SYNCYTE_POOL_LIMIT", "a 16th of the memory", "most bytes of freed buffers that are kept for re-use");
inline constexpr setting cuda_aware = a_choice("SYNCYTE_CUDA_AWARE", {"off", "on"}, "as the MPI library reports",
                                               "whether MPI accepts memory of CUDA devices");
inline constexpr setting fabric =
    a_choice("SYNCYTE_FABRIC", {"on", "off", "start"}, "on", "requests between nodes; start: opened in syncyte_init");
inline constexpr setting fabric_deadline =
    a_seconds("SYNCYTE_FABRIC_DEADLINE", 0.1, "8", "silence after which a process of another node is dead");
inline constexpr setting cache_name = a_text("SYNCYTE_CACHE", "cache", "name of the socket that passes a shared cache");
inline constexpr setting cache_folder =
    a_text("SYNCYTE_CACHE_FOLDER", "$XDG_RUNTIME_DIR/syncyte, or $TMPDIR/syncyte-UID", "folder of that socket");
inline constexpr setting cache_timeout =
    a_seconds("SYNCYTE_CACHE_TIMEOUT", 0, "10", "time to wait for the other process");
inline constexpr setting cache_parameter_bytes = a_bytes(
    "SYNCYTE_CACHE_PARAMETER_BYTES", "1 GiB, less if memory is short", "size of a shared cache's part for parameters");
inline constexpr setting cache_computation_bytes =
    a_bytes("SYNCYTE_CACHE_COMPUTATION_BYTES", "1 GiB, less if memory is short",
            "size of a shared cache's part for computation");

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
