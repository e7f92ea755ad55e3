// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/module.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <cstddef>

namespace syncyte::fabric {
namespace {

/// Handlers of all signals and the thread's alternate signal stack, restored at the end of the scope.
class kept_signals {
 public:
  kept_signals() {
    for (int signal = 1; signal < NSIG; ++signal)
      known_[at(signal)] = sigaction(signal, nullptr, &actions_[at(signal)]) == 0;
    sigaltstack(nullptr, &stack_);
  }
  ~kept_signals() {
    for (int signal = 1; signal < NSIG; ++signal) {
      if (known_[at(signal)] && changed(signal)) sigaction(signal, &actions_[at(signal)], nullptr);
    }
    sigaltstack(&stack_, nullptr);
  }
  kept_signals(const kept_signals&) = delete;
  kept_signals& operator=(const kept_signals&) = delete;

 private:
  static std::size_t at(int signal) { return static_cast<std::size_t>(signal); }

  // sigaction() fails for SIGKILL and SIGSTOP even if the handler stays the same.
  bool changed(int signal) const {
    struct sigaction now = {};
    const struct sigaction& before = actions_[at(signal)];
    return sigaction(signal, nullptr, &now) == 0 &&
           (now.sa_sigaction != before.sa_sigaction || now.sa_flags != before.sa_flags);
  }

  std::array<struct sigaction, NSIG> actions_{};
  std::array<bool, NSIG> known_{};
  stack_t stack_{};
};

std::string loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "the loader gives no reason";
}

}  // namespace

std::unique_ptr<transport> open_module(const std::string& file, std::string& reason, bool is_local) {
  const kept_signals signals;
  // This is dlopen(). AddressSanitizer replaces the function of that name, and its RUNPATH would be searched.
  void* module = dlmopen(LM_ID_BASE, file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    reason = loader_error();
    return nullptr;
  }
  auto open = reinterpret_cast<open_transport_function>(dlsym(module, open_transport_name));
  if (open == nullptr) {
    reason = loader_error();
    return nullptr;
  }
  return std::unique_ptr<transport>(open(is_local, &reason));
}

}  // namespace syncyte::fabric
