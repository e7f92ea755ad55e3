#include "messages/tickets.hpp"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/library.h>

#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

constexpr std::size_t remembered_names = 1024;

/// All operations under way, by number.
class request_register {
 public:
  std::int64_t add(std::unique_ptr<outstanding> started) {
    const std::lock_guard lock(mutex_);
    const std::int64_t number = ++last_;
    active_.emplace(number, std::move(started));
    finish_dropped();
    return number;
  }

  std::unique_ptr<outstanding> take(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = active_.find(number);
    TORCH_CHECK(found != active_.end(), "wait: ", text_of(number), " has been waited for already");
    std::unique_ptr<outstanding> result = std::move(found->second);
    active_.erase(found);
    remember(number, result->operation);
    return result;
  }

  /// After a wait that a signal has ended.
  void put_back(std::int64_t number, std::unique_ptr<outstanding> active) {
    const std::lock_guard lock(mutex_);
    active_.emplace(number, std::move(active));
  }

  bool has_ended(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    std::int32_t done = 0;
    outstanding& asked = find(number, "test");
    const syncyte_status_t status = syncyte_request_test(&asked.request, &done);
    if (status != SYNCYTE_SUCCESS) {  // it has ended, and there is no result to wait for
      remember(number, asked.operation);
      active_.erase(number);
    }
    check(status);
    return done != 0;
  }

  std::function<at::Tensor(const at::Tensor&)> wait_of(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    return find(number, "wait").wait;
  }

  std::int64_t label_of(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    return find(number, "wait").status.label;
  }

  void leave(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    dropped_.push_back(number);
    finish_dropped();
  }

  std::int64_t count() {
    const std::lock_guard lock(mutex_);
    finish_dropped();
    return static_cast<std::int64_t>(active_.size());
  }

  /// The last tensor with the number is gone. Called from destructors: says what is wrong, throws nothing.
  void drop(std::int64_t number) noexcept try {
    const std::lock_guard lock(mutex_);
    const auto found = active_.find(number);
    if (found == active_.end()) return;
    const std::string text = found->second->operation + " was dropped without a wait; it is completed later";
    syncyte_log(SYNCYTE_LOG_WARN, text.c_str());
    dropped_.push_back(number);
  } catch (...) {
  }

 private:
  outstanding& find(std::int64_t number, const char* operation) {
    const auto found = active_.find(number);
    TORCH_CHECK(found != active_.end(), operation, ": ", text_of(number), " has been waited for already");
    return *found->second;
  }

  std::string text_of(std::int64_t number) const {
    for (const auto& [ended, operation] : ended_)
      if (ended == number) return operation;
    return "operation " + std::to_string(number);
  }

  void remember(std::int64_t number, std::string operation) {
    ended_.emplace_back(number, std::move(operation));
    if (ended_.size() > remembered_names) ended_.pop_front();
  }

  /// Frees dropped operations that have ended; what they received, or why they failed, interests nobody.
  void finish_dropped() {
    std::erase_if(dropped_, [&](std::int64_t number) {
      const auto found = active_.find(number);
      if (found == active_.end()) return true;
      std::int32_t done = 0;
      static_cast<void>(syncyte_request_test(&found->second->request, &done));
      if (found->second->request != nullptr) return false;
      active_.erase(found);
      return true;
    });
  }

  std::mutex mutex_;
  std::int64_t last_ = 0;
  std::unordered_map<std::int64_t, std::unique_ptr<outstanding>> active_;
  std::deque<std::pair<std::int64_t, std::string>> ended_;
  std::vector<std::int64_t> dropped_;
};

request_register& requests() {
  static auto* const the_register = new request_register;  // leaked: tickets may outlive static objects
  return *the_register;
}

std::int64_t number_of(const at::Tensor& ticket) {
  return static_cast<std::int64_t>(ticket.is_cpu() ? *ticket.const_data_ptr<double>() : ticket.item<double>());
}

void drop_ticket(void* memory) {
  auto* const value = static_cast<double*>(memory);
  requests().drop(static_cast<std::int64_t>(*value));
  delete value;
}

}  // namespace

at::Tensor ticket_for(std::unique_ptr<outstanding> started, unclaimed when_dropped) {
  const auto number = static_cast<double>(requests().add(std::move(started)));
  if (when_dropped == unclaimed::waits) return at::scalar_tensor(number, at::kDouble);
  return at::from_blob(new double(number), {}, drop_ticket, at::kDouble);
}

at::Tensor ticket_on(c10::Device device, const at::Tensor& ticket) {
  const auto options = at::TensorOptions(at::kDouble).device(device);
  at::Tensor memory = at::scalar_tensor(static_cast<double>(number_of(ticket)), options);  // enqueued, not waited for
  void* const data = memory.mutable_data_ptr();
  // It is dropped when its tensor on the device is.
  return at::for_blob(data, {})
      .options(options)
      .target_device(device)
      .deleter([memory = std::move(memory), ticket](void*) {})
      .make_tensor();
}

at::Tensor no_ticket(c10::Device device) { return at::scalar_tensor(0, at::TensorOptions(at::kDouble).device(device)); }

bool is_no_ticket(const at::Tensor& ticket) { return number_of(ticket) == 0; }

at::Tensor result_of(const at::Tensor& ticket) {
  const auto wait = requests().wait_of(number_of(ticket));
  TORCH_CHECK(wait, "wait: the operation belongs to a backward pass, which waits for it");
  return wait(ticket);
}

std::unique_ptr<outstanding> wait_for(const at::Tensor& ticket) {
  std::unique_ptr<outstanding> result = requests().take(number_of(ticket));
  const syncyte_status_t status = syncyte_request_wait(&result->request);
  if (result->request != nullptr) requests().put_back(number_of(ticket), std::move(result));
  check(status);
  return result;
}

void leave(const at::Tensor& ticket) {
  if (!is_no_ticket(ticket)) requests().leave(number_of(ticket));
}

void refuse_batch(const at::Tensor& cotangent, const char* operation) {
  const auto keys = cotangent.key_set();
  TORCH_CHECK_NOT_IMPLEMENTED(!keys.has(c10::DispatchKey::Batched) && !keys.has(c10::DispatchKey::FuncTorchBatched),
                              "gradients of ", operation,
                              " cannot be batched (is_grads_batched=True, torch.vmap); differentiate one at a time");
}

std::int64_t label_of(const at::Tensor& ticket) { return requests().label_of(number_of(ticket)); }

std::int64_t requests_under_way() { return requests().count(); }

bool has_ended(const at::Tensor& ticket) { return is_no_ticket(ticket) || requests().has_ended(number_of(ticket)); }

}  // namespace syncyte::torch_binding
