#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "guard.hpp"
#include "syncyte/base.h"

namespace syncyte::capi {

/// Callbacks that make a request of an object with test() and wait().
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

/// A request made of callbacks, whose waits are traced with `part`.
syncyte_request_t make_request(syncyte_request_poll_fn_t poll, syncyte_request_wait_fn_t wait,
                               syncyte_request_free_fn_t free, void* context, const traced_part& part);

/// Makes a request of a unique_ptr or shared_ptr to an object with test() and wait(). `operation` is a string literal
/// for messages. Waits are traced with the bytes and the peer of the operation in progress.
template <class Pointer>
void give_request(Pointer under_way, const char* operation, syncyte_request_t* request) {
  using made = request_of<Pointer>;
  auto context = std::make_unique<made>(std::move(under_way), operation);
  *request = make_request(made::poll, made::wait, made::free, context.get(), traced());
  static_cast<void>(context.release());
}

}  // namespace syncyte::capi
