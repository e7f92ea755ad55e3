// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The reference of rows between hosts: a request and its answer through UCX without Syncyte.

#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace syncyte::bench {

/// Two ranks: rank 0 asks, a thread of rank 1 answers. Active messages: a request has 8 bytes, the answer is one
/// contiguous message of any length. The thread sleeps on its worker's event descriptor while there is no request;
/// rank 0 polls.
class raw_ucx {
 public:
  /// `most`: longest answer in bytes. Collective.
  explicit raw_ucx(std::size_t most);
  /// Collective.
  ~raw_ucx();
  raw_ucx(const raw_ucx&) = delete;
  raw_ucx& operator=(const raw_ucx&) = delete;

  /// Rank 0 only: fills `answer` with as many bytes of rank 1.
  void ask(std::span<std::byte> answer);

 private:
  static ucs_status_t on_request(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* parameters);
  static ucs_status_t on_answer(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                const ucp_am_recv_param_t* parameters);
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* self);

  void open();
  void receive(unsigned id, ucp_am_recv_callback_t handler);
  void connect();
  void send(unsigned id, const void* header, std::size_t header_bytes, std::size_t bytes);
  void serve();
  void close();
  void wait_for_other();

  const bool asks_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  int event_ = -1;
  int stop_event_ = -1;
  std::vector<std::byte> memory_;  // of rank 1's answers
  std::span<std::byte> answer_;    // of rank 0's request
  bool has_answer_ = false;
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace syncyte::bench
