// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/context.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "fabric/ucx/descriptors.hpp"
#include "fabric/ucx/log_lines.hpp"
#include "fabric/ucx/memory_hooks.hpp"

namespace syncyte::fabric::ucx {
namespace {

/// Bounds of UCX's interval of keepalive messages, in seconds.
constexpr double least_interval = 1e-3, most_interval = 1e9;

struct release {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
};

release loaded_release() {
  release loaded;
  ucp_get_version(&loaded.major, &loaded.minor, &loaded.patch);
  return loaded;
}

/// Whether ucp_config_modify() wants the name of the transport in the names of its settings.
bool knows_prefixes() { return loaded_release().minor >= 17; }

/// Whether several threads may have a worker each; without, UCX does not protect what its workers share.
bool serves_threads() {
  ucp_lib_attr_t library = {};
  library.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
  check("asking for the level of threads", ucp_lib_query(&library));
  return library.max_thread_level == UCS_THREAD_MODE_MULTI;
}

/// UCX's settings: the environment's SYNCYTE_UCX_<name>, else UCX_<name>, else our default, else UCX's.
class settings {
 public:
  settings() { check("reading the settings", ucp_config_read("SYNCYTE", nullptr, &handle_)); }
  ~settings() { ucp_config_release(handle_); }
  settings(const settings&) = delete;
  settings& operator=(const settings&) = delete;

  void prefer(const std::string& name, const char* value) { prefer(name, name, value); }

  /// `key` is the name that ucp_config_modify() knows.
  void prefer(const std::string& name, const std::string& key, const char* value) {
    const char* users = std::getenv(("SYNCYTE_UCX_" + name).c_str());
    if (users == nullptr && std::getenv(("UCX_" + name).c_str()) != nullptr) return;
    // ucp_config_read() ignores the user's SYNCYTE_UCX_<name> if the setting is a transport's.
    const ucs_status_t status = ucp_config_modify(handle_, key.c_str(), users != nullptr ? users : value);
    if (status != UCS_ERR_NO_ELEM) check(("setting " + name).c_str(), status);
  }

  const ucp_config_t* handle() const { return handle_; }

 private:
  ucp_config_t* handle_ = nullptr;
};

/// Seconds of a time in UCX's form, a number and perhaps a unit; nothing for another text.
std::optional<double> seconds_of(const char* text) {
  static const std::map<std::string, double> units{{"", 1},      {"s", 1},     {"m", 60},
                                                   {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  double number = 0;  // not by strtod, which obeys the locale's decimal comma
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  const auto unit = units.find(end);
  if (error != std::errc() || unit == units.end()) return std::nullopt;
  return number * unit->second;
}

/// UCX refuses texts that are no times, but aborts the process at intervals that its timers cannot hold.
void check_keepalive_interval() {
  const char* const names[] = {"SYNCYTE_UCX_KEEPALIVE_INTERVAL", "UCX_KEEPALIVE_INTERVAL"};
  const auto* const name = std::ranges::find_if(names, [](const char* each) { return std::getenv(each) != nullptr; });
  if (name == std::end(names) || std::strcmp(std::getenv(*name), "inf") == 0) return;
  const auto seconds = seconds_of(std::getenv(*name));
  if (!seconds || (*seconds >= least_interval && *seconds <= most_interval)) return;
  throw std::runtime_error(std::string("environment variable ") + *name + " is \"" + std::getenv(*name) +
                           "\"; expected inf, or a time of at least 1ms and at most 1000000000s");
}

/// Whether the device lo is up, under its usual address.
bool has_loopback() {
  sockaddr_in here = {};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_bound = ::bind(number, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0;
  ::close(number);
  return is_bound;
}

}  // namespace

void fail(const char* action, ucs_status_t status) {
  const std::string detail = kept_log_lines::latest();
  throw std::runtime_error(std::string("UCX: ") + action + " failed: " + ucs_status_string(status) +
                           (detail.empty() ? "" : " (" + detail + ")"));
}

std::string refused_library() {
  const release loaded = loaded_release();
  const std::string name = "the process has loaded UCX " + std::to_string(loaded.major) + "." +
                           std::to_string(loaded.minor) + "." + std::to_string(loaded.patch);
  if (loaded.major != 1 || loaded.minor < needed_minor)
    return name + ", but Syncyte needs UCX 1." + std::to_string(needed_minor) +
           " or a later 1.x: put the folder of a newer libucp.so.0 first in LD_LIBRARY_PATH, or use an MPI that does "
           "not bring an old one";
  if (!serves_threads())
    return name +
           " without support of threads, but Syncyte needs UCX built with --enable-mt (in Spack: "
           "ucx+thread_multiple): put the folder of such a libucp.so.0 first in LD_LIBRARY_PATH";
  return {};
}

context::context(bool is_local) {
  need_descriptors(descriptors_of_worker);
  settings chosen;
  check_keepalive_interval();
  // UCX listens for TCP connections at the addresses of all network devices in use.
  if (is_local && has_loopback()) chosen.prefer("NET_DEVICES", "lo");
  // Without it shared memory is not used by endpoints that report broken peers.
  chosen.prefer("MM_ERROR_HANDLING", "y");
  // A process that dies is noticed after one or two intervals.
  chosen.prefer("KEEPALIVE_INTERVAL", "1s");
  // Otherwise a connection to a host that is out of reach stops the calling thread for seconds.
  chosen.prefer("TCP_CONN_NB", knows_prefixes() ? "TCP_CONN_NB" : "CONN_NB", "y");
  // UCX completes a send without a copy twice if the TCP connection breaks meanwhile, and aborts the process. Without a
  // cache of registered memory a copy also costs less than a registration.
  chosen.prefer("ZCOPY_THRESH", "inf");
  // With this size a copy is as fast as no copy; with the default, 8 KiB, it takes twice the time.
  chosen.prefer("TCP_TX_SEG_SIZE", knows_prefixes() ? "TCP_TX_SEG_SIZE" : "TX_SEG_SIZE", "48k");

  ucp_params_t parameters = {};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  parameters.mt_workers_shared = 1;
  parameters.name = "syncyte";
  const no_memory_hooks hooks;
  // The headers may be newer than the library; nothing newer than this release is used.
  check("initialization", ucp_init_version(1, needed_minor, &parameters, chosen.handle(), &handle_));
}

}  // namespace syncyte::fabric::ucx
