#pragma once

#include <string>

namespace syncyte::memory {

/// Throws SYNCYTE_ERR_LIMIT, naming the limit, if `code` is the errno of too many open files; otherwise does nothing.
/// `step` names the call that failed.
void check_open_files(const std::string& step, int code);

}  // namespace syncyte::memory
