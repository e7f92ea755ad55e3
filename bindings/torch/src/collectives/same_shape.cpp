// torch.ops.syncyte.bcast, reduce, scan, exscan: every rank has a tensor of the same shape.
//
// bcast: y_r = x_root. Adjoint: reduce, xbar_root = sum_r ybar_r, nothing elsewhere. reduce: y_root = sum_r x_r, zeros
// elsewhere. Adjoint: bcast of ybar_root; max, min and prod: see reductions.cpp. scan: y_r = sum of x_s over s <= r
// (exscan: s < r). Adjoint: the scan from the other end, xbar_s = sum of ybar_r over r >= s (r > s).

#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <cstring>

#include "tensors/buffers.hpp"
#include "collectives/calls.hpp"
#include "collectives/linear.hpp"

namespace syncyte::torch_binding {
namespace {

std::size_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
}

at::Tensor same_shape(const at::Tensor& input) {
  return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
}

struct reduce {
  static constexpr const char* name = "syncyte::reduce";
  static constexpr const char* overload = "";
  using parameters = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // comm, root, op

  static at::Tensor meta(const at::Tensor& input, std::int64_t, std::int64_t, std::int64_t) {
    return same_shape(input);
  }
  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, std::int64_t root, std::int64_t op,
                            derivatives asked);
  static at::Tensor adjoint(const at::Tensor& gradient, const extents&, derivatives asked, std::int64_t comm,
                            std::int64_t root, std::int64_t) {
    return call_bcast(gradient, comm, root, asked);
  }
  static std::int64_t op_of(const parameters& given) { return std::get<2>(given); }
  static at::Tensor differentiate(const at::Tensor& input, const parameters& given, derivatives asked) {
    const auto [comm, root, op] = given;
    return differentiable(input, {.comm = comm, .op = op, .root = root}, asked);
  }
};

struct bcast {
  static constexpr const char* name = "syncyte::bcast";
  static constexpr const char* overload = "";
  using parameters = std::tuple<std::int64_t, std::int64_t>;

  static at::Tensor meta(const at::Tensor& input, std::int64_t, std::int64_t) { return same_shape(input); }
  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, std::int64_t root, derivatives asked);
  static at::Tensor adjoint(const at::Tensor& gradient, const extents&, derivatives asked, std::int64_t comm,
                            std::int64_t root) {
    return call_reduce(gradient, comm, root, SYNCYTE_OP_SUM, asked);
  }
};

at::Tensor reduce::forward(const at::Tensor& input, std::int64_t comm, std::int64_t root, std::int64_t op,
                           derivatives asked) {
  return collect(
      "comm_reduce", comm, input, operand::plain, asked,
      [&] {
        require_derivative("reduce", op, true, asked);
        require_32_bits("root", root);
        return input.sizes().vec();
      },
      [&](const auto& from, const auto& options, const auto& to) {
        if (rank_in(comm) != root && input.numel() > 0) std::memset(to.data, 0, bytes_of(input));
        return syncyte_comm_reduce(group_of(comm), &from, static_cast<syncyte_op_t>(op),
                                   static_cast<std::int32_t>(root), &options, &to);
      });
}

at::Tensor bcast::forward(const at::Tensor& input, std::int64_t comm, std::int64_t root, derivatives asked) {
  return collect(
      "comm_bcast", comm, input, operand::rewritten, asked,
      [&] {
        require_32_bits("root", root);
        return input.sizes().vec();
      },
      [&](const auto& from, const auto& options, const auto& to) {
        const bool is_elsewhere = to.data != from.data && input.numel() > 0;
        if (is_elsewhere && rank_in(comm) == root) std::memcpy(to.data, from.data, bytes_of(input));
        return syncyte_comm_bcast(group_of(comm), static_cast<std::int32_t>(root), &options, &to);
      });
}

/// What scan and exscan share.
template <class Operation>
struct any_scan {
  static constexpr const char* overload = "";
  using parameters = std::tuple<std::int64_t, bool, std::int64_t>;  // comm, reverse, op

  static at::Tensor meta(const at::Tensor& input, std::int64_t, bool, std::int64_t) { return same_shape(input); }
  static at::Tensor forward(const at::Tensor& input, std::int64_t comm, bool reverse, std::int64_t op,
                            derivatives asked) {
    return collect(
        Operation::c_name, comm, input, operand::plain, asked,
        [&] {
          require_derivative(Operation::user_name, op, false, asked);
          return input.sizes().vec();
        },
        [&](const auto& from, const auto& options, const auto& to) {
          return Operation::call(group_of(comm), &from, static_cast<syncyte_op_t>(op),
                                 reverse ? SYNCYTE_SCAN_FROM_LAST : SYNCYTE_SCAN_FROM_FIRST, &options, &to);
        });
  }
  static at::Tensor adjoint(const at::Tensor& gradient, const extents&, derivatives asked, std::int64_t comm,
                            bool reverse, std::int64_t op) {
    return linear_operator<Operation>::call(gradient, {comm, !reverse, op}, asked);
  }
  static std::int64_t op_of(const parameters& given) { return std::get<2>(given); }
};

struct scan : any_scan<scan> {
  static constexpr const char* name = "syncyte::scan";
  static constexpr const char* user_name = "scan";
  static constexpr const char* c_name = "comm_scan";
  static constexpr auto call = syncyte_comm_scan;
};

struct exscan : any_scan<exscan> {
  static constexpr const char* name = "syncyte::exscan";
  static constexpr const char* user_name = "exscan";
  static constexpr const char* c_name = "comm_exscan";
  static constexpr auto call = syncyte_comm_exscan;
};

void implement_all(torch::Library& library, c10::DispatchKey key) {
  implement<bcast>(library, "bcast", key);
  implement<reduce>(library, "reduce", key);
  implement<scan>(library, "scan", key);
  implement<exscan>(library, "exscan", key);
}

}  // namespace

at::Tensor call_reduce(const at::Tensor& input, std::int64_t comm, std::int64_t root, std::int64_t op,
                       derivatives asked) {
  return linear_operator<reduce>::call(input, {comm, root, op}, asked);
}

at::Tensor call_bcast(const at::Tensor& input, std::int64_t comm, std::int64_t root, derivatives asked) {
  return linear_operator<bcast>::call(input, {comm, root}, asked);
}

at::Tensor call_exscan(const at::Tensor& input, std::int64_t comm, bool reverse, std::int64_t op, derivatives asked) {
  return linear_operator<exscan>::call(input, {comm, reverse, op}, asked);
}

}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def(
      "bcast(Tensor input, int comm, int root, bool needs_gradient=False, bool has_tangent=False, "
      "int forward_number=0) -> Tensor",
      tags);
  library.def(
      "reduce(Tensor input, int comm, int root, int op=1, bool needs_gradient=False, bool has_tangent=False, "
      "int forward_number=0) -> Tensor",
      tags);
  library.def(
      "scan(Tensor input, int comm, bool reverse=False, int op=1, bool needs_gradient=False, bool has_tangent=False, "
      "int forward_number=0) -> Tensor",
      tags);
  library.def(
      "exscan(Tensor input, int comm, bool reverse=False, int op=1, bool needs_gradient=False, "
      "bool has_tangent=False, int forward_number=0) -> Tensor",
      tags);
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) { implement_all(library, c10::DispatchKey::CPU); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { implement_all(library, c10::DispatchKey::Meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { implement_all(library, c10::DispatchKey::Autograd); }
