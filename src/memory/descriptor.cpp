#include "memory/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

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

name_guard::name_guard(std::string name, remover removes)
    : name_(std::move(name)), remove_(removes), owner_(getpid()) {}

void name_guard::remove() {
  if (remove_ != nullptr && owner_ == getpid()) remove_(name_.c_str());
  remove_ = nullptr;
}

}  // namespace syncyte::memory
