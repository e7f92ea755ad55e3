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

  ucp_worker_h handle() const { return handle_; }

  /// Sends on an endpoint. Throws if UCX does not take the message.
  void send(ucp_ep_h endpoint, std::shared_ptr<const message> sent);
  /// Closes an endpoint without waiting for the other process; what is not sent yet is dropped.
  void close(ucp_ep_h endpoint);
  /// on_broken() is called for the link in the next progress(), unless it is destroyed before.
  void report(ucx_link& broken) { broken_.push_back(&broken); }
  void forget(ucx_link& destroyed) { std::erase(broken_, &destroyed); }

 private:
  struct sending {
    ucx_worker* owner = nullptr;
    std::shared_ptr<const message> sent;
    std::list<sending>::iterator place;
  };
  /// Message whose payload is fetched from the sender (rendezvous).
  struct receiving {
    ucx_worker* owner = nullptr;
    message_header header;
    std::unique_ptr<std::byte[]> payload = std::make_unique<std::byte[]>(most_payload);
    std::list<receiving>::iterator place;
  };

  void create();
  void receive_messages();
  void receive(const message_header& header, void* data, std::size_t bytes, bool rendezvous);
  /// Keeps an exception for progress(), because UCX's functions cannot pass it on.
  void deliver(const message_header& header, std::span<const std::byte> payload);
  void fetch(const message_header& header, void* descriptor, std::size_t bytes);
  void fetched(receiving& done, ucs_status_t status, std::size_t bytes);
  void sent(sending& done);
  void report_broken_links();
  void finish_operations();

  static ucs_status_t on_arrival(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* parameters);
  static void on_fetched(void* request, ucs_status_t status, std::size_t bytes, void* operation);
  static void on_sent(void* request, ucs_status_t status, void* operation);
  static void on_closed(void* request, ucs_status_t status, void* self);

  const std::shared_ptr<const context> context_;
  receiver& target_;
  ucp_worker_h handle_ = nullptr;
  int event_ = -1;
  bool ending_ = false;
  std::exception_ptr thrown_;
  std::size_t closing_ = 0;
  in_flight<sending> sends_;
  in_flight<receiving> receives_;
  std::vector<ucx_link*> broken_;
};

/// An endpoint of UCX.
class ucx_link final : public link {
 public:
  ucx_link(ucx_worker& owner, std::string_view address, std::uint64_t tag);
  ~ucx_link() override;
  ucx_link(const ucx_link&) = delete;
  ucx_link& operator=(const ucx_link&) = delete;

  void send(std::shared_ptr<const message> sent) override;

  std::uint64_t tag() const { return tag_; }

 private:
  void break_off();
  static void on_error(void* self, ucp_ep_h endpoint, ucs_status_t status);

  ucx_worker& owner_;
  const std::uint64_t tag_;
  ucp_ep_h endpoint_ = nullptr;
  bool broken_ = false;
};

}  // namespace syncyte::fabric::ucx
