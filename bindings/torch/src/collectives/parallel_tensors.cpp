// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.parallel_copy and relocate: tensors of which every rank has a copy, or a part. Such a tensor counts
// as one variable, from which all ranks compute the same loss. Steps on one rank alone are agreed on nevertheless,
// because backward is collective.
//
// parallel_copy: x as it is on every rank; backward is the sum over all ranks of the cotangents. It is for an x that is
// equal on all ranks, of which each computes a part of the result. Its conjugate is the allreduce with the identity as
// adjoint: either one's adjoint is the other. (f and g of Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3.)
//
// relocate: a tensor in another layout. In a layout every rank has the whole tensor (no dim), or the part that it has
// along a dimension, of the length that is given for it. From the whole to parts: each rank takes its own. From parts
// to the whole: allgather. From parts to other parts: alltoall. The adjoint of relocate(from, to) is relocate(to,
// from).

#define XXH_INLINE_ALL
#include <torch/library.h>
#include <xxhash.h>

#include <numeric>
#include <optional>
#include <utility>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "collectives/collective.hpp"

namespace syncyte::torch_binding {
namespace {

constexpr std::int32_t full = 2;  // SYNCYTE_CHECK=full

fact checksum_of(const at::Tensor& tensor) {
  const at::Tensor elements = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
  const std::uint64_t sum = XXH3_64bits(elements.const_data_ptr(), elements.nbytes());
  return {"checksum of input", static_cast<std::int64_t>(sum)};
}

/// Runs a step that sends nothing; if it fails on one rank, or ranks differ in `wanted` or in the input's shape (with
/// SYNCYTE_CHECK=full also in its elements, but not in backward passes), all ranks fail. While a graph is traced, and
/// with SYNCYTE_CHECK=off, it is this rank's alone.
template <class Step>
at::Tensor run_agreed(const char* operation, std::int64_t comm, const at::Tensor& input, derivatives wanted,
                      fact_list facts, Step step) {
  at::Tensor result;
  const auto checked_step = [&] {
    require_usable(input, operation);
    result = step();
  };
  const std::int32_t level = check_level(comm);
  if (level == 0 || input.unsafeGetTensorImpl()->is_python_dispatch()) {
    checked_step();
    return result;
  }
  const syncyte_status_t status = status_of([&] {
    checked_step();
    if (level == full && wanted.forward_number == 0) facts.push_back(checksum_of(input));
  });
  for (const fact& each : facts_of(wanted)) facts.push_back(each);
  if (status == SYNCYTE_SUCCESS) add_shape(facts, input.sizes());
  agree(comm, operation, status, facts);
  return result;
}

struct copy_to_parts {
  std::int64_t comm;

  const char* profiled_as() const { return "syncyte::parallel_copy"; }
  at::Tensor run(const at::Tensor& input, derivatives wanted) const {
    return run_agreed("parallel_copy", comm, input, wanted, {}, [&] { return input; });
  }
  at::Tensor call(const at::Tensor& input, derivatives) const { return apply_in_autograd(input, *this, {}); }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives wanted) const {
    const collective sum{.kind = collective_kind::allreduce, .comm = comm, .identity_adjoint = true};
    return sum.call(gradient, wanted);
  }
};

/// No partition: every rank has the whole.
using layout = std::optional<partition>;

/// This rank's part of the whole, contiguous, in memory of its own.
at::Tensor part_of(const at::Tensor& whole, std::int64_t comm, const partition& to) {
  const std::int64_t extent = extent_along(whole, "dim", to.axis);
  require_counts("counts", to, comm);
  TORCH_CHECK_VALUE(sum_of(to.counts) == extent, "relocate: counts adds up to ", sum_of(to.counts), "; expected ",
                    extent, ", the extent along dim ", to.axis);
  const auto own = to.counts.begin() + rank_in(comm);
  const std::int64_t first = std::accumulate(to.counts.begin(), own, std::int64_t{0});
  return whole.narrow(to.axis, first, *own).clone(at::MemoryFormat::Contiguous);
}

struct relocation {
  std::int64_t comm;
  layout from, to;

  const char* profiled_as() const { return "syncyte::relocate"; }
  at::Tensor run(const at::Tensor& input, derivatives wanted) const {
    if (from) {
      if (!to)
        return collective{.kind = collective_kind::allgather, .comm = comm, .gathered = *from}.call(input, wanted);
      return collective{.kind = collective_kind::alltoall, .comm = comm, .gathered = *from, .scattered = *to}.call(
          input, wanted);
    }
    if (!to) {
      require_usable(input, "relocate");
      return input.clone();
    }
    fact_list facts{{"dim", to->axis}, {"sum of counts", sum_of(to->counts)}};
    return run_agreed("relocate", comm, input, wanted, std::move(facts), [&] { return part_of(input, comm, *to); });
  }
  at::Tensor call(const at::Tensor& input, derivatives wanted) const {
    wanted.has_tangent = false;  // the parts are agreed on, or collectives that see the tangent themselves
    return apply_in_autograd(input, *this, wanted);
  }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives wanted) const {
    return relocation{comm, to, from}.call(gradient, wanted);
  }
};

at::Tensor parallel_copy(const at::Tensor& input, std::int64_t comm) { return copy_to_parts{comm}.call(input, {}); }

at::Tensor relocate(const at::Tensor& input, std::int64_t comm, std::optional<std::int64_t> from_dim,
                    at::IntArrayRef from_counts, std::optional<std::int64_t> to_dim, at::IntArrayRef to_counts) {
  const auto layout_of = [](std::optional<std::int64_t> dim, at::IntArrayRef counts) {
    return dim ? layout({*dim, counts.vec()}) : std::nullopt;
  };
  return relocation{comm, layout_of(from_dim, from_counts), layout_of(to_dim, to_counts)}.call(input, {});
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("parallel_copy", parallel_copy);
  library.impl("relocate", relocate);
}

}  // namespace syncyte::torch_binding
