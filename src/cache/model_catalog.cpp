// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model_catalog.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/ranks.hpp"
#include "base/settings.hpp"

namespace syncyte::cache {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);

std::string pids_text(const std::vector<pid_t>& pids) {
  const std::set<pid_t> different(pids.begin(), pids.end());
  const std::vector<pid_t> listed(different.begin(), different.end());
  return fmt::format("{} {}", listed.size() == 1 ? "process" : "processes", fmt::join(listed, ", "));
}

void append(std::string& bytes, std::uint64_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string device_text(const model_place& place) {
  return place.is_on_device == 0 ? std::string() : memory::text_of(place.device);
}

std::uint64_t take(std::string_view& rest) {
  base::require(rest.size() >= word, SYNCYTE_ERR_FORMAT, "a list of models is shorter than its parts");
  std::uint64_t value = 0;
  std::memcpy(&value, rest.data(), word);
  rest.remove_prefix(word);
  return value;
}

std::string take_text(std::string_view& rest, std::uint64_t bytes) {
  base::require(bytes <= rest.size(), SYNCYTE_ERR_FORMAT, "a list of models is shorter than its parts");
  std::string text(rest.substr(0, bytes));
  rest.remove_prefix(bytes);
  return text;
}

}  // namespace

model_catalog::models::iterator model_catalog::find(const std::string& name) {
  const auto found = models_.find(name);
  if (found != models_.end()) return found;
  std::vector<std::string> names;
  for (const auto& [each, model] : models_) names.push_back('"' + each + '"');
  base::fail(SYNCYTE_ERR_NOT_FOUND, "there is no model \"{}\"; {}", name,
             names.empty() ? "none is published" : "there are " + base::listed(names));
}

std::uint64_t model_catalog::used(const std::string& device) const {
  std::uint64_t bytes = 0;
  for (const auto& [name, model] : models_)
    if (model->device == device) bytes += model->bytes;
  return bytes;
}

std::uint64_t model_catalog::budget_of(const model_place& place) const {
  if (place.is_on_device == 0) return budget_.host;
  return budget_.device != 0 ? budget_.device : place.device_bytes / base::settings::cache_model_part;
}

void model_catalog::make_room(const std::string& name, const model_place& place) {
  const std::string device = device_text(place);
  const std::uint64_t bytes = place.bytes, budget = budget_of(place);
  std::uint64_t free = budget - std::min(budget, used(device));
  if (bytes <= free) return;
  std::vector<models::iterator> idle;
  std::uint64_t evictable = 0;
  for (auto each = models_.begin(); each != models_.end(); ++each) {
    if (each->second->device != device || !each->second->is_complete || !each->second->holders.empty()) continue;
    idle.push_back(each);
    evictable += each->second->bytes;
  }
  base::require(
      bytes <= free + evictable, SYNCYTE_ERR_MEMORY,
      "the model \"{}\" needs {} bytes{}; of the budget of {} bytes {} are free, and {} of models that nobody has "
      "bound",
      name, bytes, device.empty() ? "" : " of " + device, budget, free, evictable);
  std::ranges::sort(idle, {}, [](const auto& each) { return each->second->last_use; });
  for (auto each = idle.begin(); free < bytes; ++each) {
    free += (*each)->second->bytes;
    models_.erase(*each);
  }
}

std::shared_ptr<published_model> model_catalog::claim(const std::string& name, const model_place& place,
                                                      pid_t publisher) {
  if (const auto found = models_.find(name); found != models_.end())
    base::fail(SYNCYTE_ERR_BUSY, "the model \"{}\" {} by process {}; use another name{}", name,
               found->second->is_complete ? "was published" : "is being published", found->second->publisher,
               found->second->is_complete ? ", or remove it first" : "");
  make_room(name, place);
  auto made = std::make_shared<published_model>();
  made->name = name;
  made->device = device_text(place);
  made->bytes = place.bytes;
  made->publisher = publisher;
  made->last_use = ++uses_;
  models_.emplace(name, made);
  return made;
}

std::shared_ptr<published_model> model_catalog::hold(const std::string& name, pid_t holder) {
  auto found = find(name)->second;
  found->holders.push_back(holder);
  found->last_use = ++uses_;
  return found;
}

void model_catalog::drop(published_model& model, pid_t holder) {
  model.holders.erase(std::ranges::find(model.holders, holder));
  model.last_use = ++uses_;
}

void model_catalog::fail(published_model& model, const base::error& failure) {
  model.failure = std::make_shared<const base::error>(failure);
  models_.erase(model.name);
}

void model_catalog::remove(const std::string& name) {
  const auto found = find(name);
  const published_model& model = *found->second;
  base::require(model.is_complete, SYNCYTE_ERR_BUSY, "the model \"{}\" is being published by process {}", name,
                model.publisher);
  base::require(model.holders.empty(), SYNCYTE_ERR_BUSY, "the model \"{}\" is bound by {}", name,
                pids_text(model.holders));
  models_.erase(found);
}

std::vector<model_info> model_catalog::all() const {
  std::vector<model_info> result;
  for (const auto& [name, model] : models_) result.push_back(model->describe());
  return result;
}

std::string encode(const std::vector<model_info>& list) {
  std::string bytes;
  append(bytes, list.size());
  for (const model_info& each : list) {
    for (const std::uint64_t value :
         {each.bytes, each.groups, each.ready, static_cast<std::uint64_t>(each.publisher),
          std::uint64_t{each.holders.size()}, std::uint64_t{each.name.size()}, std::uint64_t{each.device.size()}})
      append(bytes, value);
    for (const pid_t holder : each.holders) append(bytes, static_cast<std::uint64_t>(holder));
    bytes += each.name + each.device;
  }
  return bytes;
}

std::vector<model_info> decode_list(const std::string& bytes) {
  std::string_view rest = bytes;
  std::vector<model_info> result;
  for (std::uint64_t left = take(rest); left > 0; --left) {
    model_info each;
    each.bytes = take(rest);
    each.groups = take(rest);
    each.ready = take(rest);
    each.publisher = static_cast<pid_t>(take(rest));
    const std::uint64_t holders = take(rest), name_bytes = take(rest), device_bytes = take(rest);
    for (std::uint64_t holder = 0; holder < holders; ++holder) each.holders.push_back(static_cast<pid_t>(take(rest)));
    each.name = take_text(rest, name_bytes);
    each.device = take_text(rest, device_bytes);
    result.push_back(std::move(each));
  }
  return result;
}

}  // namespace syncyte::cache
