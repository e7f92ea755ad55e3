// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Collectives as data: a kind and its arguments. Shapes, adjoints, the calls of the C interface and the schemas'
// arguments follow from them, for blocking and for started collectives.

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/derivatives.hpp"
#include "collectives/agreement.hpp"
#include "collectives/communicators.hpp"

namespace syncyte::torch_binding {

enum class collective_kind {
  allreduce,
  bcast,
  reduce,
  scan,
  exscan,
  allgather,
  gather,
  scatter,
  reduce_scatter,
  alltoall,
  neighbor_alltoall
};

/// Facts of a kind.
struct collective_traits {
  const char* name;         ///< "allgather"
  collective_kind adjoint;  ///< the kind that maps cotangents back, where it is linear
  bool has_op = false;
  bool has_root = false;
  bool gathers = false;   ///< joins parts
  bool scatters = false;  ///< cuts the result into parts
  bool has_start = false;
};

/// All ranks' parts along an axis.
struct partition {
  std::int64_t axis = 0;
  extents counts{};
};

struct collective {
  collective_kind kind;
  std::int64_t comm = 0;
  std::int64_t op = SYNCYTE_OP_SUM;
  std::int64_t root = 0;
  bool reverse = false;           ///< a scan from the last rank
  bool identity_adjoint = false;  ///< allreduce: each rank's cotangent is that of the one result
  partition gathered{};           ///< parts that are joined
  partition scattered{};          ///< parts into which the result is cut
  extents shape{};                ///< scatter: of root's input

  const collective_traits& traits() const;
  std::string operator_name() const;  ///< "allgather_along"
  bool is_along() const;              ///< parts along an axis, of any strides; otherwise all ranks' shapes are equal

  /// The collective that maps cotangents back, where it is linear: parts that were joined are cut.
  collective adjoint() const;

  /// Throws for arguments that are wrong on this rank alone: call it where other ranks can still get the error.
  /// `operation` is the name for users; in the blocking form max, min and prod of some reductions have an adjoint.
  void require_valid(const std::string& operation, bool is_blocking, derivatives wanted) const;

  /// The shape of this rank's result; throws as require_valid().
  extents result_shape(at::IntArrayRef input) const;
  at::Tensor meta_result(const at::Tensor& input) const;

  /// The blocking operator of this collective, by the dispatcher.
  at::Tensor call(const at::Tensor& input, derivatives wanted) const;

  /// Runs it on the CPU. If that fails on this rank, all ranks get the error.
  at::Tensor run_on_cpu(const at::Tensor& input, derivatives wanted) const;

  /// Calls the C function, into `to`; it starts the collective where `request` is not null. A started reduce has its
  /// result on all ranks.
  syncyte_status_t call_c(const const_buffer& from, const fact_list& facts, const buffer& to,
                          syncyte_request_t* request) const;
};

/// Returns the cotangent of a collective's input, from its adjoint's result: zeros where the input was not read.
at::Tensor of_input_shape(const at::Tensor& cotangent, const collective& forward, c10::SymIntArrayRef input_sizes);

/// One collective of each kind, without arguments, in the order of the enumeration.
std::vector<collective> all_collectives();

/// The kind of this name that can be started; throws ValueError for another one.
collective_kind started_kind(const std::string& name);

/// Throws unless there is a count of 0 or more for every rank.
void require_counts(const char* name, const partition& parts, std::int64_t comm);

/// The axis counted from the first; throws for one that does not exist, with the argument's name.
std::size_t normalized_axis(const char* argument, std::int64_t axis, std::size_t dimensions);

/// The tensor's extent along an axis; throws for an axis that it does not have, with the argument's name.
std::int64_t extent_along(const at::Tensor& input, const char* argument, std::int64_t axis);

/// Whether allreduce and reduce have an adjoint: sum, max, min, prod.
bool has_adjoint(std::int64_t op);

/// An operator whose arguments are a tensor and a collective's.
class collective_operator {
 public:
  explicit collective_operator(const c10::OperatorHandle& handle);
  collective_operator(const char* name, const char* overload);

  /// The arguments on top of a stack.
  const c10::IValue* arguments(const torch::jit::Stack& stack) const;
  collective load(collective_kind kind, const torch::jit::Stack& stack) const;

  /// The argument of this name on top of a stack.
  c10::IValue& argument(torch::jit::Stack& stack, const char* name) const;
  bool has_argument(const char* name) const;

  /// The arguments for a call. Arguments that are not members of the collective are None; the caller sets them.
  torch::jit::Stack stack_of(const at::Tensor& input, collective what) const;
  at::Tensor call(torch::jit::Stack stack) const;

  /// Puts the operator's result in place of its arguments.
  void give_result(torch::jit::Stack& stack, at::Tensor result) const;

  const c10::OperatorHandle handle;

 private:
  std::vector<std::size_t> members_;
};

/// The operator of a blocking collective.
const collective_operator& operator_of(collective_kind kind);

}  // namespace syncyte::torch_binding
