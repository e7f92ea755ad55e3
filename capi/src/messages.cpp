#include "syncyte/messages.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "comm_table.hpp"
#include "guard.hpp"
#include "messages/message.hpp"
#include "requests.hpp"
#include "watchdog/watchdog.hpp"

namespace syncyte::capi {
namespace {

syncyte_message_options_t checked(const syncyte_message_options_t* given) {
  const auto options = options_or(given, syncyte_message_options_t SYNCYTE_MESSAGE_OPTIONS_INIT,
                                  offsetof(syncyte_message_options_t, room));
  base::expect(options.stream == nullptr, SYNCYTE_ERR_UNSUPPORTED, "options->stream", "set", "null");
  return options;
}

/// message::send or message::receive.
using message_maker = decltype(messages::message::send);

std::unique_ptr<messages::message> made_by(message_maker& make, syncyte_comm_t comm, const syncyte_buffer_t* buffer,
                                           std::int32_t rank, std::int32_t tag,
                                           const syncyte_message_options_t* given) {
  const syncyte_message_options_t options = checked(given);
  return make(find_comm(comm), buffer, {rank, tag, options.channel, options.label}, options.room);
}

void trace_message(const syncyte_buffer_t* buffer, std::int32_t peer) {
  trace_buffer(buffer);
  trace_peer(peer);
}

void require_status(const syncyte_message_status_t* status) {
  base::expect(status == nullptr || status->struct_size >= sizeof *status, SYNCYTE_ERR_ARGUMENT, "status->struct_size",
               status != nullptr ? status->struct_size : 0, "{}", sizeof *status);
}

void fill(syncyte_message_status_t* status, const messages::message& ended) {
  if (status == nullptr) return;
  status->source = ended.peer().rank;
  status->tag = ended.peer().tag;
  status->label = ended.peer().label;
}

/// A message that fills a status when it completes; the watchdog lists it until then.
class pending_message {
 public:
  pending_message(std::unique_ptr<messages::message> message, syncyte_message_status_t* status, const char* operation)
      : message_(std::move(message)), status_(status), listing_(std::in_place, operation, message_->title(), 0) {}

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
    fill(status_, *message_);
    listing_.reset();
  }

  std::unique_ptr<messages::message> message_;
  syncyte_message_status_t* status_;
  std::optional<watchdog::started_scope> listing_;
};

void start_request(std::unique_ptr<messages::message> message, syncyte_message_status_t* status, const char* operation,
                   syncyte_request_t* request) {
  give_request(std::make_unique<pending_message>(std::move(message), status, operation), operation, request);
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;
using messages::message;

extern "C" {

syncyte_status_t syncyte_message_highest_tag(int32_t* tag) {
  return looked_up<callers::ranks>("message_highest_tag", [&] { out(tag, "tag") = comm::highest_tag(); });
}

syncyte_status_t syncyte_comm_send(syncyte_comm_t comm, const syncyte_buffer_t* buffer, int32_t dest, int32_t tag,
                                   const syncyte_message_options_t* options) {
  return started("comm_send", [&] {
    trace_message(buffer, dest);
    message::wait_or_leave({made_by(message::send, comm, buffer, dest, tag, options).get()});
  });
}

syncyte_status_t syncyte_comm_recv(syncyte_comm_t comm, int32_t source, int32_t tag,
                                   const syncyte_message_options_t* options, const syncyte_buffer_t* buffer,
                                   syncyte_message_status_t* status) {
  return started("comm_recv", [&] {
    trace_message(buffer, source);
    require_status(status);
    const auto received = made_by(message::receive, comm, buffer, source, tag, options);
    message::wait_or_leave({received.get()});
    trace_peer(received->peer().rank);
    fill(status, *received);
  });
}

syncyte_status_t syncyte_comm_isend(syncyte_comm_t comm, const syncyte_buffer_t* buffer, int32_t dest, int32_t tag,
                                    const syncyte_message_options_t* options, syncyte_request_t* request) {
  return started("comm_isend", [&] {
    trace_message(buffer, dest);
    out(request, "request");
    auto sent = made_by(message::send, comm, buffer, dest, tag, options);
    start_request(std::move(sent), nullptr, "comm_isend", request);
  });
}

syncyte_status_t syncyte_comm_irecv(syncyte_comm_t comm, int32_t source, int32_t tag,
                                    const syncyte_message_options_t* options, const syncyte_buffer_t* buffer,
                                    syncyte_message_status_t* status, syncyte_request_t* request) {
  return started("comm_irecv", [&] {
    trace_message(buffer, source);
    out(request, "request");
    require_status(status);
    auto received = made_by(message::receive, comm, buffer, source, tag, options);
    start_request(std::move(received), status, "comm_irecv", request);
  });
}

syncyte_status_t syncyte_comm_sendrecv(syncyte_comm_t comm, const syncyte_buffer_t* send_buffer, int32_t dest,
                                       int32_t send_tag, int32_t source, int32_t recv_tag,
                                       const syncyte_message_options_t* options, const syncyte_buffer_t* recv_buffer,
                                       syncyte_message_status_t* status) {
  return started("comm_sendrecv", [&] {
    trace_message(send_buffer, dest);
    require_status(status);
    const auto given = checked(options);
    const auto group = find_comm(comm);
    message received(group, recv_buffer, {source, recv_tag, given.channel, given.label}, message::direction::in,
                     given.room);
    message sent(group, send_buffer, {dest, send_tag, given.channel, given.label}, message::direction::out, given.room);
    received.start();
    sent.start();
    message::wait_or_leave({&received, &sent});
    fill(status, received);
  });
}
}
