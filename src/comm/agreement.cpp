// SPDX-License-Identifier: BSD-3-Clause
#include "comm/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/hash.hpp"
#include "base/ranks.hpp"

namespace syncyte::comm {
namespace {

/// " of world", which follows the ranks' numbers in messages; empty for a communicator without a name.
std::string of_comm(const std::string& name) { return name.empty() ? "" : " of " + name; }

/// Groups ranks by a property. The largest group is first; among groups of one size, the one with the lowest rank.
template <class Property>
auto groups_of(std::span<const fact_record> all, Property&& property) {
  using value = decltype(property(all[0]));
  std::vector<std::pair<value, std::vector<int>>> groups;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const value mine = property(all[rank]);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == mine; });
    if (found == groups.end()) found = groups.insert(groups.end(), {mine, {}});
    found->second.push_back(static_cast<int>(rank));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return groups;
}

/// "2 on ranks 0, 1, 3 on rank 2, but 4 on rank 3". Leaves out groups in the middle if there are many.
template <class Groups>
std::string groups_text(const Groups& groups) {
  constexpr std::size_t most = 8, first = 6;
  const std::size_t left_out = groups.size() > most ? groups.size() - first - 1 : 0;
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (left_out > 0 && i == first) {
      text += fmt::format(", {} other values on further ranks", left_out);
      i += left_out;
    }
    const char* before = i == 0 ? "" : i + 1 == groups.size() ? ", but " : ", ";
    text += fmt::format("{}{} on {}", before, groups[i].first, base::ranks_text(groups[i].second));
  }
  return text;
}

/// A name as messages show it: in quotes, or "none"; a long one by its beginning, length and hash.
std::string shown(const std::string& name) {
  constexpr std::size_t most = 72;
  if (name.empty()) return "none";
  if (name.size() <= most) return fmt::format("\"{}\"", name);
  std::size_t end = most;
  while (end > 0 && (name[end] & 0xC0) == 0x80) --end;  // UTF-8: not within a character
  return fmt::format("\"{}...\" ({} bytes, hash {:08x})", name.substr(0, end), name.size(),
                     static_cast<std::uint32_t>(XXH3_64bits(name.data(), name.size())));
}

std::string text_of(std::int64_t value, const char* (*name_of)(std::int32_t)) {
  return name_of != nullptr ? name_of(static_cast<std::int32_t>(value)) : std::to_string(value);
}

}  // namespace

std::uint32_t error_code_of(const std::optional<base::error>& error) {
  return error ? std::max(static_cast<std::uint32_t>(error->status()), std::uint32_t{1}) : 0;
}

int reporting_rank(std::span<const std::uint32_t> error_codes) {
  return static_cast<int>(std::max_element(error_codes.begin(), error_codes.end()) - error_codes.begin());
}

agreed_error shared_error(std::span<const std::uint32_t> error_codes, const std::string& packed, const char* operation,
                          const std::string& comm_name, int rank) {
  const int source = reporting_rank(error_codes);
  std::vector<int> others;
  for (std::size_t other = 0; other < error_codes.size(); ++other)
    if (static_cast<int>(other) != source && error_codes[other] != 0) others.push_back(static_cast<int>(other));
  const std::string more = others.empty() ? "" : fmt::format(" (failed on {} too)", base::ranks_text(others));
  const auto status = static_cast<syncyte_status_t>(error_codes[static_cast<std::size_t>(source)]);
  const base::error theirs = base::error::unpack(status, packed);
  base::error_fields fields = theirs.fields();
  fields.operation = operation;
  fields.rank = source;
  if (fields.object.empty()) fields.object = comm_name;
  fields.reason = theirs.what() + more;
  agreed_error result(
      status, fmt::format("{} failed on rank {}{}: {}{}", operation, source, of_comm(comm_name), theirs.what(), more),
      std::move(fields));
  result.own_rank = rank;
  return result;
}

void agreement::add(const named_value& fact) {
  if (fact_count_ < usual_facts)
    facts_[fact_count_] = fact;
  else
    further_.push_back(fact);
  ++fact_count_;
}

void agreement::name_fact(const char* kind, const std::string& name) {
  const std::int64_t number = comm_.count_made(kind);  // objects of internal use count too
  object_name_.reset(new object_name{fact_count_, fmt::format("name of {} number {}", kind, number), shown(name)});
  fact(object_name_->title.c_str(), name.empty() ? 0 : static_cast<std::int64_t>(XXH3_64bits(name.data(), name.size())),
       {.argument = "options->name"});
}

void agreement::keep_names() {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < fact_count_; ++i) bytes += std::strlen(fact_at(i).name) + 1;
  auto kept = std::make_unique<char[]>(bytes);
  char* end = kept.get();
  for (std::size_t i = 0; i < fact_count_; ++i) {
    named_value& fact = i < usual_facts ? facts_[i] : further_[i - usual_facts];
    const std::size_t length = std::strlen(fact.name) + 1;
    fact.name = static_cast<const char*>(std::memcpy(end, fact.name, length));
    end += length;
  }
  kept_names_ = std::move(kept);
}

std::uint64_t agreement::hash_of(std::uint64_t sequence) const {
  std::uint64_t values[usual_facts + 3];
  std::size_t count = 0;
  values[count++] = sequence;
  values[count++] = XXH3_64bits(operation_, std::strlen(operation_));
  for (std::size_t i = 0; i < std::min(fact_count_, usual_facts); ++i)
    values[count++] = static_cast<std::uint64_t>(facts_[i].value);
  if (!further_.empty()) {
    std::vector<std::int64_t> rest;
    for (const named_value& each : further_) rest.push_back(each.value);
    values[count++] = XXH3_64bits(rest.data(), rest.size() * sizeof rest[0]);
  }
  return XXH3_64bits(values, count * sizeof values[0]);
}

agreement::vote_t agreement::vote(std::uint64_t sequence, bool bit) const {
  const std::uint64_t hash = hash_of(sequence);
  const std::uint64_t code = error_code_of(error_);
  return {code << 1 | static_cast<std::uint64_t>(bit), hash, ~hash};
}

agreement::outcome agreement::outcome_of(const vote_t& highest) {
  if (highest[0] >> 1 != 0) return outcome::failed;
  return highest[1] == ~highest[2] ? outcome::agreed : outcome::differ;
}

fact_record agreement::record(std::uint64_t sequence) const {
  fact_record result{};
  std::strncpy(result.operation, operation_, sizeof result.operation - 1);
  result.sequence = sequence;
  result.count = fact_count_;
  result.hash = hash_of(sequence);
  for (std::size_t i = 0; i < std::min(fact_count_, fact_record::most_values); ++i) result.values[i] = fact_at(i).value;
  if (object_name_) std::strncpy(result.text, object_name_->shown.c_str(), sizeof result.text - 1);
  return result;
}

base::error_fields agreement::difference(std::string what, std::string values) const {
  return {.operation = operation_,
          .object = comm_.name(),
          .argument = std::move(what),
          .value = std::move(values),
          .expected = "the same on all ranks"};
}

/// The difference in one fact's values; none if all ranks have the same value.
std::optional<base::error_fields> agreement::difference_in_fact(std::span<const fact_record> all,
                                                                std::size_t number) const {
  const named_value& fact = fact_at(number);
  const bool is_name = object_name_ && number == object_name_->fact;
  const auto values = groups_of(all, [&](const fact_record& each) {
    return is_name ? std::string(each.text) : text_of(each.values[number], fact.name_of);
  });
  if (values.size() < 2) return std::nullopt;
  const bool has_axis = fact.about.axis >= 0;
  base::error_fields fields =
      difference(has_axis ? fmt::format(fmt::runtime(fact.name), fact.about.axis) : fact.name, groups_text(values));
  fields.reason = fmt::format("{} is {}", fields.argument, fields.value);
  if (fact.about.argument == nullptr) return fields;
  fields.argument = fact.about.argument;
  fields.axis = fact.about.axis;
  fields.ndim = fact.about.ndim;
  if (!has_axis && fields.ndim > 0)  // the value is an axis, which the fields count from the end
    fields.value =
        groups_text(groups_of(all, [&](const fact_record& each) { return each.values[number] - fields.ndim; }));
  return fields;
}

base::error_fields agreement::first_difference(std::span<const fact_record> all) const {
  const auto operations = groups_of(all, [](const fact_record& each) { return std::string(each.operation); });
  const auto is_end = [](const auto& group) { return group.first == "finalize"; };
  if (operations.size() > 1)
    return difference("operation", groups_text(operations) + (std::any_of(operations.begin(), operations.end(), is_end)
                                                                  ? "; a rank whose program has ended is in finalize"
                                                                  : ""));
  const auto sequences = groups_of(all, [](const fact_record& each) { return each.sequence; });
  if (sequences.size() > 1) return difference("number of the collective", groups_text(sequences));
  std::uint64_t common = std::min<std::uint64_t>(fact_count_, fact_record::most_values);
  for (const fact_record& each : all) common = std::min(common, each.count);
  for (std::size_t i = 0; i < common; ++i)
    if (auto found = difference_in_fact(all, i)) return std::move(*found);
  const auto counts = groups_of(all, [](const fact_record& each) { return each.count; });
  if (counts.size() > 1) return difference("number of facts", groups_text(counts));
  const auto hashes = groups_of(all, [](const fact_record& each) { return fmt::format("{:016x}", each.hash); });
  return difference(fmt::format("hash of the facts, of which the first {} are equal,", fact_record::most_values),
                    groups_text(hashes));
}

agreed_error agreement::mismatch(std::span<const fact_record> all) const {
  base::error_fields fields = first_difference(all);
  if (fields.argument == "operation") fields.reason = "the ranks called different operations: " + fields.value;
  if (fields.reason.empty()) fields.reason = fmt::format("{} is {}", fields.argument, fields.value);
  const std::string text =
      fmt::format("{}: the ranks{} disagree: {}", operation_, of_comm(comm_.name()), fields.reason);
  agreed_error result(SYNCYTE_ERR_MISMATCH, text, std::move(fields));
  result.own_rank = comm_.rank();
  return result;
}

void add_counts(agreement& terms, std::span<const std::int64_t> counts, const char* sum_name, const char* hash_name) {
  terms.fact(sum_name, std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  terms.fact(hash_name, static_cast<std::int64_t>(XXH3_64bits(counts.data(), counts.size_bytes())));
}

}  // namespace syncyte::comm
