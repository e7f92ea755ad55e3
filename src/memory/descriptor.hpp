#pragma once

#include <string>
#include <utility>

namespace syncyte::memory {

/// Owns an open file descriptor; the destructor closes it.
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

/// Opens a memfd of 0 bytes whose size can be sealed. On failure the descriptor is empty and errno is set.
descriptor open_memfd(const char* name);

/// Seals the size of a memfd: no process can grow it, or shrink it, which would kill processes that have mapped it.
bool seal_size(const descriptor& memfd);

/// Owns the name of a shm object or a socket; the destructor removes it, but not in a forked child.
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
