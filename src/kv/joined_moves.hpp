// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access/item_requests.hpp"
#include "kv/move_messages.hpp"

namespace syncyte::kv {

/// Requests that move keys, of several operations to one rank, in one message where they fit: a step moves few keys in
/// each of many ways. The message's operation is move_operation::several, its payload has a header for each request,
/// and its payload behind. All requests have the same first argument, at least one item, and no answer.
class joined_moves final : public fabric::request_source {
 public:
  joined_moves(fabric::object_name object, std::vector<moved_keys> operations);

  std::string owner_name() const override { return operations_.front()->owner_name(); }
  std::shared_ptr<fabric::message> next() override;
  void on_answer(const fabric::message_header&, std::span<const std::byte>) override {}

 private:
  std::shared_ptr<fabric::message> next_request();

  std::vector<std::unique_ptr<access::item_requests<moved_keys>>> operations_;
  std::size_t done_ = 0;                      // operations without further requests
  std::shared_ptr<fabric::message> waiting_;  // did not fit
};

/// Serves the requests of a message in order, as target::serve() does.
bool serve_joined(fabric::served_request& request, const std::function<bool(fabric::served_request&)>& serve);

}  // namespace syncyte::kv
