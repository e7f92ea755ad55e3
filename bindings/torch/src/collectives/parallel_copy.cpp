// torch.ops.syncyte.parallel_copy: x as it is on every rank; backward is the sum over all ranks of the cotangents.
//
// It is for an x that is equal on all ranks, of which each computes a part of the result. Its conjugate is the
// allreduce with the identity as adjoint: either one's adjoint is the other. (f and g of Shoeybi et al., Megatron-LM,
// arXiv:1909.08053, section 3.)

#include <torch/library.h>

#include "autograd/linear_node.hpp"
#include "collectives/agreed_step.hpp"
#include "collectives/collective.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {
namespace {

struct copy_to_parts {
  std::int64_t comm = 0;

  struct references : comm_reference {
    explicit references(const copy_to_parts& of) : comm_reference(of.comm) {}
  };

  const char* profiled_as() const { return "syncyte::parallel_copy"; }

  at::Tensor run(const at::Tensor& input, derivatives asked) const {
    run_agreed("parallel_copy", comm, input, asked, {}, [] {});
    return input;
  }

  at::Tensor call(const at::Tensor& input, derivatives) const {
    return differentiated(input, *this, {}, [&](const at::Tensor& ordered) { return run(ordered, {}); });
  }

  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives asked) const {
    return torch_binding::call({.kind = collective_kind::allreduce, .comm = comm, .identity_adjoint = true}, gradient,
                               asked);
  }

  std::int64_t number_of_forward(const at::Tensor& input) const {
    return torch_binding::number_of_forward(comm, input);
  }
};

at::Tensor parallel_copy(const at::Tensor& input, std::int64_t comm) { return copy_to_parts{comm}.call(input, {}); }

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("parallel_copy", syncyte::torch_binding::parallel_copy);
}
