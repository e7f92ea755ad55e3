// torch.ops.syncyte.relocate: a tensor in another layout. In a layout every rank has the whole tensor (no dim), or the
// part that it has along a dimension, of the length that is given for it.
//
// From the whole to parts: each rank takes its own. From parts to the whole: allgather. From parts to other parts:
// alltoall. The whole counts as one variable, of which each rank has a copy and from which all
// compute the same loss; so the adjoint of relocate(from, to) is relocate(to, from).

#include <torch/library.h>

#include <numeric>
#include <optional>
#include <utility>

#include "autograd/linear_node.hpp"
#include "collectives/agreed_step.hpp"
#include "collectives/collective.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {
namespace {

constexpr const char* name = "relocate";

/// No partition: every rank has the whole.
using layout = std::optional<partition>;

/// This rank's part of the whole, contiguous, in memory of its own.
at::Tensor part_of(const at::Tensor& whole, std::int64_t comm, const partition& to) {
  const std::int64_t dimensions = whole.dim();
  TORCH_CHECK_INDEX(to.axis >= -dimensions && to.axis < dimensions, name, ": dim is ", to.axis, "; expected ",
                    -dimensions, " to ", dimensions - 1);
  const std::int64_t dim = to.axis < 0 ? to.axis + dimensions : to.axis;
  const std::int64_t extent = concrete_shape(whole)[static_cast<std::size_t>(dim)];
  TORCH_CHECK_VALUE(to.counts.size() == size_of(comm), name, ": counts has ", to.counts.size(), " numbers; expected ",
                    size_of(comm), ", one per rank");
  for (std::size_t i = 0; i < to.counts.size(); ++i)
    TORCH_CHECK_VALUE(to.counts[i] >= 0, name, ": counts[", i, "] is ", to.counts[i], "; expected 0 or more");
  TORCH_CHECK_VALUE(sum_of(to.counts) == extent, name, ": counts adds up to ", sum_of(to.counts), "; expected ", extent,
                    ", the extent along dim ", dim);
  const auto own = to.counts.begin() + rank_in(comm);
  const std::int64_t first = std::accumulate(to.counts.begin(), own, std::int64_t{0});
  return whole.narrow(dim, first, *own).clone(at::MemoryFormat::Contiguous);
}

struct relocation {
  std::int64_t comm = 0;
  layout from, to;

  struct references : comm_reference {
    explicit references(const relocation& of) : comm_reference(of.comm) {}
  };

  const char* profiled_as() const { return "syncyte::relocate"; }

  at::Tensor run(const at::Tensor& input, derivatives asked) const {
    if (!from && !to) return input.clone();
    if (!from) return part_agreed(input, asked);
    if (!to)
      return torch_binding::call({.kind = collective_kind::allgather, .comm = comm, .gathered = *from}, input, asked);
    return torch_binding::call({.kind = collective_kind::alltoall, .comm = comm, .gathered = *from, .scattered = *to},
                               input, asked);
  }

  at::Tensor call(const at::Tensor& input, derivatives asked) const {
    asked.has_tangent = false;  // the parts are agreed on, or collectives that see the tangent themselves
    return differentiated(input, *this, asked, [&](const at::Tensor& ordered) { return run(ordered, asked); });
  }

  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives asked) const {
    return relocation{comm, to, from}.call(gradient, asked);
  }

  std::int64_t number_of_forward(const at::Tensor& input) const {
    return torch_binding::number_of_forward(comm, input);
  }

 private:
  at::Tensor part_agreed(const at::Tensor& whole, derivatives asked) const {
    at::Tensor part;
    fact_list facts{{"dim", to->axis}, {"sum of counts", sum_of(to->counts)}};
    run_agreed(name, comm, whole, asked, std::move(facts), [&] { part = part_of(whole, comm, *to); });
    return part;
  }
};

layout layout_of(std::optional<std::int64_t> dim, at::IntArrayRef counts) {
  return dim ? layout({*dim, counts.vec()}) : std::nullopt;
}

at::Tensor relocate(const at::Tensor& input, std::int64_t comm, std::optional<std::int64_t> from_dim,
                    at::IntArrayRef from_counts, std::optional<std::int64_t> to_dim, at::IntArrayRef to_counts) {
  return relocation{comm, layout_of(from_dim, from_counts), layout_of(to_dim, to_counts)}.call(input, {});
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("relocate", syncyte::torch_binding::relocate);
}
