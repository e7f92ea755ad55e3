#include "backward_pass.hpp"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>

#include <mutex>
#include <unordered_map>

#include "answers.hpp"
#include "requests.hpp"

namespace syncyte::torch_binding {
namespace {

std::mutex& mutex() {
  static auto* const the_mutex = new std::mutex;  // leaked: passes may end after static objects
  return *the_mutex;
}

/// By the engine's number of the run.
std::unordered_map<int, std::weak_ptr<backward_pass>>& passes() {
  static auto* const the_passes = new std::unordered_map<int, std::weak_ptr<backward_pass>>;
  return *the_passes;
}

}  // namespace

std::shared_ptr<backward_pass> backward_pass::current() {
  const int number = torch::autograd::get_current_graph_task_id();
  if (number < 0) return nullptr;
  std::shared_ptr<backward_pass> made;
  {
    const std::lock_guard lock(mutex());
    if (auto known = passes()[number].lock()) return known;
    std::erase_if(passes(), [](const auto& entry) { return entry.second.expired(); });
    made.reset(new backward_pass);
    passes()[number] = made;
  }
  made->queue_end(/*is_last=*/false);
  give_up_answers();
  return made;
}

/// Autograd runs its callbacks where a pass succeeds, and drops them where it fails. A later one may still make it
/// fail, so this one moves behind them once.
void backward_pass::queue_end(bool is_last) {
  torch::autograd::Engine::get_default_engine().queue_callback([self = shared_from_this(), is_last] {
    const auto kept = self;  // the engine moves its callbacks when one is added
    if (is_last)
      confirm_answers(kept);
    else
      kept->queue_end(true);
  });
}

void backward_pass::add(const at::Tensor& ticket) {
  const std::lock_guard lock(mutex());
  tickets_.push_back(ticket.clone());  // autograd may add zeros to the ticket in place
}

backward_pass::~backward_pass() {
  for (const at::Tensor& ticket : tickets_) leave(ticket);
}

}  // namespace syncyte::torch_binding
