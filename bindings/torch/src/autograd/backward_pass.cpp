// SPDX-License-Identifier: BSD-3-Clause
#include "autograd/backward_pass.hpp"

#include <c10/util/Exception.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>

#include <mutex>
#include <unordered_map>

#include "requests/tickets.hpp"

namespace syncyte::torch_binding {
namespace {

struct pass_register {
  std::mutex mutex;
  std::unordered_map<int, std::weak_ptr<backward_pass>> passes;            // by the engine's number of the run
  std::set<cotangent_message> failed;                                      // messages of passes that failed
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> failures;  // by communicator and rank
};

pass_register& all_passes() {
  static auto* const the_register = new pass_register;  // leaked: passes may end after static objects
  return *the_register;
}

}  // namespace

std::shared_ptr<backward_pass> backward_pass::current() {
  const int number = torch::autograd::get_current_graph_task_id();
  if (number < 0) return nullptr;
  std::shared_ptr<backward_pass> made;
  {
    pass_register& all = all_passes();
    const std::lock_guard lock(all.mutex);
    if (auto known = all.passes[number].lock()) return known;
    std::erase_if(all.passes, [](const auto& entry) { return entry.second.expired(); });
    made.reset(new backward_pass);
    all.passes[number] = made;
  }
  made->queue_end(/*is_last=*/false);
  return made;
}

/// Queues a callback that marks the pass as successful. Autograd calls callbacks only if the pass has not failed. A
/// callback that was queued later may still fail, so this one queues itself again once, behind those.
void backward_pass::queue_end(bool is_last) {
  torch::autograd::Engine::get_default_engine().queue_callback([self = shared_from_this(), is_last] {
    const auto kept = self;  // the engine moves its callbacks when one is added
    if (is_last)
      kept->has_succeeded_ = true;
    else
      kept->queue_end(true);
  });
}

void backward_pass::add(const at::Tensor& ticket, const std::optional<cotangent_message>& message) {
  const std::lock_guard lock(all_passes().mutex);
  tickets_.push_back(ticket.clone());  // autograd may add zeros to the ticket in place
  if (message) started_.push_back(*message);
}

void backward_pass::require_one_pass(std::int64_t comm, std::int64_t peer, std::int64_t failures) {
  const std::lock_guard lock(all_passes().mutex);
  const auto [seen, is_first] = failures_seen_.emplace(std::pair(comm, peer), failures);
  TORCH_CHECK_VALUE(is_first || seen->second == failures, "rank ", peer,
                    " has sent cotangents of two backward passes, of which one has failed there; expected a new "
                    "forward on all ranks");
}

backward_pass::~backward_pass() {
  if (!has_succeeded_) {
    pass_register& all = all_passes();
    const std::lock_guard lock(all.mutex);
    all.failed.insert(started_.begin(), started_.end());
    std::set<std::pair<std::int64_t, std::int64_t>> peers;
    for (const cotangent_message& each : started_)
      if (each.is_send) peers.emplace(each.comm, each.peer);
    for (const auto& peer : peers) ++all.failures[peer];
  }
  for (const at::Tensor& ticket : tickets_) abandon(ticket);
}

bool is_of_failed_pass(const cotangent_message& message) {
  pass_register& all = all_passes();
  const std::lock_guard lock(all.mutex);
  return all.failed.contains(message);
}

std::int64_t failed_passes(std::int64_t comm, std::int64_t peer) {
  pass_register& all = all_passes();
  const std::lock_guard lock(all.mutex);
  const auto found = all.failures.find({comm, peer});
  return found == all.failures.end() ? 0 : found->second;
}

}  // namespace syncyte::torch_binding
