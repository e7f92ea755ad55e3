// Operators for C++ and TorchScript, which have no request objects: started collectives by their names, sends and
// receives in one, and the wait for whatever a ticket stands for. All are made of the operators that have kernels;
// graphs of torch.compile hold those, and their waits.

#include <torch/library.h>

#include <exception>
#include <initializer_list>
#include <vector>

#include "collectives/communicators.hpp"
#include "autograd/join_dummies.hpp"
#include "collectives/lengths.hpp"
#include "messages/messages.hpp"
#include "autograd/tensor_modes.hpp"
#include "messages/tickets.hpp"
#include "collectives/started_collective.hpp"

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
  return wait(isend_operator().call(input, comm, dest, tag, false));
}

at::Tensor recv(const at::Tensor& like, std::int64_t comm, std::int64_t source, std::int64_t tag) {
  return wait(irecv_operator().call(like, comm, source, tag));
}

at::Tensor sendrecv(const at::Tensor& input, std::int64_t comm, std::int64_t dest, const at::Tensor& like,
                    std::int64_t source, std::int64_t tag, std::int64_t recv_tag) {
  const at::Tensor sent = isend_operator().call(input, comm, dest, tag, false);
  const at::Tensor received = recv(join_dummies(like, {sent}), comm, source, recv_tag);
  return join_dummies(received, {wait(sent)});
}

// ---- Started collectives ----

/// A wrong axis is left to the operation, which tells all ranks.
extents with_extent(at::IntArrayRef shape, std::int64_t axis, std::int64_t extent) {
  extents result = shape.vec();
  const auto dimensions = static_cast<std::int64_t>(result.size());
  if (axis >= -dimensions && axis < dimensions)
    result[static_cast<std::size_t>(axis < 0 ? axis + dimensions : axis)] = extent;
  return result;
}

std::int64_t own(at::IntArrayRef lengths, std::int64_t comm) {
  const auto rank = static_cast<std::size_t>(rank_in(comm));
  return rank < lengths.size() ? lengths[rank] : 0;
}

extents joined(std::initializer_list<at::IntArrayRef> parts) {
  extents result;
  for (const at::IntArrayRef part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

at::Tensor iallreduce(const at::Tensor& input, std::int64_t comm, std::int64_t op) {
  return call_start(input, comm, collective::allreduce, {}, input.sizes(), op);
}

at::Tensor ibcast(const at::Tensor& input, std::int64_t comm, std::int64_t root) {
  return call_start(input, comm, collective::bcast, root, input.sizes(), SYNCYTE_OP_SUM);
}

at::Tensor iallgather_along(const at::Tensor& input, std::int64_t comm, std::int64_t axis, at::IntArrayRef lengths) {
  return call_start(input, comm, collective::allgather, joined({axis, lengths}),
                    with_extent(input.sizes(), axis, sum_of(lengths)), SYNCYTE_OP_SUM);
}

at::Tensor ireduce_scatter_along(const at::Tensor& input, std::int64_t comm, std::int64_t axis, at::IntArrayRef lengths,
                                 std::int64_t op) {
  return call_start(input, comm, collective::reduce_scatter, joined({axis, lengths}),
                    with_extent(input.sizes(), axis, own(lengths, comm)), op);
}

at::Tensor ialltoall_along(const at::Tensor& input, std::int64_t comm, std::int64_t gather_axis,
                           at::IntArrayRef gather_lengths, std::int64_t scatter_axis, at::IntArrayRef scatter_lengths) {
  const extents gathered = with_extent(input.sizes(), gather_axis, sum_of(gather_lengths));
  return call_start(input, comm, collective::alltoall,
                    joined({gather_axis, scatter_axis, gather_lengths, scatter_lengths}),
                    with_extent(gathered, scatter_axis, own(scatter_lengths, comm)), SYNCYTE_OP_SUM);
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  namespace ops = syncyte::torch_binding;
  // Of a ticket, once.
  library.def("wait(Tensor ticket) -> Tensor", ops::wait);
  library.def("wait_all(Tensor[] tickets) -> Tensor[]", ops::wait_all);
  library.def("send(Tensor input, int comm, int dest, int tag=0) -> Tensor", ops::send);
  library.def("recv(Tensor like, int comm, int source, int tag=0) -> Tensor", ops::recv);
  library.def(
      "sendrecv(Tensor input, int comm, int dest, Tensor like, int source, int tag=0, int recv_tag=0) -> Tensor",
      ops::sendrecv);
  // These return tickets; arguments as of the blocking ones, with the lengths of all ranks.
  library.def("iallreduce(Tensor input, int comm, int op=1) -> Tensor", ops::iallreduce);
  library.def("ibcast(Tensor input, int comm, int root) -> Tensor", ops::ibcast);
  library.def("iallgather_along(Tensor input, int comm, int axis, int[] lengths) -> Tensor", ops::iallgather_along);
  library.def("ireduce_scatter_along(Tensor input, int comm, int axis, int[] lengths, int op=1) -> Tensor",
              ops::ireduce_scatter_along);
  library.def(
      "ialltoall_along(Tensor input, int comm, int gather_axis, int[] gather_lengths, int scatter_axis, "
      "int[] scatter_lengths) -> Tensor",
      ops::ialltoall_along);
}
