// SPDX-License-Identifier: BSD-3-Clause
#include "raw_ucx.hpp"

#include <mpi.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace syncyte::bench {
namespace {

constexpr unsigned request_id = 1, answer_id = 2;

void check(const char* action, ucs_status_t status) {
  if (status == UCS_OK) return;
  std::fprintf(stderr, "UCX without Syncyte: %s: %s\n", action, ucs_status_string(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

bool is_first_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

/// The other rank's bytes in exchange for these. Collective over two ranks.
std::string exchange(const std::string& mine) {
  const int other = is_first_rank() ? 1 : 0;
  int my_size = static_cast<int>(mine.size()), other_size = 0;
  MPI_Sendrecv(&my_size, 1, MPI_INT, other, 0, &other_size, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string result(static_cast<std::size_t>(other_size), '\0');
  MPI_Sendrecv(mine.data(), my_size, MPI_BYTE, other, 0, result.data(), other_size, MPI_BYTE, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  return result;
}

}  // namespace

raw_ucx::raw_ucx(std::size_t most) : asks_(is_first_rank()), memory_(asks_ ? 0 : most, std::byte{1}) {
  open();
  receive(request_id, on_request);
  receive(answer_id, on_answer);
  connect();
  if (asks_) return;
  stop_event_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { serve(); });
}

void raw_ucx::open() {
  ucp_params_t parameters = {};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  check("initialization", ucp_init(&parameters, nullptr, &context_));
  ucp_worker_params_t worker = {};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check("making a worker", ucp_worker_create(context_, &worker, &worker_));
  check("getting the event descriptor", ucp_worker_get_efd(worker_, &event_));
}

void raw_ucx::receive(unsigned id, ucp_am_recv_callback_t handler) {
  ucp_am_handler_param_t parameters = {};
  parameters.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                          UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  parameters.id = id;
  parameters.flags = UCP_AM_FLAG_WHOLE_MSG;
  parameters.cb = handler;
  parameters.arg = this;
  check("setting a handler", ucp_worker_set_am_recv_handler(worker_, &parameters));
}

void raw_ucx::connect() {
  ucp_address_t* address = nullptr;
  std::size_t size = 0;
  check("getting the address", ucp_worker_get_address(worker_, &address, &size));
  const std::string other = exchange(std::string(reinterpret_cast<const char*>(address), size));
  ucp_worker_release_address(worker_, address);
  ucp_ep_params_t parameters = {};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  parameters.address = reinterpret_cast<const ucp_address_t*>(other.data());
  check("connecting", ucp_ep_create(worker_, &parameters, &endpoint_));
}

void raw_ucx::send(unsigned id, const void* header, std::size_t header_bytes, std::size_t bytes) {
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
  parameters.cb.send = [](void* request, ucs_status_t status, void*) {
    check("sending", status);
    ucp_request_free(request);
  };
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(endpoint_, id, header, header_bytes, memory_.data(), bytes, &parameters);
  if (UCS_PTR_IS_ERR(request)) check("sending", UCS_PTR_STATUS(request));
}

void raw_ucx::ask(std::span<std::byte> answer) {
  answer_ = answer;
  has_answer_ = false;
  const std::uint64_t bytes = answer.size();
  send(request_id, &bytes, sizeof bytes, 0);
  while (!has_answer_) ucp_worker_progress(worker_);
}

ucs_status_t raw_ucx::on_request(void* self, const void* header, std::size_t header_bytes, void*, std::size_t,
                                 const ucp_am_recv_param_t*) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, header, header_bytes);
  static_cast<raw_ucx*>(self)->send(answer_id, nullptr, 0, bytes);
  return UCS_OK;
}

ucs_status_t raw_ucx::on_answer(void* self, const void*, std::size_t, void* data, std::size_t bytes,
                                const ucp_am_recv_param_t* parameters) {
  auto& asker = *static_cast<raw_ucx*>(self);
  if ((parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    std::memcpy(asker.answer_.data(), data, bytes);
    asker.has_answer_ = true;
    return UCS_OK;
  }
  ucp_request_param_t options = {};
  options.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  options.cb.recv_am = on_received;
  options.user_data = self;
  const ucs_status_ptr_t request = ucp_am_recv_data_nbx(asker.worker_, data, asker.answer_.data(), bytes, &options);
  if (UCS_PTR_IS_ERR(request)) check("receiving", UCS_PTR_STATUS(request));
  if (request == nullptr) asker.has_answer_ = true;
  return UCS_INPROGRESS;
}

void raw_ucx::on_received(void* request, ucs_status_t status, std::size_t, void* self) {
  check("receiving", status);
  static_cast<raw_ucx*>(self)->has_answer_ = true;
  ucp_request_free(request);
}

void raw_ucx::serve() {
  while (!is_stopping_) {
    if (ucp_worker_progress(worker_) != 0) continue;
    if (ucp_worker_arm(worker_) != UCS_OK) continue;
    pollfd events[] = {{event_, POLLIN, 0}, {stop_event_, POLLIN, 0}};
    ::poll(events, 2, -1);
  }
}

void raw_ucx::close() {
  const ucs_status_ptr_t request = ucp_ep_close_nb(endpoint_, UCP_EP_CLOSE_MODE_FLUSH);
  if (request == nullptr || UCS_PTR_IS_ERR(request)) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
  ucp_request_free(request);
}

/// A barrier with progress of UCX, which the other rank may need to close its endpoint.
void raw_ucx::wait_for_other() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    ucp_worker_progress(worker_);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

raw_ucx::~raw_ucx() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (thread_.joinable()) {
    is_stopping_ = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_event_, &one, sizeof one);
    thread_.join();
    ::close(stop_event_);
  }
  close();
  wait_for_other();
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

}  // namespace syncyte::bench
