// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file messages.hpp Messages between two ranks: methods of syncyte::communicator (comm.hpp); send() and isend() are
/// in generated/methods.hpp. All are local; syncyte/messages.h explains them, and docs/messages.md has examples.

#include <memory>

#include "syncyte/collectives.hpp"
#include "syncyte/messages.h"

namespace syncyte {

/// Source of a receive: any rank. Tag of a receive: any tag.
inline constexpr std::int32_t any = SYNCYTE_ANY;

/// Source or destination: no rank; such a message completes at once and changes nothing.
inline constexpr std::int32_t proc_null = SYNCYTE_PROC_NULL;

/// Highest tag of a message. Local.
inline std::int32_t highest_tag() { return detail::fetch<std::int32_t>(syncyte_message_highest_tag); }

/// Sender and tag of a received message.
using message_status = ::syncyte_message_status_t;

/// A non-blocking receive: a request that has the sender's rank and tag once it has ended. Moved into a request, as in
/// a list of requests of several kinds, it is one without them.
class receive_request : public request {
 public:
  receive_request() = default;

  /// Takes over a C request and the status that it fills when it ends.
  receive_request(syncyte_request_t raw, std::shared_ptr<message_status> status) noexcept
      : request(raw, std::move(status)) {}

  /// Sender and tag; call it after wait(), or after test() has returned true. Throws status::handle if this is no
  /// receive.
  message_status status() const {
    if (written() == nullptr) throw error(status::handle, "receive_request.status: it is empty, or was moved from");
    return *static_cast<const message_status*>(written());
  }
};

namespace detail {

/// The messages of a communicator.
class messages : public collectives {
 public:
  using collectives::collectives;

  /// Receives an array. Throws status::mismatch if the message has another type or shape. Local; waits for the message.
  message_status recv(const buffer& array, std::int32_t source = any, std::int32_t tag = any) const {
    return fetch<message_status>(syncyte_comm_recv, get(), source, tag, nullptr, array.get());
  }

  /// Starts to receive an array, whose memory must stay, and may not be read, until the request has ended. Local.
  receive_request irecv(const buffer& array, std::int32_t source = any, std::int32_t tag = any) const {
    auto status = std::make_shared<message_status>(message_status{sizeof(message_status), proc_null, any, 0});
    const auto made =
        fetch<syncyte_request_t>(syncyte_comm_irecv, get(), source, tag, nullptr, array.get(), status.get());
    return receive_request(made, std::move(status));
  }

  /// Sends one array and receives another, without deadlock in any order of arrival. Local; waits for both.
  message_status sendrecv(const const_buffer& send_array, std::int32_t dest, const buffer& recv_array,
                          std::int32_t source = any, std::int32_t send_tag = 0, std::int32_t recv_tag = any) const {
    return fetch<message_status>(syncyte_comm_sendrecv, get(), send_array.get(), dest, send_tag, source, recv_tag,
                                 nullptr, recv_array.get());
  }
};

}  // namespace detail

}  // namespace syncyte
