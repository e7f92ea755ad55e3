#include "autograd/ordered.hpp"

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

/// The link from an operation to the one before it: the node of a token, a scalar whose only edge is to that.
/// Hooks know each other through this: the types of pointers to nodes differ between torch's versions.
struct link {
  std::mutex mutex;
  Node* node = nullptr;     // while the node lives
  bool is_reached = false;  // by a backward pass
};

/// The last token of a scope.
struct chain {
  std::mutex mutex;
  at::Tensor token;
  std::shared_ptr<link> leads_to;

  at::Tensor last() {
    const std::lock_guard lock(mutex);
    return token;
  }
  void set(at::Tensor last, std::shared_ptr<link> to) {
    const std::lock_guard lock(mutex);
    std::swap(token, last);  // the old one is destroyed after the lock
    leads_to = std::move(to);
  }
  void forget(const std::shared_ptr<link>& ended) {
    at::Tensor last;
    const std::lock_guard lock(mutex);
    if (leads_to == ended) std::swap(token, last);
  }
};

/// On a token's node.
class token_hook final : public FunctionPreHook {
 public:
  explicit token_hook(std::shared_ptr<link> to) : link_(std::move(to)) {}
  ~token_hook() override {
    const std::lock_guard lock(link_->mutex);
    link_->node = nullptr;
  }
  token_hook(const token_hook&) = delete;
  token_hook& operator=(const token_hook&) = delete;

  variable_list operator()(const variable_list& gradients) override {
    const std::lock_guard lock(link_->mutex);
    link_->is_reached = true;
    return gradients;
  }

 private:
  std::shared_ptr<link> link_;
};

/// On an operation's node. If backward did not come by the token, nothing that followed is part of this backward pass;
/// what follows later, or is differentiated later, must not lead into this graph, which is finished.
class operation_hook final : public FunctionPreHook {
 public:
  operation_hook(std::shared_ptr<link> to, std::weak_ptr<chain> scope)
      : link_(std::move(to)), scope_(std::move(scope)) {}

  variable_list operator()(const variable_list& gradients) override {
    edge_list cut;
    {
      const std::lock_guard lock(link_->mutex);
      if (link_->is_reached || link_->node == nullptr) return gradients;
      for (Edge& edge : link_->node->next_edges()) cut.push_back(std::exchange(edge, Edge()));
    }
    if (const auto scope = scope_.lock()) scope->forget(link_);
    return gradients;
  }

 private:
  std::shared_ptr<link> link_;
  std::weak_ptr<chain> scope_;
};

struct scope_of_thread {
  std::shared_ptr<chain> open;
  std::int64_t depth = 0;
};

scope_of_thread& current() {
  thread_local scope_of_thread scope;
  return scope;
}

/// Scopes in scopes are one.
void enter() {
  scope_of_thread& scope = current();
  if (scope.depth++ == 0) scope.open = std::make_shared<chain>();
}

void leave_scope() {
  scope_of_thread& scope = current();
  TORCH_CHECK(scope.depth > 0, "leave_order: no ordered scope is open in this thread");
  if (--scope.depth == 0) scope.open.reset();
}

at::Tensor join_order(const at::Tensor& input) {
  TORCH_CHECK(current().depth > 0, "join: no ordered scope is open in this thread");
  TORCH_CHECK_TYPE(input.is_floating_point() || input.is_complex(), "join: tensor is of dtype ", input.scalar_type(),
                   ", which has no gradients; expected a floating-point or complex one");
  if (!is_ordered()) return input;
  at::Tensor result = after_the_last(input, place::always);
  make_last(result);
  return result;
}

}  // namespace

bool is_ordered() { return current().depth > 0 && at::GradMode::is_enabled(); }

/// A graph that is traced must not depend on this scope.
at::Tensor after_the_last(const at::Tensor& input, place which) {
  if (is_traced(input) || (which == place::if_recorded && !input.requires_grad())) return input;
  const at::Tensor token = current().open->last();
  return token.defined() ? joined(input, {token}, dummy_gradient::undefined) : input;
}

void make_last(const at::Tensor& result) {
  if (!result.requires_grad() || is_traced(result)) return;
  const std::shared_ptr<chain>& scope = current().open;
  const at::Tensor token = joined(at::zeros({}, at::kDouble), {result}, dummy_gradient::undefined);
  const auto to = std::make_shared<link>();
  to->node = &*token.grad_fn();
  token.grad_fn()->add_pre_hook(std::make_unique<token_hook>(to));
  if (const auto& operation = result.grad_fn()) operation->add_pre_hook(std::make_unique<operation_hook>(to, scope));
  scope->set(token, to);
}

}  // namespace syncyte::torch_binding

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("enter_order", syncyte::torch_binding::enter);
  library.impl("leave_order", syncyte::torch_binding::leave_scope);
  library.impl("join_order", syncyte::torch_binding::join_order);
}
