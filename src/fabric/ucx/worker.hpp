// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucp/api/ucp.h>

#include <exception>
#include <list>
#include <memory>
#include <vector>

#include "fabric/transport.hpp"
#include "fabric/ucx/context.hpp"
#include "fabric/ucx/in_flight.hpp"

namespace syncyte::fabric::ucx {

class ucx_link;

/// A worker of UCX. Messages are active messages whose header is message_header.
class ucx_worker final : public worker {
 public:
  ucx_worker(std::shared_ptr<const context> used, receiver& target);
  ~ucx_worker() override;
  ucx_worker(const ucx_worker&) = delete;
  ucx_worker& operator=(const ucx_worker&) = delete;

  std::string address() const override;
  std::unique_ptr<link> connect(std::string_view address, std::uint64_t tag) override;
  bool progress() override;
  int event() const override { return event_; }
  bool arm() override;

  /// An endpoint of UCX. It stays when its link is destroyed, until its messages are sent.
  struct endpoint {
    ucx_worker* owner = nullptr;
    ucx_link* user = nullptr;  ///< null after the link's end
    ucp_ep_h handle = nullptr;
    std::list<endpoint>::iterator place;
  };

  /// Null if the other worker is known to have ended.
  endpoint* open(ucx_link& user, std::string_view address);
  /// Closes the endpoint once its messages are sent or lost.
  void leave(endpoint& left);
  ucs_status_t send(endpoint& way, std::shared_ptr<const message> sent);
  /// on_broken() is called for the link in the next progress(), unless it is destroyed before.
  void report(ucx_link& broken) { broken_.push_back(&broken); }
  void forget(ucx_link& destroyed) { std::erase(broken_, &destroyed); }

 private:
  struct sending {
    ucx_worker* owner = nullptr;
    std::shared_ptr<const message> sent;
    std::list<sending>::iterator place;
  };

  void create();
  void receive_messages();
  /// Keeps an exception for progress(), because UCX's functions cannot pass it on.
  void deliver(const message_header& header, std::span<const std::byte> payload);
  void sent(sending& done);
  void report_broken_links();
  void close(endpoint& left);
  void close_flushed();
  bool is_unfinished() const;
  void finish_operations();

  static ucs_status_t on_arrival(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* parameters);
  static void on_error(void* failed, ucp_ep_h endpoint, ucs_status_t status);
  static void on_flushed(void* request, ucs_status_t status, void* left);
  static void on_sent(void* request, ucs_status_t status, void* operation);
  static void on_closed(void* request, ucs_status_t status, void* self);

  const std::shared_ptr<const context> context_;
  receiver& target_;
  ucp_worker_h handle_ = nullptr;
  int event_ = -1;
  bool is_ending_ = false;
  std::exception_ptr thrown_;  ///< see deliver()
  std::size_t closing_ = 0;    ///< endpoints that UCX is closing
  in_flight<endpoint> endpoints_;
  std::vector<endpoint*> flushed_;  ///< to be closed
  in_flight<sending> sends_;
  std::vector<ucx_link*> broken_;
};

class ucx_link final : public link {
 public:
  ucx_link(ucx_worker& owner, std::string_view address, std::uint64_t tag);
  ~ucx_link() override;
  ucx_link(const ucx_link&) = delete;
  ucx_link& operator=(const ucx_link&) = delete;

  void send(std::shared_ptr<const message> sent) override;

  std::uint64_t tag() const { return tag_; }
  void break_off();

 private:
  ucx_worker& owner_;
  const std::uint64_t tag_;
  bool is_broken_ = false;
  ucx_worker::endpoint* endpoint_ = nullptr;
};

}  // namespace syncyte::fabric::ucx
