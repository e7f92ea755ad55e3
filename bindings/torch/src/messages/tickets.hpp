#pragma once
// Started operations that autograd and compiled graphs hold by a ticket: a float64 scalar with a number that is never
// given twice. It is a floating-point number so that it has a gradient, which is the ticket of the adjoint operation:
// the backward of a wait starts, the backward of a start waits. Adding zeros to it changes nothing.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "syncyte.h"

namespace syncyte::torch_binding {

/// An operation under way. Owns what MPI reads and writes.
struct outstanding {
  at::Tensor memory;      // a message; a collective's result
  at::Tensor input;       // of a collective
  std::string operation;  // for messages: "isend to rank 1, tag 3"
  // A message's status; a collective's label is its number on the communicator.
  syncyte_message_status_t status{sizeof(syncyte_message_status_t), 0, 0, 0};
  syncyte_request_t request = nullptr;  // null: it has ended
  // The operator that waits for it, of the ticket: for those who know nothing but that.
  std::function<at::Tensor(const at::Tensor& ticket)> wait = {};
};

/// The fate of an operation whose ticket nobody holds any more.
enum class unclaimed {
  warns,  ///< the operation is completed later, with a warning: the user's own
  waits   ///< somebody will claim it: of a backward pass, which may add tickets
};

/// Takes a started operation in. Local.
at::Tensor ticket_for(std::unique_ptr<outstanding> started, unclaimed when_dropped);

/// A ticket on a device, in place of the one that is given.
at::Tensor ticket_on(c10::Device device, const at::Tensor& ticket);

/// The ticket of nothing, for which nobody waits.
at::Tensor no_ticket(c10::Device device = c10::kCPU);
bool is_no_ticket(const at::Tensor& ticket);

/// Waits for a ticket's operation and gives it up. A second time is an error that names it.
std::unique_ptr<outstanding> wait_for(const at::Tensor& ticket);

/// Waits by outstanding::wait, and returns its result.
at::Tensor result_of(const at::Tensor& ticket);

/// Gives a ticket up: its operation is completed later. Errors of that are lost.
void leave(const at::Tensor& ticket);

/// Throws for a cotangent that stands for several (is_grads_batched, torch.vmap): a ticket stands for one operation.
void refuse_batch(const at::Tensor& cotangent, const char* operation);

/// The label of an operation that has not been waited for.
std::int64_t label_of(const at::Tensor& ticket);

/// Whether a ticket's operation has ended; it is to be waited for nevertheless.
bool has_ended(const at::Tensor& ticket);

/// Operations that nobody has waited for: those under way, and those that have been given up but not ended.
std::int64_t requests_under_way();

}  // namespace syncyte::torch_binding
