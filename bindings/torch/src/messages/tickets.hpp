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
  // Waits by the operator of this kind of operation, for callers that have only the ticket.
  std::function<at::Tensor(const at::Tensor& ticket)> wait = {};
};

/// The fate of an operation when the last tensor with its ticket is destroyed.
enum class unclaimed {
  warns,  ///< an operation of the user: it is completed later, with a warning
  waits   ///< an operation of a backward pass: a sum of tickets may still refer to it
};

/// Registers a started operation. Local.
at::Tensor ticket_for(std::unique_ptr<outstanding> started, unclaimed when_dropped);

/// A copy of a ticket on a device. It keeps the given tensor.
at::Tensor ticket_on(c10::Device device, const at::Tensor& ticket);

/// A ticket that stands for no operation.
at::Tensor no_ticket(c10::Device device = c10::kCPU);
bool is_no_ticket(const at::Tensor& ticket);

/// Waits for a ticket's operation and removes it. A second wait is an error that names the operation.
std::unique_ptr<outstanding> wait_for(const at::Tensor& ticket);

/// Waits by outstanding::wait, and returns its result.
at::Tensor result_of(const at::Tensor& ticket);

/// Drops a ticket: its operation is completed later, and its errors are lost.
void leave(const at::Tensor& ticket);

/// Throws for a cotangent that stands for several (is_grads_batched, torch.vmap): a ticket stands for one operation.
void refuse_batch(const at::Tensor& cotangent, const char* operation);

/// The label of an operation that has not been waited for.
std::int64_t label_of(const at::Tensor& ticket);

}  // namespace syncyte::torch_binding
