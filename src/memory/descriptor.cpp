#include "memory/descriptor.hpp"

#include <unistd.h>

namespace syncyte::memory {

void descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

name_guard::name_guard(std::string name, remover removes)
    : name_(std::move(name)), remove_(removes), owner_(getpid()) {}

void name_guard::remove() {
  if (remove_ != nullptr && owner_ == getpid()) remove_(name_.c_str());
  remove_ = nullptr;
}

}  // namespace syncyte::memory
