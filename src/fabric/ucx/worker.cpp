// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/worker.hpp"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "fabric/ucx/descriptors.hpp"
#include "fabric/ucx/log_lines.hpp"
#include "fabric/ucx/shared_memory.hpp"

namespace syncyte::fabric::ucx {
namespace {

constexpr unsigned message_id = 1;
constexpr std::size_t most_spare_endpoints = 64;
constexpr std::size_t most_spare_sends = 256;

/// A worker that ends sends what it can: at most for this time, and while something moves.
constexpr auto longest_end = std::chrono::seconds(2);
constexpr auto longest_pause = std::chrono::milliseconds(50);

/// Whether ucp_ep_create() failed because the other worker has ended. UNREACHABLE: its host refuses the connection.
bool is_peer_gone(ucs_status_t status) {
  return UCS_IS_ENDPOINT_ERROR(status) || status == UCS_ERR_CONNECTION_RESET || status == UCS_ERR_SHMEM_SEGMENT ||
         status == UCS_ERR_UNREACHABLE;
}

}  // namespace

ucx_worker::ucx_worker(std::shared_ptr<const context> used, receiver& target)
    : context_(std::move(used)), target_(target), endpoints_(most_spare_endpoints), sends_(most_spare_sends) {
  create();
  try {
    receive_messages();
    check("getting a worker's event descriptor", ucp_worker_get_efd(handle_, &event_));
  } catch (...) {
    ucp_worker_destroy(handle_);
    throw;
  }
}

void ucx_worker::create() {
  const kept_log_lines lines;
  need_descriptors(descriptors_of_worker);
  ucp_worker_params_t parameters = {};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  const ucs_status_t status = ucp_worker_create(context_->handle(), &parameters, &handle_);
  if (status == UCS_ERR_NO_MEMORY || status == UCS_ERR_NO_RESOURCE) blame_shared_memory();
  check("making a worker", status);
}

void ucx_worker::receive_messages() {
  ucp_am_handler_param_t parameters = {};
  parameters.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                          UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  parameters.id = message_id;
  parameters.flags = UCP_AM_FLAG_WHOLE_MSG;
  parameters.cb = on_arrival;
  parameters.arg = this;
  check("setting the handler of messages", ucp_worker_set_am_recv_handler(handle_, &parameters));
}

ucx_worker::~ucx_worker() {
  const kept_log_lines lines;
  is_ending_ = true;
  finish_operations();
  // UCX drops operations that are not finished; their memory is freed after this.
  ucp_worker_destroy(handle_);
}

bool ucx_worker::is_unfinished() const { return closing_ > 0 || !sends_.empty() || !endpoints_.empty(); }

void ucx_worker::finish_operations() {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  auto moved = begin;
  for (auto now = begin; is_unfinished() && now < begin + longest_end && now < moved + longest_pause;
       now = clock::now()) {
    if (ucp_worker_progress(handle_) != 0) moved = now;
    close_flushed();
  }
}

std::string ucx_worker::address() const {
  ucp_address_t* bytes = nullptr;
  std::size_t size = 0;
  check("getting a worker's address", ucp_worker_get_address(handle_, &bytes, &size));
  std::string copy(reinterpret_cast<const char*>(bytes), size);
  ucp_worker_release_address(handle_, bytes);
  return copy;
}

std::unique_ptr<link> ucx_worker::connect(std::string_view address, std::uint64_t tag) {
  return std::make_unique<ucx_link>(*this, address, tag);
}

bool ucx_worker::progress() {
  const kept_log_lines lines;
  const bool moved = ucp_worker_progress(handle_) != 0;
  close_flushed();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (broken_.empty()) return moved;
  report_broken_links();
  return true;
}

void ucx_worker::report_broken_links() {
  std::vector<std::uint64_t> tags;
  for (const ucx_link* broken : broken_) tags.push_back(broken->tag());
  broken_.clear();
  for (const std::uint64_t tag : tags) target_.on_broken(tag);
}

bool ucx_worker::arm() {
  if (!broken_.empty() || !flushed_.empty()) return false;
  const ucs_status_t status = ucp_worker_arm(handle_);
  if (status == UCS_ERR_BUSY) return false;
  check("arming a worker's event descriptor", status);
  return true;
}

ucx_worker::endpoint* ucx_worker::open(ucx_link& user, std::string_view address) {
  const kept_log_lines lines;
  need_descriptors(descriptors_of_endpoint);
  endpoint& opened = endpoints_.begin();
  opened.owner = this;
  opened.user = &user;
  ucp_ep_params_t parameters = {};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler = {on_error, &opened};
  const ucs_status_t status = ucp_ep_create(handle_, &parameters, &opened.handle);
  if (status == UCS_OK) return &opened;
  endpoints_.end(opened);
  if (!is_peer_gone(status)) fail("connecting", status);
  return nullptr;
}

void ucx_worker::on_error(void* failed, ucp_ep_h, ucs_status_t) {
  ucx_link* user = static_cast<endpoint*>(failed)->user;
  if (user != nullptr) user->break_off();
}

// An endpoint is closed by force, which does not wait for the other process. UCX 1.13 aborts the process if messages of
// the connection itself are not sent then.
void ucx_worker::leave(endpoint& left) {
  const kept_log_lines lines;
  left.user = nullptr;
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.cb.send = on_flushed;
  parameters.user_data = &left;
  const ucs_status_ptr_t request = ucp_ep_flush_nbx(left.handle, &parameters);
  if (request == nullptr || UCS_PTR_IS_ERR(request)) close(left);
}

void ucx_worker::on_flushed(void* request, ucs_status_t, void* left) {
  auto& flushed = *static_cast<endpoint*>(left);
  flushed.owner->flushed_.push_back(&flushed);
  ucp_request_free(request);
}

void ucx_worker::close_flushed() {
  for (endpoint* flushed : std::exchange(flushed_, {})) close(*flushed);
}

void ucx_worker::close(endpoint& left) {
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  parameters.cb.send = on_closed;
  parameters.user_data = this;
  parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
  const ucs_status_ptr_t request = ucp_ep_close_nbx(left.handle, &parameters);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) ++closing_;
  endpoints_.end(left);
}

void ucx_worker::on_closed(void* request, ucs_status_t, void* self) {
  --static_cast<ucx_worker*>(self)->closing_;
  ucp_request_free(request);
}

ucs_status_t ucx_worker::send(endpoint& way, std::shared_ptr<const message> sent) {
  const kept_log_lines lines;
  sending& operation = sends_.begin();
  operation.owner = this;
  operation.sent = std::move(sent);
  const message& content = *operation.sent;
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                            UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.send = on_sent;
  parameters.user_data = &operation;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  // By rendezvous the receiver would read memory that is free already if this link is destroyed meanwhile.
  parameters.flags = UCP_AM_SEND_FLAG_EAGER;
  const ucs_status_ptr_t request = ucp_am_send_nbx(way.handle, message_id, &content.header, sizeof content.header,
                                                   content.data.data(), content.size, &parameters);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) return UCS_OK;
  this->sent(operation);
  return UCS_PTR_STATUS(request);
}

void ucx_worker::sent(sending& done) {
  const std::shared_ptr<const message> released = std::move(done.sent);
  sends_.end(done);
}

void ucx_worker::on_sent(void* request, ucs_status_t, void* operation) {
  auto& done = *static_cast<sending*>(operation);
  done.owner->sent(done);
  ucp_request_free(request);
}

ucs_status_t ucx_worker::on_arrival(void* self, const void* header, std::size_t header_bytes, void* data,
                                    std::size_t bytes, const ucp_am_recv_param_t* parameters) {
  auto& owner = *static_cast<ucx_worker*>(self);
  // Messages are sent eagerly (send()): a rendezvous is not one of ours.
  const bool rendezvous = (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  if (owner.is_ending_ || rendezvous || header_bytes != sizeof(message_header) || bytes > most_payload) return UCS_OK;
  message_header begin;
  std::memcpy(&begin, header, sizeof begin);
  owner.deliver(begin, {static_cast<const std::byte*>(data), bytes});
  return UCS_OK;
}

void ucx_worker::deliver(const message_header& header, std::span<const std::byte> payload) {
  try {
    target_.on_message(header, payload);
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

ucx_link::ucx_link(ucx_worker& owner, std::string_view address, std::uint64_t tag) : owner_(owner), tag_(tag) {
  if (address.empty()) throw std::runtime_error("UCX: the address of a worker is empty");
  endpoint_ = owner_.open(*this, address);
  if (endpoint_ == nullptr) break_off();
}

ucx_link::~ucx_link() {
  owner_.forget(*this);
  if (endpoint_ != nullptr) owner_.leave(*endpoint_);
}

void ucx_link::send(std::shared_ptr<const message> sent) {
  if (is_broken_) return;
  const ucs_status_t status = owner_.send(*endpoint_, std::move(sent));
  if (status != UCS_OK) break_off();
}

void ucx_link::break_off() {
  if (is_broken_) return;
  is_broken_ = true;
  owner_.report(*this);
}

}  // namespace syncyte::fabric::ucx
