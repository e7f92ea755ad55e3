// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/departure.hpp"

#include <memory>
#include <string>
#include <utility>

#include "comm/departures.hpp"

namespace syncyte::fabric {
namespace {

/// The target belongs to the process, not to a communicator.
constexpr object_name name{0, 0};

class departure_target final : public target {
 public:
  bool serve(served_request&, answer& reply) override {
    reply.resize(1)[0] = static_cast<std::byte>(comm::has_departed());
    return true;
  }
};

}  // namespace

class departure_question::source final : public request_source {
 public:
  explicit source(std::string owner) : owner_(std::move(owner)) {}

  std::shared_ptr<message> next() override {
    if (std::exchange(is_asked_, true)) return nullptr;
    return std::make_shared<message>(
        message_header{.communicator = name.communicator, .object = name.number, .operation = 1}, 0);
  }
  void on_answer(const message_header&, std::span<const std::byte> payload) override {
    has_departed_ = !payload.empty() && payload[0] != std::byte{0};
  }
  std::string owner_name() const override { return owner_; }

  bool has_departed() const { return has_departed_; }

 private:
  std::string owner_;
  bool is_asked_ = false;
  bool has_departed_ = false;
};

void serve_departure(engine& of) { of.targets().add(name, std::make_shared<departure_target>()); }

departure_question::departure_question(std::shared_ptr<group> ranks, int rank)
    : ranks_(std::move(ranks)), asked_(std::make_unique<source>(ranks_->rank_name(rank))), running_(ranks_->begin()) {
  running_.add(ranks_->at(rank), *asked_);
}

departure_question::~departure_question() = default;

std::optional<bool> departure_question::answer() {
  return running_.test() ? std::optional(asked_->has_departed()) : std::nullopt;
}

}  // namespace syncyte::fabric
