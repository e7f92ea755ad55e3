// torch.ops.syncyte.relocate: a tensor in another layout. In a layout every rank has the whole tensor (no dim), or the
// part that it has along a dimension, of the length that is given for it.
//
// From the whole to parts: each rank takes its own. From parts to the whole: allgather. From parts to other parts:
// alltoall. The whole counts as one variable, of which each rank has a copy and from which all
// compute the same loss; so the adjoint of relocate(from, to) is relocate(to, from).

#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <numeric>
#include <optional>

#include "collectives/calls.hpp"
#include "autograd/forward_mode.hpp"
#include "tensors/handle_reference.hpp"
#include "collectives/lengths.hpp"
#include "collectives/linear.hpp"
#include "autograd/ordered.hpp"
#include "autograd/profile.hpp"
#include "collectives/agreed_step.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* name = "relocate";

struct layout {
  std::optional<std::int64_t> dim;  ///< none: every rank has the whole
  extents lengths;                  ///< along dim, one per rank
};

struct relocation {
  std::int64_t comm = 0;
  layout from, to;

  relocation reversed() const { return {comm, to, from}; }
};

/// This rank's part of the whole, contiguous, in memory of its own.
at::Tensor part_of(const at::Tensor& whole, std::int64_t comm, const layout& to) {
  const std::int64_t dimensions = whole.dim();
  TORCH_CHECK_INDEX(*to.dim >= -dimensions && *to.dim < dimensions, name, ": dim is ", *to.dim, "; expected ",
                    -dimensions, " to ", dimensions - 1);
  const std::int64_t dim = *to.dim < 0 ? *to.dim + dimensions : *to.dim;
  const std::int64_t extent = concrete_shape(whole)[static_cast<std::size_t>(dim)];
  TORCH_CHECK_VALUE(to.lengths.size() == size_of(comm), name, ": lengths has ", to.lengths.size(),
                    " numbers; expected ", size_of(comm), ", one per rank");
  for (std::size_t i = 0; i < to.lengths.size(); ++i)
    TORCH_CHECK_VALUE(to.lengths[i] >= 0, name, ": lengths[", i, "] is ", to.lengths[i], "; expected 0 or more");
  TORCH_CHECK_VALUE(sum_of(to.lengths) == extent, name, ": lengths adds up to ", sum_of(to.lengths), "; expected ",
                    extent, ", the extent along dim ", dim);
  const auto own = to.lengths.begin() + rank_in(comm);
  const std::int64_t first = std::accumulate(to.lengths.begin(), own, std::int64_t{0});
  return whole.narrow(dim, first, *own).clone(at::MemoryFormat::Contiguous);
}

at::Tensor part_agreed(const at::Tensor& whole, const relocation& what, derivatives asked) {
  at::Tensor part;
  fact_list facts{{"dim", *what.to.dim}, {"sum of lengths", sum_of(what.to.lengths)}};
  run_agreed(name, what.comm, whole, asked, std::move(facts), [&] { part = part_of(whole, what.comm, what.to); });
  return part;
}

at::Tensor move(const at::Tensor& input, const relocation& what, derivatives asked) {
  const auto& [comm, from, to] = what;
  if (!from.dim && !to.dim) return input.clone();
  if (!from.dim) return part_agreed(input, what, asked);
  if (!to.dim) return call_allgather_along(input, comm, *from.dim, from.lengths, asked);
  return call_alltoall_along(input, comm, *from.dim, from.lengths, *to.dim, to.lengths, asked);
}

at::Tensor relocated(const at::Tensor& input, const relocation& what, std::int64_t forward_number);

class relocation_function : public torch::autograd::Function<relocation_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const relocation& what,
                            std::int64_t forward_number) {
    at::Tensor result = move(input, what, {.needs_gradient = true, .forward_number = forward_number});
    auto kept = c10::make_intrusive<kept_of_forward>(what.comm);
    kept->what = what;
    kept->number = number_of_forward(what.comm, input);
    context->saved_data["kept"] = at::IValue::make_capsule(std::move(kept));
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto capsule = context->saved_data["kept"].toCapsule();
    const auto& kept = static_cast<const kept_of_forward&>(*capsule);
    const backward_range range("syncyte::relocate", gradients);
    return {relocated(gradients[0], kept.what.reversed(), kept.number), at::Tensor(), at::Tensor()};
  }

 private:
  struct kept_of_forward final : torch::CustomClassHolder {
    explicit kept_of_forward(std::int64_t comm) : reference(comm) {}
    comm_reference reference;
    relocation what;
    std::int64_t number = 0;
  };
};

at::Tensor relocated(const at::Tensor& input, const relocation& what, std::int64_t forward_number) {
  if (carries_tangent(input))
    return apply_to_dual(input, [&](const at::Tensor& part, bool) { return relocated(part, what, forward_number); });
  return in_order(input, [&](const at::Tensor& ordered) {
    return is_recorded(ordered) ? relocation_function::apply(ordered, what, forward_number)
                                : move(ordered, what, {.forward_number = forward_number});
  });
}

at::Tensor relocate(const at::Tensor& input, std::int64_t comm, std::optional<std::int64_t> from_dim,
                    at::IntArrayRef from_lengths, std::optional<std::int64_t> to_dim, at::IntArrayRef to_lengths) {
  return relocated(input, {comm, {from_dim, from_lengths.vec()}, {to_dim, to_lengths.vec()}}, 0);
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  library.def(
      "relocate(Tensor input, int comm, *, int? from_dim=None, int[] from_lengths=[], int? to_dim=None, "
      "int[] to_lengths=[]) -> Tensor",
      syncyte::torch_binding::relocate);
}
