#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "guard.hpp"
#include "syncyte/base.h"

namespace syncyte::capi {

/// Gives a started operation to a request, which ends as it does. Operation: bool test(), void wait(), both throw its
/// error; const char* operation, the name for messages.
template <class Operation>
void give_request(Operation started, syncyte_request_t* request) {
  struct callbacks {
    static syncyte_status_t poll(void* context, std::int32_t* done) {
      auto& self = *static_cast<Operation*>(context);
      return guarded(self.operation, [&] { *done = self.test(); });
    }
    static syncyte_status_t wait(void* context) {
      auto& self = *static_cast<Operation*>(context);
      return guarded(self.operation, [&] { self.wait(); });
    }
    static void free(void* context) { delete static_cast<Operation*>(context); }
  };
  auto context = std::make_unique<Operation>(std::move(started));
  const syncyte_status_t status =
      syncyte_request_create(callbacks::poll, callbacks::wait, callbacks::free, context.get(), request);
  if (status != SYNCYTE_SUCCESS) throw base::error(status, last_error_reason());
  static_cast<void>(context.release());
}

}  // namespace syncyte::capi
