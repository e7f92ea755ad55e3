// SPDX-License-Identifier: BSD-3-Clause
#include "memory/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <fstream>

#include "base/error.hpp"

#ifndef MFD_NOEXEC_SEAL  // Linux 6.3
#define MFD_NOEXEC_SEAL 8U
#endif

namespace syncyte::memory {

void descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

descriptor open_memfd(const char* name) {
  // Kernels before 6.3 do not know MFD_NOEXEC_SEAL; some newer ones require it.
  int number = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (number < 0 && errno == EINVAL) number = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return descriptor(number);
}

bool seal_size(const descriptor& memfd) {
  return fcntl(memfd.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

void check_open_files(const std::string& step, int code) {
  if (code == EMFILE) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    base::fail(SYNCYTE_ERR_LIMIT, "{} failed: {}; this process may have {} open files (RLIMIT_NOFILE; ulimit -n)", step,
               base::errno_text(code), limit.rlim_cur);
  }
  if (code == ENFILE) {
    std::string most = "?";
    std::ifstream("/proc/sys/fs/file-max") >> most;
    base::fail(SYNCYTE_ERR_LIMIT, "{} failed: {}; this machine may have {} open files (/proc/sys/fs/file-max)", step,
               base::errno_text(code), most);
  }
}

void name_remover::operator()(const std::string* name) const {
  if (owner == getpid()) remove(name->c_str());
  delete name;
}

}  // namespace syncyte::memory
