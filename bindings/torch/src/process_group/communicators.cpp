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
    const std::lock_guard lock(mutex_);
    const auto [first, last] = entries_.equal_range(ranks);
    const auto found = std::find_if(first, last, [](const auto& each) { return each.second.use_count() == 1; });
    return found == last ? -1 : checked([&] { return found->second->id(); });
  }

  /// The communicator with this identifier; null if there is none.
  group_communicator with_id(const rank_list& ranks, std::int64_t id) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = entries_.equal_range(ranks);
    const auto found =
        std::find_if(first, last, [&](const auto& each) { return checked([&] { return each.second->id(); }) == id; });
    return found == last ? nullptr : found->second;
  }

  group_communicator add(const rank_list& ranks, communicator made) {
    const std::lock_guard lock(mutex_);
    return entries_.emplace(ranks, std::make_shared<const communicator>(std::move(made)))->second;
  }

 private:
  std::mutex mutex_;
  std::multimap<rank_list, group_communicator> entries_;
};

communicator new_communicator(const rank_list& ranks, const std::string& group) {
  constexpr std::uint32_t tags = 1024;  // of syncyte_comm_create_group()
  return checked([&] {
    const auto tag = static_cast<std::int32_t>(hash_of(group) % tags);
    return communicator::world().create_group(ranks, tag, {.name = "process group " + group});
  });
}

/// What the first rank of the group writes into the store for the others.
std::int64_t agreed_id(const rank_list& ranks, c10d::Store& store) {
  const std::string key = "syncyte/communicator";
  if (checked([] { return communicator::world().rank(); }) != ranks.front()) {
    const std::vector<std::uint8_t> value = store.get(key);
    return std::stoll(std::string(value.begin(), value.end()));
  }
  const std::int64_t id = pool::of_process().idle_one_of(ranks);
  const std::string text = std::to_string(id);
  store.set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
  return id;
}

}  // namespace

group_communicator communicator_of(const rank_list& ranks, const std::string& group, c10d::Store& store) {
  const std::int64_t id = agreed_id(ranks, store);
  group_communicator result =
      id < 0 ? pool::of_process().add(ranks, new_communicator(ranks, group)) : pool::of_process().with_id(ranks, id);
  TORCH_INTERNAL_ASSERT(result != nullptr, "rank ", ranks.front(), " knows a communicator ", id,
                        " of the ranks of group ", group, ", and this rank does not");
  const fact name("hash of the group's name", hash_of(group));
  checked([&] { result->agree("init_process_group", {&name, 1}); });
  return result;
}

}  // namespace syncyte::torch_binding::process_group
