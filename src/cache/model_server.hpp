// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cache/model_catalog.hpp"
#include "cache/model_messages.hpp"

namespace syncyte::cache {

/// The published models of a name, and a thread that answers processes that publish and bind them. The thread sleeps
/// while nobody asks. The server keeps the files of the models, and never reads them.
///
/// A model is loading from the grant of its publication to its end. The end of a publisher's connection before that
/// removes the model, and every binder gets the error. While a connection of a binder is open, its model stays. Models
/// that nobody has bound are evicted, the least recently used first, when a new one would exceed the budget.
class model_server {
 public:
  /// Throws SYNCYTE_ERR_LIMIT.
  explicit model_server(const model_budget& budget);
  ~model_server();
  model_server(const model_server&) = delete;
  model_server& operator=(const model_server&) = delete;

  /// A connection from this process. Throws SYNCYTE_ERR_UNSUPPORTED in a forked child.
  own_descriptor connect();

  /// Answers processes that connect to a socket and show the nonce.
  void listen_at(memory::descriptor listener, const memory::nonce& secret);

 private:
  struct arrival {
    memory::descriptor socket;
    bool is_listener;
    memory::nonce secret;
  };
  class loop;

  void pass(arrival arrived);

  std::mutex mutex_;
  std::vector<arrival> arrivals_;  // for the thread
  own_descriptor wake_;
  bool is_stopping_ = false;
  pid_t process_;
  model_budget budget_;
  std::thread thread_;
};

}  // namespace syncyte::cache
