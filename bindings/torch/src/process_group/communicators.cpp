// SPDX-License-Identifier: BSD-3-Clause
#include "process_group/communicators.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "tensors/buffers.hpp"

namespace syncyte::torch_binding::process_group {
namespace {

/// FNV-1a, which is the same in all builds: ranks compare it.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const unsigned char each : text) hash = (hash ^ each) * 16777619U;
  return hash;
}

/// All communicators of this process that groups have used.
class pool {
 public:
  static pool& of_process() {
    static auto* const one = new pool;  // leaked: groups may end after static objects
    return *one;
  }

  /// The identifier of a communicator of these ranks that no group uses, or -1.
  std::int64_t idle_one_of(const rank_list& ranks) {
    return find(ranks, [](const group_communicator& each) { return each.use_count() == 1 && !each->is_out_of_step; })
        .first;
  }

  /// The communicator with this identifier; null if there is none.
  group_communicator with_id(const rank_list& ranks, std::int64_t id) {
    return find(ranks, [id](const group_communicator& each) { return id_of(each) == id; }).second;
  }

  group_communicator add(const rank_list& ranks, communicator made) {
    const std::lock_guard lock(mutex_);
    return entries_.emplace(ranks, std::make_shared<pooled_communicator>(std::move(made)))->second;
  }

 private:
  static std::int64_t id_of(const group_communicator& each) {
    return checked([&] { return each->comm.id(); });
  }

  template <class Condition>
  std::pair<std::int64_t, group_communicator> find(const rank_list& ranks, Condition holds) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = entries_.equal_range(ranks);
    const auto found = std::find_if(first, last, [&](const auto& each) { return holds(each.second); });
    if (found == last) return {-1, nullptr};
    return {id_of(found->second), found->second};
  }

  std::mutex mutex_;
  std::multimap<rank_list, group_communicator> entries_;
};

communicator new_communicator(const rank_list& ranks, const std::string& group) {
  constexpr std::uint32_t tags = 1024;  // of syncyte_comm_create_group()
  return checked([&] {
    const auto tag = static_cast<std::int32_t>(hash_of(group) % tags);
    const std::string name = "a process group of " + std::to_string(ranks.size()) + " ranks";  // also of later groups
    return communicator::world().create_group(ranks, tag, {.name = name});
  });
}

void write(c10d::Store& store, const std::string& key, std::int64_t number) {
  const std::string text = std::to_string(number);
  store.set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::int64_t read(c10d::Store& store, const std::string& key) {
  const std::vector<std::uint8_t> text = store.get(key);
  return std::stoll(std::string(text.begin(), text.end()));
}

/// The communicator that the first rank proposes, if it has one and no rank refuses it; otherwise null.
group_communicator agreed_one(const rank_list& ranks, c10d::Store& store) {
  const std::string proposed = "syncyte/proposed", refused = "syncyte/refused", ready = "syncyte/ready";
  if (checked([] { return communicator::world().rank(); }) == ranks.front())
    write(store, proposed, pool::of_process().idle_one_of(ranks));
  const std::int64_t id = read(store, proposed);
  if (id < 0) return nullptr;
  group_communicator mine = pool::of_process().with_id(ranks, id);
  const bool is_idle = mine.use_count() == 2;  // the pool's pointer and this one
  if (mine == nullptr || !is_idle || mine->is_out_of_step) store.add(refused, 1);
  const std::string decided = "syncyte/decided";
  if (store.add(ready, 1) == std::ssize(ranks)) write(store, decided, store.add(refused, 0) == 0 ? id : -1);
  return read(store, decided) < 0 ? nullptr : mine;
}

}  // namespace

group_communicator communicator_of(const rank_list& ranks, const std::string& group, c10d::Store& store) {
  group_communicator result = agreed_one(ranks, store);
  if (result == nullptr) result = pool::of_process().add(ranks, new_communicator(ranks, group));
  const fact name("hash of the group's name", hash_of(group));
  checked([&] { result->comm.agree("init_process_group", {&name, 1}); });
  return result;
}

}  // namespace syncyte::torch_binding::process_group
