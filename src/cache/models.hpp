// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/meeting_place.hpp"
#include "cache/model_catalog.hpp"
#include "cache/model_messages.hpp"
#include "cache/model_server.hpp"

namespace syncyte::cache {

/// Models by name: of this process, which may serve them to others, or of the process that serves them at a socket.
/// Thread-safe. A forked child can use models of a socket, but not those of its parent.
class models {
 public:
  /// Models of this process.
  static std::shared_ptr<models> create(const model_budget& budget);

  /// Models that another process serves. Waits for it. Throws SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_ARGUMENT (name, folder,
  /// nonce), SYNCYTE_ERR_FORMAT, SYNCYTE_ERR_VERSION, SYNCYTE_ERR_IO.
  static std::shared_ptr<models> connect(const rendezvous& place);

  ~models();

  /// Serves the models to other processes until the destructor. Throws SYNCYTE_ERR_BUSY if they are served, or the name
  /// is in use.
  void serve(const rendezvous& place);

  /// A new connection with this request. Throws SYNCYTE_ERR_PEER_DIED if the server has ended.
  own_descriptor open(purpose what, const std::string& name, const model_place& place, const deadline& until) const;

  /// Time limit of an exchange with the server.
  deadline limit() const { return deadline(seconds_); }

  void remove(const std::string& name) const;

  /// One model after another: number 0 asks the server, others are of this thread's last answer. The result is valid
  /// until this thread asks again. Throws SYNCYTE_ERR_INDEX.
  const model_info& listed(std::uint64_t number) const;

 private:
  models() = default;
  own_descriptor connect_to_socket(const deadline& until) const;
  answer exchange(purpose what, const std::string& name) const;

  std::unique_ptr<model_server> server_;  // of this process, or null
  mutable std::mutex mutex_;
  std::unique_ptr<named_socket> place_;  // where they are served
  memory::name_guard socket_name_;
  memory::nonce secret_{};
  double seconds_ = -1;
};

}  // namespace syncyte::cache
