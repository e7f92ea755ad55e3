// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/messages.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "guard.hpp"
#include "messages/message.hpp"
#include "requests.hpp"
#include "watchdog/watchdog.hpp"

namespace syncyte::capi {
namespace {

using messages::message;

/// Makes a message, which is recorded for the trace, without starting it.
std::unique_ptr<message> make_message(message::direction way, syncyte_comm_t comm, const syncyte_buffer_t* buffer,
                                      std::int32_t rank, std::int32_t tag, const syncyte_message_options_t* given) {
  trace_buffer(buffer);
  trace_peer(rank);
  const auto options = options_or(given, syncyte_message_options_t SYNCYTE_MESSAGE_OPTIONS_INIT);
  base::expect(options.stream == nullptr, SYNCYTE_ERR_UNSUPPORTED, "options->stream", "set", "null");
  const messages::message_peer peer{rank, tag, options.channel, options.label};
  return std::make_unique<message>(find_comm(comm), buffer, peer, way, options.room);
}

std::unique_ptr<message> start_message(message::direction way, syncyte_comm_t comm, const syncyte_buffer_t* buffer,
                                       std::int32_t rank, std::int32_t tag, const syncyte_message_options_t* options) {
  auto made = make_message(way, comm, buffer, rank, tag, options);
  made->start();
  return made;
}

void require_status(const syncyte_message_status_t* status) {
  if (status != nullptr) require_output(status, "status");
}

void fill(syncyte_message_status_t* status, const message& ended) {
  const messages::message_peer peer = ended.peer();
  if (status != nullptr) base::fill_struct(status, "status", {sizeof *status, peer.rank, peer.tag, peer.label});
}

/// A message that fills a status when it completes; the watchdog lists it until then.
class pending_message {
 public:
  pending_message(std::unique_ptr<messages::message> message, syncyte_message_status_t* status, const char* operation)
      : message_(std::move(message)), status_(status), listing_(std::in_place, operation, message_->title(), 0) {
    message_->list_buffer();
  }

  bool test() {
    if (!message_->test()) return false;
    end();
    return true;
  }
  void wait() {
    message_->wait();
    end();
  }

 private:
  void end() {
    trace_peer(message_->peer().rank);
    listing_.reset();
    fill(status_, *message_);
  }

  std::unique_ptr<messages::message> message_;
  syncyte_message_status_t* status_;
  std::optional<watchdog::started_scope> listing_;
};

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_message_highest_tag(int32_t* tag) {
  return lookup_after_init<callers::ranks>("message_highest_tag", [&] { out(tag, "tag") = comm::highest_tag(); });
}

syncyte_status_t syncyte_comm_send(syncyte_comm_t comm, const syncyte_buffer_t* array, int32_t dest, int32_t tag,
                                   const syncyte_message_options_t* options) {
  return after_init("comm_send", [&] {
    message::wait_or_abandon({start_message(message::direction::out, comm, array, dest, tag, options).get()});
  });
}

syncyte_status_t syncyte_comm_recv(syncyte_comm_t comm, int32_t source, int32_t tag,
                                   const syncyte_message_options_t* options, const syncyte_buffer_t* array,
                                   syncyte_message_status_t* status) {
  return after_init("comm_recv", [&] {
    require_status(status);
    const auto received = start_message(message::direction::in, comm, array, source, tag, options);
    message::wait_or_abandon({received.get()});
    trace_peer(received->peer().rank);
    fill(status, *received);
  });
}

syncyte_status_t syncyte_comm_isend(syncyte_comm_t comm, const syncyte_buffer_t* array, int32_t dest, int32_t tag,
                                    const syncyte_message_options_t* options, syncyte_request_t* request) {
  return after_init("comm_isend", [&] {
    out(request, "request");
    auto sent = start_message(message::direction::out, comm, array, dest, tag, options);
    give_request(std::make_unique<pending_message>(std::move(sent), nullptr, "comm_isend"), "comm_isend", request);
  });
}

syncyte_status_t syncyte_comm_irecv(syncyte_comm_t comm, int32_t source, int32_t tag,
                                    const syncyte_message_options_t* options, const syncyte_buffer_t* array,
                                    syncyte_message_status_t* status, syncyte_request_t* request) {
  return after_init("comm_irecv", [&] {
    out(request, "request");
    require_status(status);
    auto received = start_message(message::direction::in, comm, array, source, tag, options);
    give_request(std::make_unique<pending_message>(std::move(received), status, "comm_irecv"), "comm_irecv", request);
  });
}

syncyte_status_t syncyte_comm_sendrecv(syncyte_comm_t comm, const syncyte_buffer_t* send_array, int32_t dest,
                                       int32_t send_tag, int32_t source, int32_t recv_tag,
                                       const syncyte_message_options_t* options, const syncyte_buffer_t* recv_array,
                                       syncyte_message_status_t* status) {
  return after_init("comm_sendrecv", [&] {
    require_status(status);
    const auto received = make_message(message::direction::in, comm, recv_array, source, recv_tag, options);
    const auto sent = make_message(message::direction::out, comm, send_array, dest, send_tag, options);
    message::require_buffers_apart(*sent, *received);
    received->start();
    sent->start();
    message::wait_or_abandon({received.get(), sent.get()});
    fill(status, *received);
  });
}
}
