// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/memory_hooks.hpp"

#include <dlfcn.h>

// libucs calls this function of libucm while it is loaded, and libucm then overwrites functions of libc if the options
// have enable_events. The loader gives libucs this function instead: it searches this library first, because libucs is
// loaded on its behalf. If the process has loaded UCX before, this function is not called. The options, which UCX
// declares const, are changed in place: a copy would have the size of the struct of the UCX that compiled this file.
extern "C" __attribute__((visibility("default"))) void ucm_set_global_opts(const ucm_global_config_t* options) {
  void* library = dlopen("libucm.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  auto original = reinterpret_cast<decltype(&ucm_set_global_opts)>(dlsym(library, "ucm_set_global_opts"));
  auto& changed = const_cast<ucm_global_config_t*>(options)->enable_events;
  const int before = changed;
  changed = 0;
  original(options);
  changed = before;
  ucm_global_opts.enable_events = before;
  dlclose(library);
}
