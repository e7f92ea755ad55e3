// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Started operations that autograd and compiled graphs hold by a ticket: a float64 scalar with a number that is never
// given twice. It is a floating-point number so that it has a gradient, which is the ticket of the adjoint operation:
// the backward of a wait starts, the backward of a start waits. Adding zeros to it changes nothing.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "syncyte/base.hpp"

namespace syncyte::torch_binding {

/// An operation in flight. Owns what MPI reads and writes.
struct outstanding {
  at::Tensor memory;                                                           // a message; a collective's result
  at::Tensor input;                                                            // of a collective
  std::string operation;                                                       // for messages: "isend to rank 1, tag 3"
  syncyte_message_status_t status{sizeof(syncyte_message_status_t), 0, 0, 0};  // of a message
  std::int64_t collective_number = 0;                                          // on the communicator
  syncyte_request_t request = nullptr;                                         // null: it has ended
  // Waits by the operator of this kind of operation, for callers that have only the ticket.
  std::function<at::Tensor(const at::Tensor& ticket)> wait = {};
};

/// An operation is abandoned if it is never waited for: it is completed later, and its result and errors are lost. What
/// happens when the last tensor with the ticket is destroyed:
enum class if_abandoned {
  warns,  ///< an operation of the user is abandoned, with a warning
  waits   ///< an operation of a backward pass is kept: a sum of tickets may still refer to it
};

/// Registers a started operation. Local.
at::Tensor ticket_for(std::unique_ptr<outstanding> started, if_abandoned then);

/// A copy of a ticket on a device. It keeps the given tensor.
at::Tensor ticket_on(c10::Device device, const at::Tensor& ticket);

/// A ticket that stands for no operation.
at::Tensor no_ticket(c10::Device device = c10::kCPU);
bool is_no_ticket(const at::Tensor& ticket);

/// Waits for a ticket's operation and removes it. A second wait is an error that names the operation.
std::unique_ptr<outstanding> wait_for(const at::Tensor& ticket);

/// Waits by outstanding::wait, and returns its result.
at::Tensor wait_for_result(const at::Tensor& ticket);

/// Abandons a ticket's operation.
void abandon(const at::Tensor& ticket);

/// Throws for a cotangent that stands for several (is_grads_batched, torch.vmap): a ticket stands for one operation.
void refuse_batch(const at::Tensor& cotangent, const char* operation);

/// The number of a collective that has not been waited for.
std::int64_t collective_number_of(const at::Tensor& ticket);

}  // namespace syncyte::torch_binding
