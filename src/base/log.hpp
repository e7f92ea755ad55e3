// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "syncyte/base.h"

namespace syncyte::base {

/// Rank shown in log lines and errors; -1 before MPI is initialized.
void set_process_rank(int rank);
int process_rank();

/// Whether a line of this level is written: SYNCYTE_LOG=off|error|warn|info|debug, default warn.
bool log_enabled(syncyte_log_level_t level);

/// Writes a line with time, rank and level to stderr, in one write. Thread-safe.
void log_line(syncyte_log_level_t level, const std::string& message);

template <class... Arguments>
void log(syncyte_log_level_t level, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace syncyte::base
