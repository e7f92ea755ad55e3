#pragma once
// Backward passes of autograd, what operations leave behind in one that fails, and answers to messages: the messages of
// a backward pass, which a pass that repeats a failed one does not send again.
//
// A rank whose backward pass fails (a hook raises) may have sent some answers, and received others. The ranks at their
// other ends have, or may yet, use what was sent, and do not know of the failure. So the pass that repeats it takes
// over what the failed one has started or received, until there is a pass that succeeds: then every rank has sent and
// received each answer once for each of its passes that succeeded, wherever and however often others failed.

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "requests.hpp"

namespace syncyte::torch_binding {

/// One run of autograd's engine. Its last reference goes with the run, whether that has succeeded or not.
class backward_pass : public std::enable_shared_from_this<backward_pass> {
 public:
  /// The one that this thread is in; null outside of any.
  static std::shared_ptr<backward_pass> current();

  ~backward_pass();
  backward_pass(const backward_pass&) = delete;
  backward_pass& operator=(const backward_pass&) = delete;

  /// The ticket of an operation that the pass has started: if nobody has waited for it at the end, it is given up.
  void add(const at::Tensor& ticket);

 private:
  backward_pass() = default;
  void queue_end(bool is_last);

  std::vector<at::Tensor> tickets_;
};

/// Which answer, on this rank.
struct answer_key {
  std::int64_t comm;
  std::int64_t peer;
  std::int64_t message;  // the label of what is answered
  std::int64_t channel;
  bool is_send;

  auto operator<=>(const answer_key&) const = default;
};

/// Starts an answer, or takes over one that a failed pass has started; returns its ticket. `status` is the message's,
/// which lives as long as its graph. `cotangent` is what is sent, undefined for a receive; if a failed pass has sent
/// another one, that is an error.
at::Tensor start_answer(const answer_key& key, const at::Tensor& status, const at::Tensor& cotangent,
                        bool needs_gradient, c10::function_ref<std::unique_ptr<outstanding>()> start);

/// Within it, what is waited for goes to autograd, and not to compiled code.
class eager_node {
 public:
  eager_node();
  ~eager_node();
  eager_node(const eager_node&) = delete;
  eager_node& operator=(const eager_node&) = delete;

 private:
  bool before_;
};

/// Keeps what has been waited for until the pass succeeds, if it is an answer.
void keep_answer(const outstanding& ended);

/// The pass has succeeded: its answers are no more to be repeated.
void confirm_answers(const std::shared_ptr<backward_pass>& pass);

/// Gives up answers of failed passes whose graphs are gone. Local.
void give_up_answers();

}  // namespace syncyte::torch_binding
