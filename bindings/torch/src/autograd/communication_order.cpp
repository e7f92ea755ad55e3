// SPDX-License-Identifier: BSD-3-Clause
// The order in the graph. Edges point the way that backward takes, from the last operation to the first:
//
//   result 2 -> operation 2 -> input 2
//                    |
//                    +-------> token 1 -> operation 1 -> input 1
//
// A token is a scalar whose node's only edge leads to the operation before. The scope keeps its last token, and the
// next operation's input is joined with that.

#include "autograd/communication_order.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/library.h>

#include <memory>
#include <mutex>
#include <utility>

#include "autograd/join_dummies.hpp"
#include "autograd/tensor_modes.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::FunctionPreHook;
using torch::autograd::Node;
using torch::autograd::variable_list;

/// A token's node, as the hooks know it: they cannot compare nodes, because the types of pointers to nodes differ
/// between torch's versions.
struct token_state {
  std::mutex mutex;
  Node* node = nullptr;     // while the node lives
  bool is_reached = false;  // by a backward pass
};

/// A scope, which knows its last token.
struct ordered_scope {
  std::mutex mutex;
  at::Tensor last;
  std::shared_ptr<token_state> state;  // of the last token

  at::Tensor last_token() {
    const std::lock_guard lock(mutex);
    return last;
  }
  void set(at::Tensor token, std::shared_ptr<token_state> its_state) {
    const std::lock_guard lock(mutex);
    std::swap(last, token);  // the old token is destroyed after the lock
    state = std::move(its_state);
  }
  void forget(const std::shared_ptr<token_state>& finished) {
    at::Tensor token;  // destroyed after the lock
    const std::lock_guard lock(mutex);
    if (state == finished) std::swap(last, token);
  }
};

/// On a token's node: notes that a backward pass has reached it.
class token_hook final : public FunctionPreHook {
 public:
  explicit token_hook(std::shared_ptr<token_state> token) : token_(std::move(token)) {}
  ~token_hook() override {
    const std::lock_guard lock(token_->mutex);
    token_->node = nullptr;
  }
  token_hook(const token_hook&) = delete;
  token_hook& operator=(const token_hook&) = delete;

  variable_list operator()(const variable_list& gradients) override {
    const std::lock_guard lock(token_->mutex);
    token_->is_reached = true;
    return gradients;
  }

 private:
  std::shared_ptr<token_state> token_;
};

/// On an operation's node. If backward has not reached its token, this pass contains no later operation. Later
/// operations, and later passes through them, must not lead into this finished graph: the token's edge is cut.
class operation_hook final : public FunctionPreHook {
 public:
  operation_hook(std::shared_ptr<token_state> token, std::weak_ptr<ordered_scope> scope)
      : token_(std::move(token)), scope_(std::move(scope)) {}

  variable_list operator()(const variable_list& gradients) override {
    edge_list cut;
    {
      const std::lock_guard lock(token_->mutex);
      if (token_->is_reached || token_->node == nullptr) return gradients;
      for (Edge& edge : token_->node->next_edges()) cut.push_back(std::exchange(edge, Edge()));
    }
    if (const auto scope = scope_.lock()) scope->forget(token_);
    return gradients;
  }

 private:
  std::shared_ptr<token_state> token_;
  std::weak_ptr<ordered_scope> scope_;
};

struct scope_of_thread {
  std::shared_ptr<ordered_scope> open;
  std::int64_t depth = 0;
};

scope_of_thread& current() {
  thread_local scope_of_thread scope;
  return scope;
}

/// Scopes in scopes are one.
void enter() {
  scope_of_thread& scope = current();
  if (scope.depth++ == 0) scope.open = std::make_shared<ordered_scope>();
}

void leave() {
  scope_of_thread& scope = current();
  TORCH_CHECK(scope.depth > 0, "leave_order: no ordered scope is open in this thread");
  if (--scope.depth == 0) scope.open.reset();
}

at::Tensor join_order(const at::Tensor& input) {
  TORCH_CHECK(current().depth > 0, "join: no ordered scope is open in this thread");
  TORCH_CHECK_TYPE(input.is_floating_point() || input.is_complex(), "join: tensor is of dtype ", input.scalar_type(),
                   ", which has no gradients; expected a floating-point or complex one");
  if (!is_ordered()) return input;
  at::Tensor result = after_the_last(input, takes_part::always);
  make_last(result);
  return result;
}

}  // namespace

bool is_ordered() { return current().depth > 0 && at::GradMode::is_enabled(); }

/// A graph that is traced must not depend on this scope.
at::Tensor after_the_last(const at::Tensor& input, takes_part when) {
  if (is_traced(input) || (when == takes_part::if_recorded && !input.requires_grad())) return input;
  const at::Tensor token = current().open->last_token();
  return token.defined() ? joined(input, {token}, dummy_gradient::undefined) : input;
}

void make_last(const at::Tensor& result) {
  if (!result.requires_grad() || is_traced(result)) return;
  const std::shared_ptr<ordered_scope>& scope = current().open;
  // On the result's device: autograd runs the nodes of each device in a thread of its own, in no fixed order.
  const at::Tensor nothing = at::zeros({}, at::TensorOptions(at::kDouble).device(result.device()));
  const at::Tensor token = joined(nothing, {result}, dummy_gradient::undefined);
  const auto state = std::make_shared<token_state>();
  state->node = &*token.grad_fn();
  token.grad_fn()->add_pre_hook(std::make_unique<token_hook>(state));
  if (const auto& operation = result.grad_fn()) operation->add_pre_hook(std::make_unique<operation_hook>(state, scope));
  scope->set(token, state);
}

}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("enter_order", syncyte::torch_binding::enter);
  library.impl("leave_order", syncyte::torch_binding::leave);
  library.impl("join_order", syncyte::torch_binding::join_order);
}
