// Operators for C++ and TorchScript, which have no request objects: sends and receives in one, and the wait for the
// operation that a ticket stands for. All are made of the operators that have kernels;
// graphs of torch.compile hold those, and their waits.

#include <torch/library.h>

#include <exception>
#include <vector>

#include "autograd/join_dummies.hpp"
#include "autograd/tensor_modes.hpp"
#include "messages/messages.hpp"
#include "messages/tickets.hpp"

namespace syncyte::torch_binding {
namespace {

at::Tensor wait(const at::Tensor& ticket) {
  TORCH_CHECK_NOT_IMPLEMENTED(!is_traced(ticket),
                              "syncyte::wait: a ticket has no value while a graph is traced; expected a request of "
                              "syncyte.torch in what is compiled");
  return result_of(ticket);
}

/// Raises the first error after all have ended.
std::vector<at::Tensor> wait_all(at::TensorList tickets) {
  std::vector<at::Tensor> results;
  std::exception_ptr first;
  for (const at::Tensor& ticket : tickets) {
    try {
      results.push_back(wait(ticket));
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return results;
}

// ---- Messages ----

at::Tensor send(const at::Tensor& input, std::int64_t comm, std::int64_t dest, std::int64_t tag) {
  return wait(call_isend(input, {comm, dest, tag}, {}));
}

at::Tensor recv(const at::Tensor& like, std::int64_t comm, std::int64_t source, std::int64_t tag) {
  return wait(call_irecv(like, {comm, source, tag}));
}

at::Tensor sendrecv(const at::Tensor& input, std::int64_t comm, std::int64_t dest, const at::Tensor& like,
                    std::int64_t source, std::int64_t tag, std::int64_t recv_tag) {
  const at::Tensor sent = call_isend(input, {comm, dest, tag}, {});
  const at::Tensor received = recv(join_dummies(like, {sent}), comm, source, recv_tag);
  return join_dummies(received, {wait(sent)});
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  namespace ops = syncyte::torch_binding;
  // A ticket is waited for once.
  library.impl("wait", ops::wait);
  library.impl("wait_all", ops::wait_all);
  library.impl("send", ops::send);
  library.impl("recv", ops::recv);
  library.impl("sendrecv", ops::sendrecv);
}
