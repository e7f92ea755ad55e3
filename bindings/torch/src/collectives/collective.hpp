#pragma once
// Collectives as data: which one it is, and its arguments. Shapes, adjoints, the calls of the C interface and the
// schemas' arguments follow from that, for blocking and for started ones.

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/derivatives.hpp"
#include "collectives/communicators.hpp"
#include "syncyte.h"

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
constexpr std::size_t collective_kinds = 11;

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

  const char* name() const;           ///< "allgather"
  std::string operator_name() const;  ///< "allgather_along"
  bool is_along() const;              ///< an axis: any strides and shapes; otherwise all ranks' shapes are equal
  bool has_op() const;
  bool has_root() const;
  bool gathers() const;
  bool scatters() const;

  /// The collective that maps cotangents back, where it is linear: parts that were joined are cut.
  collective adjoint() const;

  /// Throws for arguments that this rank alone can see to be wrong: call it where other ranks can still be told.
  /// `operation` is the name for users; in the blocking form max, min and prod of some reductions have an adjoint.
  void require_valid(const std::string& operation, bool is_blocking, derivatives asked) const;

  /// The shape of this rank's result; throws as require_valid().
  extents result_shape(at::IntArrayRef input) const;
  at::Tensor meta_result(const at::Tensor& input) const;

  /// Runs it. What fails on this rank before that, all ranks are told.
  at::Tensor run(const at::Tensor& input, derivatives asked) const;

  /// The C interface's start, into `to`; of reduce on all ranks.
  syncyte_status_t start(const syncyte_buffer_t& from, const syncyte_collective_options_t& options,
                         const syncyte_buffer_t& to, syncyte_request_t* request) const;
};

/// The collective of this name that can be started; throws ValueError for another one.
collective_kind started_kind(const std::string& name);

/// Throws for an axis that the tensor does not have.
std::int64_t extent_along(const at::Tensor& input, std::int64_t axis);

/// Whether allreduce and reduce have an adjoint: sum, max, min, prod.
bool has_adjoint(std::int64_t op);

/// The places of a collective's arguments in a schema.
class collective_arguments {
 public:
  explicit collective_arguments(const c10::FunctionSchema& schema);

  /// The arguments on top of a stack.
  collective load(collective_kind kind, const torch::jit::Stack& stack) const;
  /// The schema's arguments; those that are no member are none, for the caller to set.
  torch::jit::Stack stack_of(collective what) const;
  std::size_t size() const { return members_.size(); }

 private:
  std::vector<std::size_t> members_;
};

struct collective_operator {
  collective_operator(const char* name, const char* overload);
  at::Tensor call(torch::jit::Stack stack) const;

  c10::OperatorHandle handle;
  collective_arguments arguments;
};

/// Puts an operator's result in place of its arguments.
void give_result(torch::jit::Stack& stack, const collective_operator& op, at::Tensor result);

/// A blocking collective's.
const collective_operator& operator_of(collective_kind kind);

/// By the dispatcher.
at::Tensor call(const collective& what, const at::Tensor& input, derivatives asked);
/// The same without a node in the graph.
at::Tensor call_below(const collective& what, const at::Tensor& input, derivatives asked);

}  // namespace syncyte::torch_binding
