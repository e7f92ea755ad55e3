// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.wait, wait_all, test_message, requests_in_flight: operations in flight, by their tickets. Graphs of
// torch.compile hold the operators that start and those that wait for one kind of operation instead.

#include "requests/tickets.hpp"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/library.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "autograd/tensor_modes.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

constexpr std::size_t remembered_names = 1024;

/// All operations in flight, by number.
struct request_register {
  std::mutex mutex;
  std::int64_t last = 0;
  std::unordered_map<std::int64_t, std::unique_ptr<outstanding>> active;
  std::deque<std::pair<std::int64_t, std::string>> ended;
  std::vector<std::int64_t> abandoned;

  outstanding& find(std::int64_t number, const char* operation) {
    const auto found = active.find(number);
    if (found != active.end()) return *found->second;
    const auto known = std::find_if(ended.begin(), ended.end(), [&](const auto& each) { return each.first == number; });
    TORCH_CHECK(false, operation, ": ", known != ended.end() ? known->second : c10::str("operation ", number),
                " has been waited for already");
  }

  std::unique_ptr<outstanding> take(std::int64_t number, const char* operation) {
    ended.emplace_back(number, find(number, operation).operation);
    if (ended.size() > remembered_names) ended.pop_front();
    return std::move(active.extract(number).mapped());
  }

  /// Frees abandoned operations that have ended; their results and errors are lost.
  void finish_abandoned() {
    std::erase_if(abandoned, [&](std::int64_t number) {
      const auto found = active.find(number);
      if (found == active.end()) return true;
      std::int32_t done = 0;
      static_cast<void>(syncyte_request_test(&found->second->request, &done));
      if (found->second->request != nullptr) return false;
      active.erase(found);
      return true;
    });
  }
};

request_register& requests() {
  static auto* const the_register = new request_register;  // leaked: tickets may outlive static objects
  return *the_register;
}

std::int64_t number_of(const at::Tensor& ticket) {
  return static_cast<std::int64_t>(ticket.is_cpu() ? *ticket.const_data_ptr<double>() : ticket.item<double>());
}

/// Called when the last tensor with the number is destroyed: logs a warning, throws nothing.
void abandon_with_warning(void* memory) noexcept try {
  const std::unique_ptr<double> value(static_cast<double*>(memory));
  const auto number = static_cast<std::int64_t>(*value);
  const std::lock_guard lock(requests().mutex);
  const auto found = requests().active.find(number);
  if (found == requests().active.end()) return;
  const std::string text = found->second->operation + " was dropped without a wait; it is completed later";
  syncyte::log(log_level::warn, text);
  requests().abandoned.push_back(number);
} catch (...) {
}

}  // namespace

at::Tensor ticket_for(std::unique_ptr<outstanding> started, if_abandoned then) {
  request_register& all = requests();
  const std::lock_guard lock(all.mutex);
  const auto number = static_cast<double>(++all.last);
  all.active.emplace(all.last, std::move(started));
  all.finish_abandoned();
  if (then == if_abandoned::waits) return at::scalar_tensor(number, at::kDouble);
  return at::from_blob(new double(number), {}, abandon_with_warning, at::kDouble);
}

at::Tensor ticket_on(c10::Device device, const at::Tensor& ticket) {
  const auto options = at::TensorOptions(at::kDouble).device(device);
  at::Tensor memory = at::scalar_tensor(static_cast<double>(number_of(ticket)), options);  // enqueued, not waited for
  void* const data = memory.mutable_data_ptr();
  // The given ticket is destroyed with the one on the device.
  return at::for_blob(data, {})
      .options(options)
      .target_device(device)
      .deleter([memory = std::move(memory), ticket](void*) {})
      .make_tensor();
}

at::Tensor no_ticket(c10::Device device) { return at::scalar_tensor(0, at::TensorOptions(at::kDouble).device(device)); }

bool is_no_ticket(const at::Tensor& ticket) { return number_of(ticket) == 0; }

at::Tensor wait_for_result(const at::Tensor& ticket) {
  TORCH_CHECK_NOT_IMPLEMENTED(!is_traced(ticket),
                              "syncyte::wait: a ticket has no value while a graph is traced; expected a request of "
                              "syncyte.torch in what is compiled");
  std::unique_lock lock(requests().mutex);
  const auto wait = requests().find(number_of(ticket), "wait").wait;
  lock.unlock();
  TORCH_CHECK(wait, "wait: the operation belongs to a backward pass, which waits for it");
  return wait(ticket);
}

std::unique_ptr<outstanding> wait_for(const at::Tensor& ticket) {
  const std::int64_t number = number_of(ticket);
  std::unique_lock lock(requests().mutex);
  std::unique_ptr<outstanding> result = requests().take(number, "wait");
  lock.unlock();
  const syncyte_status_t status = syncyte_request_wait(&result->request);
  lock.lock();
  if (result->request != nullptr) requests().active.emplace(number, std::move(result));  // a signal has ended the wait
  lock.unlock();
  check(status);
  return result;
}

void abandon(const at::Tensor& ticket) {
  if (is_no_ticket(ticket)) return;
  const std::lock_guard lock(requests().mutex);
  requests().abandoned.push_back(number_of(ticket));
  requests().finish_abandoned();
}

void refuse_batch(const at::Tensor& cotangent, const char* operation) {
  const auto keys = cotangent.key_set();
  TORCH_CHECK_NOT_IMPLEMENTED(!keys.has(c10::DispatchKey::Batched) && !keys.has(c10::DispatchKey::FuncTorchBatched),
                              "gradients of ", operation,
                              " cannot be batched (is_grads_batched=True, torch.vmap); differentiate one at a time");
}

std::int64_t collective_number_of(const at::Tensor& ticket) {
  const std::lock_guard lock(requests().mutex);
  return requests().find(number_of(ticket), "wait").collective_number;
}

namespace {

/// Whether a ticket's operation has ended; the caller must wait for it nevertheless.
bool has_ended(const at::Tensor& ticket) {
  if (is_no_ticket(ticket)) return true;
  const std::int64_t number = number_of(ticket);
  const std::lock_guard lock(requests().mutex);
  std::int32_t done = 0;
  const syncyte_status_t status = syncyte_request_test(&requests().find(number, "test").request, &done);
  if (status != SYNCYTE_SUCCESS) requests().take(number, "test");  // it has ended without a result to wait for
  check(status);
  return done != 0;
}

/// The number of operations without a wait: those in flight, and abandoned ones that have not ended.
std::int64_t requests_in_flight() {
  const std::lock_guard lock(requests().mutex);
  requests().finish_abandoned();
  return static_cast<std::int64_t>(requests().active.size());
}

/// Raises the first error after all have ended; an exception from a signal handler at once.
std::vector<at::Tensor> wait_all(at::TensorList tickets) {
  std::vector<at::Tensor> results;
  std::exception_ptr first;
  for (const at::Tensor& ticket : tickets) {
    try {
      results.push_back(wait_for_result(ticket));
    } catch (const c10::Error&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return results;
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CPU, library) { library.impl("test_message", has_ended); }
TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  // A ticket is waited for once.
  library.impl("wait", wait_for_result);
  library.impl("wait_all", wait_all);
  library.impl("requests_in_flight", requests_in_flight);
}

}  // namespace syncyte::torch_binding
