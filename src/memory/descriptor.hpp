#pragma once

#include <string>
#include <utility>

namespace syncyte::memory {

/// An open file descriptor; closed when it goes.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { close(); }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

/// Memory as a file without a name, of 0 bytes, whose size can be sealed; none, and errno, where the kernel refuses.
descriptor open_memfd(const char* name);

/// Nobody can shrink the memfd from now on, which would end processes that have mapped it, or grow it.
bool seal_size(const descriptor& memfd);

/// A name in a file system that must go when its owner does: of a shm object or of a socket. A process forked meanwhile
/// leaves it alone.
class name_guard {
 public:
  using remover = void (*)(const char*);

  name_guard() = default;
  name_guard(std::string name, remover removes);
  name_guard(name_guard&& other) noexcept { swap(other); }
  name_guard& operator=(name_guard&& other) noexcept {
    swap(other);
    return *this;
  }
  ~name_guard() { remove(); }

  void remove();

 private:
  void swap(name_guard& other) noexcept {
    std::swap(name_, other.name_);
    std::swap(remove_, other.remove_);
    std::swap(owner_, other.owner_);
  }

  std::string name_;
  remover remove_ = nullptr;
  long owner_ = 0;
};

}  // namespace syncyte::memory
