#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/partition.hpp"
#include "comm/collective.hpp"
#include "comm/deferred_frees.hpp"
#include "comm/node_memory.hpp"
#include "kv/key_layout.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// A store's memory on this node, which the node's ranks share: the keys' values, and a word for each key. If vectors
/// differ in length, it also holds one array of their places for all ranks.
class slab final : public comm::collective_resource {
 public:
  /// Collective within `call`, after its agreement; succeeds or throws on all ranks. `lengths` has one element, or one
  /// for each key. `name` is for messages.
  static std::shared_ptr<slab> allocate(comm::collective_call& call, std::int64_t keys,
                                        std::span<const std::int64_t> lengths, const std::string& name);

  std::int64_t keys() const { return keys_; }
  table make_table(key_words::process self) const;
  void free_collectively() noexcept override {}

 private:
  void make_places(comm::collective_call& call, std::span<const std::int64_t> lengths, const char* name);
  key_layout layout() const;

  std::int64_t keys_ = 0;
  std::int64_t length_ = 0;                    // 0: lengths differ, see places_
  std::shared_ptr<comm::node_memory> places_;  // null if all vectors have one length
  std::shared_ptr<comm::node_memory> values_;
  std::shared_ptr<comm::node_memory> words_;
};

}  // namespace syncyte::kv
