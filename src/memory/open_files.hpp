#pragma once

#include <string>

namespace syncyte::memory {

/// Throws SYNCYTE_ERR_LIMIT, which names the limit, where `code` is the errno of too many open files; otherwise does
/// nothing. `step` is what has failed.
void check_open_files(const std::string& step, int code);

}  // namespace syncyte::memory
