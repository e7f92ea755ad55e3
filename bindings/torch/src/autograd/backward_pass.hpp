// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Backward passes of autograd, and the operations that a failed pass abandons.
//
// A rank whose backward pass fails (a hook raises) may have sent and received cotangents, with which other ranks
// continue. The pass cannot be repeated: each of its messages travels once. A later pass that needs one of these
// messages raises.

#include <ATen/core/Tensor.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace syncyte::torch_binding {

/// A message that carries a cotangent, on this rank.
struct cotangent_message {
  std::int64_t comm;
  std::int64_t peer;
  std::int64_t label;  ///< of the forward message that it answers
  std::int64_t channel;
  bool is_send;

  auto operator<=>(const cotangent_message&) const = default;
};

/// One run of autograd's engine. The object is destroyed at the end of the run, whether the run has succeeded or not.
class backward_pass : public std::enable_shared_from_this<backward_pass> {
 public:
  /// The pass that this thread is in, or null.
  static std::shared_ptr<backward_pass> current();

  ~backward_pass();
  backward_pass(const backward_pass&) = delete;
  backward_pass& operator=(const backward_pass&) = delete;

  /// The ticket of an operation that the pass has started, a message or a collective: if nobody has waited for it at
  /// the end, it is abandoned.
  void add(const at::Tensor& ticket, const std::optional<cotangent_message>& message = {});

  /// A cotangent has come from a rank, whose number of failed passes it carries. Throws ValueError if another cotangent
  /// of that rank in this pass was sent before one of its passes failed.
  void require_one_pass(std::int64_t comm, std::int64_t peer, std::int64_t failures);

 private:
  backward_pass() = default;
  void queue_end(bool is_last);

  bool has_succeeded_ = false;
  std::vector<at::Tensor> tickets_;
  std::vector<cotangent_message> started_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> failures_seen_;  // by communicator and rank
};

/// Whether a pass that failed has sent, or started to receive, this cotangent.
bool is_of_failed_pass(const cotangent_message& message);

/// The number of this rank's passes that failed after they had sent the peer a cotangent.
std::int64_t failed_passes(std::int64_t comm, std::int64_t peer);

}  // namespace syncyte::torch_binding
