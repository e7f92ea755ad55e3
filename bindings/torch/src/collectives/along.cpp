// torch.ops.syncyte.*_along: arrays that are cut along an axis, a part on each rank.
//
// allgather: y_r = x, the parts joined, on every rank. Adjoint: reduce_scatter, the sum over ranks of the cotangents'
// parts. gather: y_root = x. Adjoint: scatter. alltoall: y is x partitioned along another axis, a permutation of
// elements. Adjoint: its inverse, the axes exchanged.

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <array>

#include "tensors/buffers.hpp"
#include "collectives/calls.hpp"
#include "collectives/lengths.hpp"
#include "collectives/linear.hpp"

namespace syncyte::torch_binding {
namespace {

std::int64_t wrapped(std::int64_t axis, std::size_t dimensions) {
  const auto count = static_cast<std::int64_t>(dimensions);
  TORCH_CHECK_VALUE(count > 0, "input has no dimension; expected 1 or more");
  TORCH_CHECK_INDEX(axis >= -count && axis < count, "axis is ", axis, "; expected ", -count, " to ", count - 1);
  return axis < 0 ? axis + count : axis;
}

extents with_extent(extents shape, std::int64_t axis, std::int64_t extent) {
  shape[static_cast<std::size_t>(wrapped(axis, shape.size()))] = extent;
  return shape;
}

/// This rank's of the lengths of all.
std::int64_t own(std::int64_t comm, const extents& lengths) {
  TORCH_CHECK_VALUE(lengths.size() == size_of(comm), "lengths has ", lengths.size(), " numbers; expected ",
                    size_of(comm), ", one per rank");
  for (std::size_t i = 0; i < lengths.size(); ++i)
    TORCH_CHECK_VALUE(lengths[i] >= 0, "lengths[", i, "] is ", lengths[i], "; expected 0 or more");
  return lengths[static_cast<std::size_t>(rank_in(comm))];
}

at::Tensor like(const at::Tensor& input, const extents& shape) { return at::empty(shape, input.options()); }

/// A zero of a shape that is connected to a tensor without elements: its gradient must travel on, though it is nothing.
at::Tensor zeros_connected_to(const at::Tensor& nothing, const extents& shape) { return nothing.sum().expand(shape); }

struct allgather {
  static constexpr const char* name = "syncyte::allgather_along";
  static constexpr const char* overload = "lengths";
  using parameters = std::tuple<std::int64_t, std::int64_t, extents>;

  static extents shape(const at::Tensor& input, std::int64_t axis, const extents& lengths) {
    return with_extent(concrete_shape(input), axis, sum_of(lengths));
  }
  static at::Tensor meta(const at::Tensor& input, std::int64_t, std::int64_t axis, const extents& lengths) {
    return like(input, shape(input, axis, lengths));
  }
  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                            derivatives asked);
  static at::Tensor adjoint(const at::Tensor& gradient, const extents& shape, derivatives asked, std::int64_t comm,
                            std::int64_t axis, const extents& lengths);
};

struct reduce_scatter {
  static constexpr const char* name = "syncyte::reduce_scatter_along";
  static constexpr const char* overload = "lengths";
  using parameters = std::tuple<std::int64_t, std::int64_t, extents, std::int64_t>;

  static extents shape(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths) {
    return with_extent(concrete_shape(input), axis, own(comm, lengths));
  }
  static at::Tensor meta(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                         std::int64_t) {
    return like(input, shape(input, comm, axis, lengths));
  }
  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                            std::int64_t op, derivatives asked);
  static at::Tensor adjoint(const at::Tensor& gradient, const extents& shape, derivatives asked, std::int64_t comm,
                            std::int64_t axis, const extents& lengths, std::int64_t op);
  static std::int64_t op_of(const parameters& given) { return std::get<3>(given); }
};

struct gather {
  static constexpr const char* name = "syncyte::gather_along";
  static constexpr const char* overload = "lengths";
  using parameters = std::tuple<std::int64_t, std::int64_t, extents, std::int64_t>;

  /// Elsewhere than on root nothing.
  static extents shape(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                       std::int64_t root) {
    return with_extent(concrete_shape(input), axis, rank_in(comm) == root ? sum_of(lengths) : 0);
  }
  static at::Tensor meta(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                         std::int64_t root) {
    return like(input, shape(input, comm, axis, lengths, root));
  }
  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                            std::int64_t root, derivatives asked);
  static at::Tensor adjoint(const at::Tensor& gradient, const extents& shape, derivatives asked, std::int64_t comm,
                            std::int64_t axis, const extents& lengths, std::int64_t root);
};

struct scatter {
  static constexpr const char* name = "syncyte::scatter_along";
  static constexpr const char* overload = "lengths";
  // The last one is the whole array's shape: other ranks' inputs have none of it.
  using parameters = std::tuple<std::int64_t, std::int64_t, extents, std::int64_t, extents>;

  static extents shape(std::int64_t comm, std::int64_t axis, const extents& lengths, const extents& whole) {
    return with_extent(whole, axis, own(comm, lengths));
  }
  static at::Tensor meta(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                         std::int64_t, const extents& whole) {
    return like(input, shape(comm, axis, lengths, whole));
  }
  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                            std::int64_t root, const extents& whole, derivatives asked);
  static at::Tensor adjoint(const at::Tensor& gradient, const extents& shape, derivatives asked, std::int64_t comm,
                            std::int64_t axis, const extents& lengths, std::int64_t root, const extents& whole);
};

struct alltoall {
  static constexpr const char* name = "syncyte::alltoall_along";
  static constexpr const char* overload = "lengths";
  using parameters = std::tuple<std::int64_t, std::int64_t, extents, std::int64_t, extents>;

  static extents shape(const at::Tensor& input, std::int64_t comm, std::int64_t gather_axis, const extents& gathered,
                       std::int64_t scatter_axis, const extents& scattered) {
    const extents joined = with_extent(concrete_shape(input), gather_axis, sum_of(gathered));
    return with_extent(joined, scatter_axis, own(comm, scattered));
  }
  static at::Tensor meta(const at::Tensor& input, std::int64_t comm, std::int64_t gather_axis, const extents& gathered,
                         std::int64_t scatter_axis, const extents& scattered) {
    return like(input, shape(input, comm, gather_axis, gathered, scatter_axis, scattered));
  }
  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, std::int64_t gather_axis,
                            const extents& gathered, std::int64_t scatter_axis, const extents& scattered,
                            derivatives asked);
  static at::Tensor adjoint(const at::Tensor& gradient, const extents& shape, derivatives asked, std::int64_t comm,
                            std::int64_t gather_axis, const extents& gathered, std::int64_t scatter_axis,
                            const extents& scattered);
};

at::Tensor allgather::forward(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                              derivatives asked) {
  return collect(
      "comm_allgather_along", comm, input, operand::along, asked,
      [&] {
        own(comm, lengths);
        return shape(input, axis, lengths);
      },
      [&](const auto& from, const auto& options, const auto& to) {
        return syncyte_comm_allgather_along(group_of(comm), &from, static_cast<std::int32_t>(axis), lengths.data(),
                                            &options, &to);
      });
}

at::Tensor allgather::adjoint(const at::Tensor& gradient, const extents&, derivatives asked, std::int64_t comm,
                              std::int64_t axis, const extents& lengths) {
  return linear_operator<reduce_scatter>::call(gradient, {comm, axis, lengths, SYNCYTE_OP_SUM}, asked);
}

at::Tensor reduce_scatter::forward(const at::Tensor& input, std::int64_t comm, std::int64_t axis,
                                   const extents& lengths, std::int64_t op, derivatives asked) {
  return collect(
      "comm_reduce_scatter_along", comm, input, operand::along, asked,
      [&] {
        require_derivative("reduce_scatter_along", op, false, asked);
        return shape(input, comm, axis, lengths);
      },
      [&](const auto& from, const auto& options, const auto& to) {
        return syncyte_comm_reduce_scatter_along(group_of(comm), &from, static_cast<std::int32_t>(axis), lengths.data(),
                                                 static_cast<syncyte_op_t>(op), &options, &to);
      });
}

at::Tensor reduce_scatter::adjoint(const at::Tensor& gradient, const extents&, derivatives asked, std::int64_t comm,
                                   std::int64_t axis, const extents& lengths, std::int64_t) {
  return linear_operator<allgather>::call(gradient, {comm, axis, lengths}, asked);
}

at::Tensor gather::forward(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                           std::int64_t root, derivatives asked) {
  return collect(
      "comm_gather_along", comm, input, operand::along, asked,
      [&] {
        own(comm, lengths);
        require_32_bits("root", root);
        return shape(input, comm, axis, lengths, root);
      },
      [&](const auto& from, const auto& options, const auto& to) {
        return syncyte_comm_gather_along(group_of(comm), &from, static_cast<std::int32_t>(axis), lengths.data(),
                                         static_cast<std::int32_t>(root), &options, &to);
      });
}

at::Tensor gather::adjoint(const at::Tensor& gradient, const extents& shape, derivatives asked, std::int64_t comm,
                           std::int64_t axis, const extents& lengths, std::int64_t root) {
  const extents whole = with_extent(shape, axis, sum_of(lengths));
  return linear_operator<scatter>::call(gradient, {comm, axis, lengths, root, whole}, asked);
}

at::Tensor scatter::forward(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                            std::int64_t root, const extents& whole, derivatives asked) {
  return collect(
      "comm_scatter_along", comm, input, operand::along, asked,
      [&] {
        require_32_bits("root", root);
        return shape(comm, axis, lengths, whole);
      },
      [&](const auto& from, const auto& options, const auto& to) {
        return syncyte_comm_scatter_along(group_of(comm), &from, static_cast<std::int32_t>(axis), lengths.data(),
                                          static_cast<std::int32_t>(root), &options, &to);
      });
}

at::Tensor scatter::adjoint(const at::Tensor& gradient, const extents& shape, derivatives asked, std::int64_t comm,
                            std::int64_t axis, const extents& lengths, std::int64_t root, const extents&) {
  const at::Tensor gathered = linear_operator<gather>::call(gradient, {comm, axis, lengths, root}, asked);
  return rank_in(comm) == root ? gathered : zeros_connected_to(gathered, shape);
}

at::Tensor alltoall::forward(const at::Tensor& input, std::int64_t comm, std::int64_t gather_axis,
                             const extents& gathered, std::int64_t scatter_axis, const extents& scattered,
                             derivatives asked) {
  return collect(
      "comm_alltoall_along", comm, input, operand::along, asked,
      [&] {
        own(comm, gathered);
        return shape(input, comm, gather_axis, gathered, scatter_axis, scattered);
      },
      [&](const auto& from, const auto& options, const auto& to) {
        return syncyte_comm_alltoall_along(group_of(comm), &from, static_cast<std::int32_t>(gather_axis),
                                           gathered.data(), static_cast<std::int32_t>(scatter_axis), scattered.data(),
                                           &options, &to);
      });
}

at::Tensor alltoall::adjoint(const at::Tensor& gradient, const extents&, derivatives asked, std::int64_t comm,
                             std::int64_t gather_axis, const extents& gathered, std::int64_t scatter_axis,
                             const extents& scattered) {
  return linear_operator<alltoall>::call(gradient, {comm, scatter_axis, scattered, gather_axis, gathered}, asked);
}

/// All ranks' extents of input along an axis.
extents collect_lengths(std::int64_t comm, std::int64_t mine) {
  extents lengths(size_of(comm));
  check(syncyte_comm_lengths(group_of(comm), mine, nullptr, lengths.data()));
  return lengths;
}

extents collect_lengths(const at::Tensor& input, std::int64_t comm, std::int64_t axis) {
  std::int64_t mine = 0;
  try {
    mine = input.sym_size(wrapped(axis, input.sym_sizes().size())).guard_int(__FILE__, __LINE__);
  } catch (...) {
    fail_together(group_of(comm), "comm_lengths");
  }
  return collect_lengths(comm, mine);
}

/// The shape of root's input, on all ranks.
extents shape_on(std::int64_t root, const at::Tensor& input, std::int64_t comm) {
  std::array<std::int64_t, SYNCYTE_MAX_NDIM + 1> message{};  // how many, which
  try {
    require_32_bits("root", root);
    const extents shape = concrete_shape(input);
    TORCH_CHECK_VALUE(rank_in(comm) != root || shape.size() < message.size(), "input has ", shape.size(),
                      " dimensions; expected at most ", SYNCYTE_MAX_NDIM);
    message[0] = static_cast<std::int64_t>(std::min(shape.size(), message.size() - 1));
    std::copy_n(shape.begin(), message[0], message.begin() + 1);
  } catch (...) {
    fail_together(group_of(comm), "comm_bcast");
  }
  const std::int64_t count[] = {static_cast<std::int64_t>(message.size())};
  syncyte_buffer_t buffer;
  check(syncyte_buffer_init(message.data(), SYNCYTE_INT64, 1, count, &buffer));
  check(syncyte_comm_bcast(group_of(comm), static_cast<std::int32_t>(root), nullptr, &buffer));
  return {message.begin() + 1, message.begin() + 1 + message[0]};
}

// Without lengths: they are collected first. A compiled graph is specialised to what was collected when it was traced;
// if another rank's lengths change, the agreement finds that on all ranks.

at::Tensor allgather_any(const at::Tensor& input, std::int64_t comm, std::int64_t axis) {
  return linear_operator<allgather>::call(input, {comm, axis, collect_lengths(input, comm, axis)}, {});
}

at::Tensor gather_any(const at::Tensor& input, std::int64_t comm, std::int64_t axis, std::int64_t root) {
  return linear_operator<gather>::call(input, {comm, axis, collect_lengths(input, comm, axis), root}, {});
}

at::Tensor scatter_any(const at::Tensor& input, std::int64_t comm, std::int64_t axis, std::int64_t length,
                       std::int64_t root) {
  const extents whole = shape_on(root, input, comm);
  return linear_operator<scatter>::call(input, {comm, axis, collect_lengths(comm, length), root, whole}, {});
}

at::Tensor reduce_scatter_any(const at::Tensor& input, std::int64_t comm, std::int64_t axis, std::int64_t length,
                              std::int64_t op) {
  return linear_operator<reduce_scatter>::call(input, {comm, axis, collect_lengths(comm, length), op}, {});
}

at::Tensor alltoall_any(const at::Tensor& input, std::int64_t comm, std::int64_t gather_axis, std::int64_t scatter_axis,
                        std::int64_t length) {
  const extents gathered = collect_lengths(input, comm, gather_axis);
  return linear_operator<alltoall>::call(
      input, {comm, gather_axis, gathered, scatter_axis, collect_lengths(comm, length)}, {});
}

void implement_all(torch::Library& library, c10::DispatchKey key) {
  implement<allgather>(library, "allgather_along.lengths", key);
  implement<gather>(library, "gather_along.lengths", key);
  implement<scatter>(library, "scatter_along.lengths", key);
  implement<reduce_scatter>(library, "reduce_scatter_along.lengths", key);
  implement<alltoall>(library, "alltoall_along.lengths", key);
}

}  // namespace

at::Tensor call_allgather_along(const at::Tensor& input, std::int64_t comm, std::int64_t axis, const extents& lengths,
                                derivatives asked) {
  return linear_operator<allgather>::call(input, {comm, axis, lengths}, asked);
}

at::Tensor call_alltoall_along(const at::Tensor& input, std::int64_t comm, std::int64_t gather_axis,
                               const extents& gathered, std::int64_t scatter_axis, const extents& scattered,
                               derivatives asked) {
  return linear_operator<alltoall>::call(input, {comm, gather_axis, gathered, scatter_axis, scattered}, asked);
}

}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def("allgather_along(Tensor input, int comm, int axis) -> Tensor", allgather_any);
  library.def("gather_along(Tensor input, int comm, int axis, int root) -> Tensor", gather_any);
  library.def("scatter_along(Tensor input, int comm, int axis, int length, int root) -> Tensor", scatter_any);
  library.def("reduce_scatter_along(Tensor input, int comm, int axis, int length, int op=1) -> Tensor",
              reduce_scatter_any);
  library.def("alltoall_along(Tensor input, int comm, int gather_axis, int scatter_axis, int length) -> Tensor",
              alltoall_any);
  library.def(
      "allgather_along.lengths(Tensor input, int comm, int axis, int[] lengths, bool needs_gradient=False, "
      "bool has_tangent=False, int forward_number=0) -> Tensor",
      tags);
  library.def(
      "gather_along.lengths(Tensor input, int comm, int axis, int[] lengths, int root, "
      "bool needs_gradient=False, bool has_tangent=False, int forward_number=0) -> Tensor",
      tags);
  library.def(
      "scatter_along.lengths(Tensor input, int comm, int axis, int[] lengths, int root, int[] shape, "
      "bool needs_gradient=False, bool has_tangent=False, int forward_number=0) -> Tensor",
      tags);
  library.def(
      "reduce_scatter_along.lengths(Tensor input, int comm, int axis, int[] lengths, int op=1, "
      "bool needs_gradient=False, bool has_tangent=False, int forward_number=0) -> Tensor",
      tags);
  library.def(
      "alltoall_along.lengths(Tensor input, int comm, int gather_axis, int[] gather_lengths, "
      "int scatter_axis, int[] scatter_lengths, bool needs_gradient=False, bool has_tangent=False, int "
      "forward_number=0) -> Tensor",
      tags);
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) { implement_all(library, c10::DispatchKey::CPU); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { implement_all(library, c10::DispatchKey::Meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { implement_all(library, c10::DispatchKey::Autograd); }
