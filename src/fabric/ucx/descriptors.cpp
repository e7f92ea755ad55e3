// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/descriptors.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace syncyte::fabric::ucx {

void need_descriptors(int count) {
  std::vector<int> opened;
  opened.reserve(static_cast<std::size_t>(count));
  int error = 0;
  while (error == 0 && static_cast<int>(opened.size()) < count) {
    const int descriptor = eventfd(0, EFD_CLOEXEC);
    if (descriptor < 0) {
      error = errno;
    } else {
      opened.push_back(descriptor);
    }
  }
  for (const int descriptor : opened) close(descriptor);
  if (error == 0) return;
  throw std::runtime_error("UCX needs " + std::to_string(count) + " more file descriptors, but this process can open " +
                           std::to_string(opened.size()) + " (" + std::strerror(error) + "): raise ulimit -n");
}

}  // namespace syncyte::fabric::ucx
