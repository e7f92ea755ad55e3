// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucm/api/ucm.h>

namespace syncyte::fabric::ucx {

/// Keeps UCX, for the duration of a scope, from overwriting mmap(), munmap() and others in libc's code to learn when
/// memory goes away; it then registers memory without a cache. Other users of UCX in this process find the option as it
/// was. ucm_set_global_opts() cannot do this: only the begin of its argument is the same in all releases.
class no_memory_hooks {
 public:
  no_memory_hooks() { ucm_global_opts.enable_events = 0; }
  ~no_memory_hooks() { ucm_global_opts.enable_events = before_; }
  no_memory_hooks(const no_memory_hooks&) = delete;
  no_memory_hooks& operator=(const no_memory_hooks&) = delete;

 private:
  const int before_ = ucm_global_opts.enable_events;
};

}  // namespace syncyte::fabric::ucx
