// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fabric/message.hpp"

namespace syncyte::fabric {

/// Moves messages between processes: UCX (ucx/), or queues between threads in tests. Messages may be lost, doubled
/// or overtaken by others: sessions (caller.hpp, server.hpp) number them. All functions throw std::runtime_error.

/// Receives what a worker has for this process; called inside worker::progress().
class receiver {
 public:
  /// `payload` is valid until return. It may send, but neither connect nor destroy a link.
  virtual void on_message(const message_header& header, std::span<const std::byte> payload) = 0;
  /// The link connected with this tag does not work any more: messages sent on it may be lost.
  virtual void on_broken(std::uint64_t tag) = 0;

 protected:
  ~receiver() = default;
};

/// The way from a worker to one of another process. Destroying it does not wait for the other process: what is not sent
/// yet may still be sent, or lost.
class link {
 public:
  virtual ~link() = default;

  /// Sends without waiting; keeps the message until it is sent. Does nothing on a broken link.
  virtual void send(std::shared_ptr<const message> sent) = 0;
};

/// One process's end of several links. Used by one thread at a time. Links are destroyed before it.
class worker {
 public:
  virtual ~worker() = default;

  /// Bytes by which workers of other processes connect to this one.
  virtual std::string address() const = 0;

  /// Does not wait for the other process, and succeeds if there is none: on_broken() tells later.
  virtual std::unique_ptr<link> connect(std::string_view address, std::uint64_t tag) = 0;

  /// Sends and receives as far as possible without waiting; true if it did something.
  virtual bool progress() = 0;

  /// A descriptor that becomes readable when there is something to do, after arm() has answered true. arm() answers
  /// false if there is something to do now.
  virtual int event() const = 0;
  virtual bool arm() = 0;
};

class transport {
 public:
  virtual ~transport() = default;

  /// Messages that arrive at the worker go to `target`, which outlives it. Thread-safe.
  virtual std::unique_ptr<worker> make_worker(receiver& target) = 0;
};

/// A transport in a module of its own (module.hpp) has this function, with C linkage. It returns null and stores the
/// reason if the transport cannot work in this process; it throws nothing. `is_local`: all processes are on this host.
using open_transport_function = transport* (*)(bool is_local, std::string* reason);
inline constexpr const char* open_transport_name = "syncyte_open_transport";

}  // namespace syncyte::fabric
