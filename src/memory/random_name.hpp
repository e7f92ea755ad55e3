// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "memory/handover.hpp"

namespace syncyte::memory {

nonce random_nonce();

/// `begin`, 32 random digits, `end`. It is not made from a nonce, which stays a secret of the job.
std::string random_name(const char* begin, const char* end);

/// TMPDIR, otherwise /tmp.
std::string temporary_folder();

}  // namespace syncyte::memory
