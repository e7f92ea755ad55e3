// SPDX-License-Identifier: BSD-3-Clause
#include "memory/random_name.hpp"

#include <sys/random.h>

#include <cerrno>

#include "base/environment.hpp"
#include "base/error.hpp"

namespace syncyte::memory {

nonce random_nonce() {
  nonce result{};
  if (getrandom(&result, sizeof(result), 0) != sizeof(result))
    base::fail(SYNCYTE_ERR_INTERNAL, "getrandom failed: {}", base::errno_text(errno));
  return result;
}

std::string random_name(const char* begin, const char* end) {
  const nonce value = random_nonce();
  return fmt::format("{}{:016x}{:016x}{}", begin, value[0], value[1], end);
}

std::string temporary_folder() { return base::environment("TMPDIR").value_or("/tmp"); }

}  // namespace syncyte::memory
