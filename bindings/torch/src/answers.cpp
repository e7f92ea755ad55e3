#include "answers.hpp"

#include <c10/util/Exception.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>

#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "operation_memory.hpp"

namespace syncyte::torch_binding {

/// An answer of a pass that has not succeeded, or not yet.
struct posted_answer {
  answer_key key;
  bool needs_gradient;
  at::Tensor content;                               // what was sent; what was received, once it is there
  std::int64_t version = 0;                         // of the content, as it was received
  at::Tensor ticket{};                              // a copy: autograd may add zeros to tickets in place
  std::unique_ptr<outstanding> ended{};             // what was waited for; null before that
  std::weak_ptr<backward_pass> pass;                // expired: it has failed
  c10::weak_intrusive_ptr<c10::StorageImpl> graph;  // expired: no pass can follow it
  bool has_graph = true;                            // otherwise `graph` is of a mere copy, as for tensors of a device
};

namespace {

thread_local bool is_in_eager_node = false;

bool has_bits_of(const at::Tensor& sent_anywhere, const at::Tensor& cotangent) {
  const at::Tensor sent = sent_anywhere.cpu();
  const at::Tensor dense = cotangent.resolve_conj().resolve_neg().contiguous().cpu();
  return dense.nbytes() == sent.nbytes() &&
         (dense.nbytes() == 0 || std::memcmp(dense.const_data_ptr(), sent.const_data_ptr(), dense.nbytes()) == 0);
}

/// A graph holds the tensor that it gives, or one with the same memory.
bool is_held_elsewhere(const at::Tensor& status) { return status.use_count() > 1 || status.storage().use_count() > 1; }

class answer_register {
 public:
  void add(std::shared_ptr<posted_answer> answer) {
    const std::lock_guard lock(mutex_);
    const answer_key key = answer->key;
    answers_.emplace(key, std::move(answer));
  }

  /// The oldest one of a failed pass; it belongs to `pass` now.
  std::shared_ptr<posted_answer> take_over(const answer_key& key, const std::shared_ptr<backward_pass>& pass) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = answers_.equal_range(key);
    for (auto each = first; each != last; ++each) {
      if (!each->second->pass.expired()) continue;
      each->second->pass = pass;
      return each->second;
    }
    return nullptr;
  }

  void keep(posted_answer& answer, std::unique_ptr<outstanding> ended) {
    const std::lock_guard lock(mutex_);
    if (!answer.key.is_send) {
      answer.content = ended->memory;
      answer.version = answer.content._version();
    }
    answer.ended = std::move(ended);
  }

  template <class Condition>
  std::vector<std::shared_ptr<posted_answer>> remove_if(Condition&& condition) {
    std::vector<std::shared_ptr<posted_answer>> removed;
    const std::lock_guard lock(mutex_);
    std::erase_if(answers_, [&](const auto& entry) {
      if (!condition(*entry.second)) return false;
      removed.push_back(entry.second);
      return true;
    });
    return removed;
  }

 private:
  std::mutex mutex_;
  std::multimap<answer_key, std::shared_ptr<posted_answer>> answers_;  // those of one key in their order
};

answer_register& answers() {
  static auto* const the_register = new answer_register;  // leaked: passes may end after static objects
  return *the_register;
}

/// The ticket of an answer that a failed pass has started.
at::Tensor ticket_again(const std::shared_ptr<posted_answer>& answer) {
  if (answer->ended == nullptr) return answer->ticket.clone();
  TORCH_CHECK(answer->key.is_send || answer->content._version() == answer->version, answer->ended->operation,
              ": what the backward pass that failed has received was changed in place since, so the pass cannot be "
              "repeated; expected hooks to leave their gradients alone, or a new forward");
  answer->ended->answer = answer;
  const at::Tensor ticket = ticket_for(std::move(answer->ended), unclaimed::waits);
  answer->ticket = ticket.clone();
  return ticket;
}

void require_repeated(const posted_answer& earlier, const at::Tensor& cotangent, bool needs_gradient) {
  if (!earlier.key.is_send) return;
  TORCH_CHECK(earlier.needs_gradient == needs_gradient && has_bits_of(earlier.content, cotangent),
              "the backward pass that failed has sent rank ", earlier.key.peer, " another cotangent of message ",
              earlier.key.message / 2,
              "; expected the pass to be repeated as it was (gradients and create_graph), or a "
              "new forward");
}

}  // namespace

at::Tensor start_answer(const answer_key& key, const at::Tensor& status, const at::Tensor& cotangent,
                        bool needs_gradient, c10::function_ref<std::unique_ptr<outstanding>()> start) {
  const auto pass = backward_pass::current();
  if (pass == nullptr) return ticket_for(start(), unclaimed::waits);
  if (const auto earlier = answers().take_over(key, pass)) {
    require_repeated(*earlier, cotangent, needs_gradient);
    return ticket_again(earlier);
  }
  std::unique_ptr<outstanding> started = start();
  auto made = std::make_shared<posted_answer>(posted_answer{.key = key,
                                                            .needs_gradient = needs_gradient,
                                                            .content = key.is_send ? started->memory : at::Tensor(),
                                                            .pass = pass,
                                                            .graph = status.storage().getWeakStorageImpl(),
                                                            .has_graph = is_held_elsewhere(status)});
  started->answer = made;
  const at::Tensor ticket = ticket_for(std::move(started), unclaimed::waits);
  made->ticket = ticket.clone();
  answers().add(std::move(made));
  return ticket;
}

eager_node::eager_node() : before_(std::exchange(is_in_eager_node, true)) {}
eager_node::~eager_node() { is_in_eager_node = before_; }

void keep_answer(const outstanding& ended) {
  if (ended.answer == nullptr) return;
  auto kept = std::make_unique<outstanding>();
  kept->operation = ended.operation;
  kept->status = ended.status;
  // Compiled code may write to what it gets; autograd's nodes do not while it is kept here.
  if (!ended.answer->key.is_send) {
    kept->memory = is_in_eager_node ? ended.memory : ended.memory.clone();
    if (!is_in_eager_node) wait_for_stream(ended.memory.device());  // the pass may be repeated on another one
  }
  answers().keep(*ended.answer, std::move(kept));
}

void confirm_answers(const std::shared_ptr<backward_pass>& pass) {
  answers().remove_if(
      [&](const posted_answer& answer) { return !answer.pass.owner_before(pass) && !pass.owner_before(answer.pass); });
}

void give_up_answers() {
  constexpr int most_without_graph = 256;
  int without_graph = 0;
  const auto gone = answers().remove_if([&](const posted_answer& answer) {
    if (!answer.pass.expired()) return false;
    return answer.has_graph ? answer.graph.expired() : ++without_graph > most_without_graph;
  });
  for (const auto& answer : gone)
    if (answer->ended == nullptr) leave(answer->ticket);
}

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
