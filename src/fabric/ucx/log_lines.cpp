// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/log_lines.hpp"

#include <ucs/debug/log_def.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace syncyte::fabric::ucx {
namespace {

thread_local int scopes = 0;
thread_local std::array<char, 256> line{};

ucs_log_func_rc_t keep_line(const char*, unsigned, const char*, ucs_log_level_t level,
                            const ucs_log_component_config_t*, const char* format, va_list arguments) {
  if (scopes == 0 || (level != UCS_LOG_LEVEL_ERROR && level != UCS_LOG_LEVEL_WARN)) return UCS_LOG_FUNC_RC_CONTINUE;
  va_list copy;
  va_copy(copy, arguments);
  std::vsnprintf(line.data(), line.size(), format, copy);
  va_end(copy);
  return UCS_LOG_FUNC_RC_STOP;
}

}  // namespace

void take_log_lines() {
  if (std::getenv("UCX_LOG_LEVEL") == nullptr) ucs_log_push_handler(keep_line);
}

kept_log_lines::kept_log_lines() {
  if (scopes++ == 0) line[0] = '\0';
}
kept_log_lines::~kept_log_lines() { --scopes; }

std::string kept_log_lines::latest() { return scopes == 0 ? "" : line.data(); }

}  // namespace syncyte::fabric::ucx
