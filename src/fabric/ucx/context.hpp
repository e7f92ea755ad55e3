// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace syncyte::fabric::ucx {

/// Oldest release of UCX 1 that the transport works with.
inline constexpr unsigned needed_minor = 13;

/// Throws std::runtime_error with UCX's text of the status, and the latest line that UCX has logged about it.
[[noreturn]] void fail(const char* action, ucs_status_t status);
inline void check(const char* action, ucs_status_t status) {
  if (status != UCS_OK) fail(action, status);
}

/// Empty if the loaded libucp has the release and the support of threads that the transport needs, else what is wrong
/// and what to do.
std::string refused_library();

/// UCX's settings, memory domains and devices. Workers keep it alive.
class context {
 public:
  /// `is_local`: all processes are on this host.
  explicit context(bool is_local);
  ~context() { ucp_cleanup(handle_); }
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  ucp_context_h handle() const { return handle_; }

 private:
  ucp_context_h handle_ = nullptr;
};

}  // namespace syncyte::fabric::ucx
