#include "fabric/ucx/context.hpp"

#include <cstdlib>
#include <stdexcept>

#include "fabric/ucx/descriptors.hpp"
#include "fabric/ucx/log_lines.hpp"
#include "fabric/ucx/memory_hooks.hpp"

namespace syncyte::fabric::ucx {
namespace {

/// UCX's settings as the user's environment has them: SYNCYTE_UCX_<name>, else UCX_<name>.
class settings {
 public:
  settings() { check("reading the settings", ucp_config_read("SYNCYTE", nullptr, &handle_)); }
  ~settings() { ucp_config_release(handle_); }
  settings(const settings&) = delete;
  settings& operator=(const settings&) = delete;

  /// Changes a setting's default. The user's value stays; a release without this setting goes on.
  void prefer(const std::string& name, const char* value) {
    const std::string variable = "UCX_" + name;
    if (std::getenv(variable.c_str()) != nullptr || std::getenv(("SYNCYTE_" + variable).c_str()) != nullptr) return;
    const ucs_status_t status = ucp_config_modify(handle_, name.c_str(), value);
    if (status != UCS_ERR_NO_ELEM) check(("setting " + name).c_str(), status);
  }

  const ucp_config_t* handle() const { return handle_; }

 private:
  ucp_config_t* handle_ = nullptr;
};

}  // namespace

void fail(const char* action, ucs_status_t status) {
  const std::string detail = kept_log_lines::latest();
  throw std::runtime_error(std::string("UCX: ") + action + " failed: " + ucs_status_string(status) +
                           (detail.empty() ? "" : " (" + detail + ")"));
}

std::string refused_release() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp_get_version(&major, &minor, &release);
  if (major == 1 && minor >= needed_minor) return {};
  return "the process has loaded UCX " + std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(release) + ", but Syncyte needs UCX 1." + std::to_string(needed_minor) +
         " or a later 1.x: put the folder of a newer libucp.so.0 first in LD_LIBRARY_PATH, or use an MPI that does not "
         "bring an old one";
}

context::context() {
  need_descriptors(descriptors_of_worker);
  settings chosen;
  // Without it shared memory is not used by endpoints that report broken peers.
  chosen.prefer("MM_ERROR_HANDLING", "y");
  // A process that dies is noticed after one or two intervals.
  chosen.prefer("KEEPALIVE_INTERVAL", "1s");
  // UCX 1.13 aborts the process if a TCP connection breaks while it sends without a copy. Without a cache of registered
  // memory a copy costs less than a registration.
  chosen.prefer("ZCOPY_THRESH", "inf");

  ucp_params_t parameters = {};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  parameters.mt_workers_shared = 1;
  parameters.name = "syncyte";
  const no_memory_hooks hooks;
  // The headers may be newer than the library; nothing newer than this release is used.
  check("initialisation", ucp_init_version(1, needed_minor, &parameters, chosen.handle(), &handle_));
}

}  // namespace syncyte::fabric::ucx
