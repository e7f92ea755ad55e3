// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "base/buffer.hpp"
#include "comm/communicator.hpp"
#include "comm/control_tags.hpp"
#include "memory/device.hpp"
#include "memory/scratch.hpp"
#include "messages/buffers_in_flight.hpp"
#include "syncyte/messages.h"

namespace syncyte::messages {

/// The head of a message, in front of its elements in the same MPI message: tells the receiver what it got.
struct envelope {
  std::int32_t dtype = 0;
  std::int32_t ndim = 0;
  std::int64_t label = 0;  // the sender's, for libraries on top
  /// Extents; if there are more, the last one is a hash of the rest.
  std::array<std::int64_t, 6> extents{};

  bool operator==(const envelope&) const = default;
};
static_assert(sizeof(envelope) == SYNCYTE_MESSAGE_ROOM);

/// The other side of a message; a receiver may leave both open (SYNCYTE_ANY).
struct message_peer {
  int rank;
  int tag;
  int channel = 0;         // messages of different channels do not meet
  std::int64_t label = 0;  // for the receiver to read
};

/// One message in flight, sent or received. Owns what MPI reads and writes but for a contiguous buffer of the caller's.
/// Elements travel as bytes, so that any message is received and can be compared with the expected one.
///
/// `room` is 0, or SYNCYTE_MESSAGE_ROOM: bytes in front of the elements, for the envelope. Without it device memory is
/// copied through host memory: MPI would not take a message that is in two kinds of memory.
class message {
 public:
  enum class direction { out, in };

  /// Makes all checks. Make several messages before starting the first: then none starts if one of them is wrong.
  message(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* buffer, const message_peer& peer,
          direction way, int room = 0);
  void start();
  /// Lists the message's memory until its end; for a message that the caller does not wait for at once.
  void list_buffer();

  static std::unique_ptr<message> send(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* buffer,
                                       const message_peer& peer, int room = 0);
  static std::unique_ptr<message> receive(std::shared_ptr<comm::communicator> comm, const syncyte_buffer_t* buffer,
                                          const message_peer& peer, int room = 0);

  ~message();  // waits for its end
  message(const message&) = delete;
  message& operator=(const message&) = delete;

  /// Whether the message has ended; makes progress of started collectives, which the other side may wait for. Throws
  /// SYNCYTE_ERR_MISMATCH if a received message is not the expected one.
  bool test();
  void wait();

  /// Throws SYNCYTE_ERR_ARGUMENT if a message sends memory that the other one receives.
  static void require_buffers_apart(const message& sent, const message& received);

  /// Waits for messages that cannot be waited for again. If the wait is interrupted, receives are cancelled, or end if
  /// their message is on its way; sends, and their memory, are left to MPI.
  static void wait_or_abandon(std::initializer_list<message*> messages);

  /// The sender, tag and label of a receive that has ended; the destination of a send.
  message_peer peer() const { return peer_; }

  /// Communicator, peer and tag, for the watchdog.
  std::string title() const;

 private:
  const char* operation() const { return direction_ == direction::out ? "comm_send" : "comm_recv"; }
  // A message ends in one of three ways: finish() if MPI has completed it; cancel() if MPI takes it back, only a
  // receive; abandon() leaves it to MPI, with the memory that it uses.
  void finish(int code, const MPI_Status& status);
  bool cancel();
  void abandon();
  void cancel_or_abandon() noexcept;
  class peer_wait;
  int departed_peer() const;
  void abandon_if_departed();
  int ask(int* is_done, MPI_Status* status);
  envelope check_received(int code, const MPI_Status& status) const;
  void post(void* data, int count, MPI_Datatype type);
  bool has_memory() const;
  bool is_on_device() const;
  bool is_inline() const;
  memory::place head() const;
  std::byte* payload() const;
  void copy_elements();

  std::shared_ptr<comm::communicator> comm_;
  direction direction_;
  message_peer peer_;
  base::buffer buffer_;
  bool is_in_room_;         // the envelope lies in the caller's memory, in front of the elements
  memory::scratch packed_;  // envelope and elements of a short message; elements of a long one that is copied
  std::unique_ptr<envelope> envelope_;  // of a long message; MPI uses its address until the end
  std::optional<buffer_in_flight> listed_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool may_be_here_ = false;  // a receive of a message that this rank may have sent to itself before; see ask()
};

}  // namespace syncyte::messages
