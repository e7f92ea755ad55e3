// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/key_check.hpp"

#include <sys/random.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::fabric {

key_check::key_check() {
  if (::getrandom(&key_, sizeof key_, 0) != sizeof key_)
    base::fail(SYNCYTE_ERR_INTERNAL, "getrandom failed: {}", base::errno_text(errno));
}

bool key_check::admits(const message_header& header) {
  std::uint64_t difference = 0;  // of all words: the time does not tell how much of the key is right
  for (std::size_t i = 0; i < key_.size(); ++i) difference |= header.key[i] ^ key_[i];
  if (difference == 0) return true;
  if (refused_++ == 0)
    base::log(SYNCYTE_LOG_WARN,
              "the fabric drops messages without this process's key: another program sends to its ports");
  return false;
}

}  // namespace syncyte::fabric
