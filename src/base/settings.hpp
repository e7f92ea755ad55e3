// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

namespace syncyte::base {

/// An environment variable of Syncyte. docs/environment.md has the table; a test compares it with this file.
struct setting {
  enum class kind { choice, seconds, bytes, numbers, text };

  const char* name;
  kind type = kind::text;
  std::array<const char*, 5> choices = {};  ///< of a choice; the rest is null
  double least = 0;                         ///< of seconds
  const char* otherwise = "";               ///< the value if the variable is unset, or how its reader chooses one
  const char* meaning = "";
};

/// A setting whose choices are the names of the enum's values, in their order.
template <class Choice>
struct choice_setting : setting {};

/// All environment variables that the libraries read, but for UCX's own (fabric/ucx).
namespace settings {

using choice_list = std::array<const char*, 5>;

enum class toggle { off, on };
enum class check_level { off, on, full };  // the numbers of the C interface, which ranks compare
enum class stuck_action { abort, report };
enum class log_level { off, error, warn, info, debug };
enum class sharing { proc, socket, shm, none };
enum class fabric_use { on, off, start };

template <class Choice>
constexpr choice_setting<Choice> a_choice(const char* name, choice_list choices, const char* otherwise,
                                          const char* meaning) {
  return {{name, setting::kind::choice, choices, 0, otherwise, meaning}};
}
constexpr setting a_seconds(const char* name, double least, const char* otherwise, const char* meaning) {
  return {name, setting::kind::seconds, {}, least, otherwise, meaning};
}
constexpr setting a_bytes(const char* name, const char* otherwise, const char* meaning) {
  return {name, setting::kind::bytes, {}, 0, otherwise, meaning};
}
constexpr setting a_numbers(const char* name, const char* otherwise, const char* meaning) {
  return {name, setting::kind::numbers, {}, 0, otherwise, meaning};
}
constexpr setting a_text(const char* name, const char* otherwise, const char* meaning) {
  return {name, setting::kind::text, {}, 0, otherwise, meaning};
}

inline constexpr auto check =
    a_choice<check_level>("SYNCYTE_CHECK", {"off", "on", "full"}, "on",
                          "how much of a collective's arguments the ranks compare before data moves");
inline constexpr setting watchdog =
    a_seconds("SYNCYTE_WATCHDOG", 0, "60",
              "time in one collective or wait after which a stuck rank ends the job, or is only reported if the "
              "variable is unset; 0: no watchdog");
inline constexpr auto watchdog_action =
    a_choice<stuck_action>("SYNCYTE_WATCHDOG_ACTION", {"abort", "report"}, "abort",
                           "whether a stuck job is ended or only reported, if SYNCYTE_WATCHDOG is set");
inline constexpr auto log = a_choice<log_level>("SYNCYTE_LOG", {"off", "error", "warn", "info", "debug"}, "warn",
                                                "least severity of lines on stderr");
inline constexpr setting trace =
    a_text("SYNCYTE_TRACE", "no trace", "a folder, where every rank writes rank-N.json with the times of its calls");
inline constexpr auto shm =
    a_choice<sharing>("SYNCYTE_SHM", {"proc", "socket", "shm", "none"}, "the first that works",
                      "how the ranks of a node share memory; none: every rank is a node of its own");
inline constexpr auto huge_pages = a_choice<toggle>("SYNCYTE_HUGE_PAGES", {"off", "on"}, "on",
                                                    "2 MiB pages for whole tensors, if the kernel has free ones");
inline constexpr std::size_t pool_part = 16;  // of the memory
inline constexpr setting pool_limit =
    a_bytes("SYNCYTE_POOL_LIMIT", "a 16th of the memory",
            "most bytes of freed buffers that are kept for re-use, of host memory and of each device");
inline constexpr auto cuda_aware = a_choice<toggle>("SYNCYTE_CUDA_AWARE", {"off", "on"}, "as the MPI library reports",
                                                    "whether MPI accepts memory of CUDA devices");
inline constexpr auto fabric = a_choice<fabric_use>("SYNCYTE_FABRIC", {"on", "off", "start"}, "on",
                                                    "requests between nodes; start: opened in syncyte_init");
inline constexpr auto store_moves =
    a_choice<toggle>("SYNCYTE_STORE_MOVES", {"off", "on"}, "on",
                     "whether keys of a store move to the nodes that use them; off on one rank: nowhere");
inline constexpr setting store_trace =
    a_numbers("SYNCYTE_STORE_TRACE", "no key",
              "keys of stores; each message that moves one of them is written to stderr, whatever SYNCYTE_LOG is");
inline constexpr setting fabric_deadline =
    a_seconds("SYNCYTE_FABRIC_DEADLINE", 0.1, "8", "silence after which a process of another node is dead");
inline constexpr setting cache_name = a_text("SYNCYTE_CACHE", "cache", "name of the socket that passes a shared cache");
inline constexpr setting cache_folder =
    a_text("SYNCYTE_CACHE_FOLDER", "$XDG_RUNTIME_DIR/syncyte, or $TMPDIR/syncyte-UID", "folder of that socket");
inline constexpr setting cache_timeout =
    a_seconds("SYNCYTE_CACHE_TIMEOUT", 0, "10", "time to wait for the other process");
inline constexpr setting cache_parameter_bytes = a_bytes("SYNCYTE_CACHE_PARAMETER_BYTES", "1G",
                                                         "size of a shared cache's part for parameters; unset, "
                                                         "it is less if memory is short");
inline constexpr setting cache_computation_bytes =
    a_bytes("SYNCYTE_CACHE_COMPUTATION_BYTES", "1G",
            "size of a shared cache's part for computation; unset, it is less if memory is short");
inline constexpr setting cache_device_bytes = a_bytes("SYNCYTE_CACHE_DEVICE_BYTES", "no limit",
                                                      "most bytes of a shared cache on a device: default sizes are "
                                                      "scaled down to it, larger chosen ones are an error");
inline constexpr std::size_t cache_model_part = 2;  // of the memory
inline constexpr setting cache_model_bytes =
    a_bytes("SYNCYTE_CACHE_MODEL_BYTES", "a half of the memory", "most bytes of the models that a process serves");
inline constexpr setting cache_device_model_bytes =
    a_bytes("SYNCYTE_CACHE_DEVICE_MODEL_BYTES", "a half of its memory", "most bytes of these models on each device");

inline constexpr std::array<const setting*, 21> all{&check,
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
                                                    &store_moves,
                                                    &store_trace,
                                                    &cache_name,
                                                    &cache_folder,
                                                    &cache_timeout,
                                                    &cache_parameter_bytes,
                                                    &cache_computation_bytes,
                                                    &cache_device_bytes,
                                                    &cache_model_bytes,
                                                    &cache_device_model_bytes};

}  // namespace settings
}  // namespace syncyte::base
