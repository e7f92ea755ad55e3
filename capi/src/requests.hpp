#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "guard.hpp"
#include "syncyte/base.h"

namespace syncyte::capi {

/// Something under way, with test() and wait(), as a request that ends as it does.
template <class Pointer>
struct request_of {
  Pointer under_way;
  const char* operation;

  static syncyte_status_t poll(void* context, std::int32_t* done) {
    auto& self = *static_cast<request_of*>(context);
    return guarded(self.operation, [&] { *done = self.under_way->test(); });
  }
  static syncyte_status_t wait(void* context) {
    auto& self = *static_cast<request_of*>(context);
    return guarded(self.operation, [&] { self.under_way->wait(); });
  }
  static void free(void* context) { delete static_cast<request_of*>(context); }
};

/// Makes such a request of a unique_ptr or shared_ptr; `operation` is for messages, and a string literal.
template <class Pointer>
void give_request(Pointer under_way, const char* operation, syncyte_request_t* request) {
  using made = request_of<Pointer>;
  auto context = std::make_unique<made>(std::move(under_way), operation);
  const syncyte_status_t status = syncyte_request_create(made::poll, made::wait, made::free, context.get(), request);
  if (status != SYNCYTE_SUCCESS) throw base::error(status, last_error_reason());
  static_cast<void>(context.release());
}

}  // namespace syncyte::capi
