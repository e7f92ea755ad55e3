// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/model_messages.hpp"

namespace syncyte::cache {

/// Most bytes of all models of a server: in host memory, and on each device. 0: chosen by the environment, otherwise
/// half of the memory.
struct model_budget {
  std::uint64_t host = 0;
  std::uint64_t device = 0;
};

/// A model as people see it.
struct model_info {
  std::string name;
  std::string device;  // UUID; empty for host memory
  std::uint64_t bytes = 0;
  std::uint64_t groups = 0;  // 0: not known yet
  std::uint64_t ready = 0;   // groups
  pid_t publisher = 0;
  std::vector<pid_t> holders;
};

/// A model that is published, or being published.
struct published_model {
  std::string name;
  std::string device;  // UUID; empty for host memory
  std::uint64_t bytes = 0;
  std::vector<memory::descriptor> files;  // none before the publisher has made them
  std::uint64_t groups = 0;
  std::uint64_t ready = 0;
  pid_t publisher = 0;
  bool is_complete = false;
  std::shared_ptr<const base::error> failure;  // of its publication
  std::vector<pid_t> holders;                  // a process may be there several times
  std::uint64_t last_use = 0;

  model_info describe() const { return {name, device, bytes, groups, ready, publisher, holders}; }
};

/// The models of a server by name, and their budgets. Not thread-safe.
class model_catalog {
 public:
  explicit model_catalog(const model_budget& budget) : budget_(budget) {}

  /// Takes the name and the bytes for a new model, and evicts others of the same memory for them. Throws
  /// SYNCYTE_ERR_BUSY if the name is taken, SYNCYTE_ERR_MEMORY if models in use leave no room.
  std::shared_ptr<published_model> claim(const std::string& name, const model_place& place, pid_t publisher);

  /// Adds a holder. Throws SYNCYTE_ERR_NOT_FOUND, naming the models that there are.
  std::shared_ptr<published_model> hold(const std::string& name, pid_t holder);
  void drop(published_model& model, pid_t holder);

  /// Frees the name of a model whose publication has failed.
  void fail(published_model& model, const base::error& failure);

  /// Throws SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_BUSY while it is loading or held.
  void remove(const std::string& name);

  std::vector<model_info> all() const;

 private:
  using models = std::map<std::string, std::shared_ptr<published_model>>;
  models::iterator find(const std::string& name);
  std::uint64_t used(const std::string& device) const;
  std::uint64_t budget_of(const model_place& place) const;
  void make_room(const std::string& name, const model_place& place);

  models models_;
  model_budget budget_;
  std::uint64_t uses_ = 0;
};

/// A list in bytes for another process.
std::string encode(const std::vector<model_info>& list);
std::vector<model_info> decode_list(const std::string& bytes);

}  // namespace syncyte::cache
