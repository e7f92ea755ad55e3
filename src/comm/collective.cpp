#include "comm/collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "comm/mpi.hpp"

namespace syncyte::comm {
namespace {

std::string ranks_text(const std::vector<int>& ranks) {
  return fmt::format("rank{} {}", ranks.size() > 1 ? "s" : "", fmt::join(ranks, ", "));
}

/// " of world": ranks are those of the communicator, and say of which.
std::string of_comm(const std::string& name) { return name.empty() ? "" : " of " + name; }

/// The message of one rank on all of them.
std::string broadcast_text(MPI_Comm comm, int source, std::string text) {
  std::uint64_t length = text.size();
  check_mpi(MPI_Bcast(&length, 1, MPI_UINT64_T, source, comm), "MPI_Bcast");
  text.resize(length);
  check_mpi(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, source, comm), "MPI_Bcast");
  return text;
}

}  // namespace

std::uint32_t verdict_of(const std::optional<base::error>& error) {
  return error ? std::max(static_cast<std::uint32_t>(error->status()), std::uint32_t{1}) : 0;
}

void share_error(MPI_Comm comm, const std::optional<base::error>& mine, const char* operation,
                 const std::string& comm_name) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const std::uint32_t verdict = verdict_of(mine);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(&verdict, 1, MPI_UINT32_T, all.data(), 1, MPI_UINT32_T, comm), "MPI_Allgather");
  const auto worst = std::max_element(all.begin(), all.end());
  const int source = static_cast<int>(worst - all.begin());
  const std::string reason = broadcast_text(comm, source, rank == source && mine ? mine->what() : "");
  std::vector<int> others;
  for (int other = 0; other < size; ++other)
    if (other != source && all[static_cast<std::size_t>(other)] != 0) others.push_back(other);
  const std::string more = others.empty() ? "" : fmt::format(" (failed on {} too)", ranks_text(others));
  throw agreed_error(static_cast<syncyte_status_t>(*worst),
                     fmt::format("{} failed on rank {}{}: {}{}", operation, source, of_comm(comm_name), reason, more));
}

/// The facts of one rank, as they are exchanged once it is clear that they differ.
struct collective_call::record {
  char operation[48];
  std::uint64_t sequence;
  std::uint64_t count;
  struct {
    char name[24];
    std::int64_t value;
  } facts[max_facts];
};

collective_call::collective_call(communicator& comm, const char* operation, kind how)
    : comm_(comm),
      operation_(operation),
      kind_(how),
      sequence_(0),
      watched_(operation, comm.name(), comm.sequence_ + 1, comm.size()) {
  base::require(!comm.busy_.test_and_set(std::memory_order_acquire), SYNCYTE_ERR_BUSY,
                "{}: another thread is inside a collective of communicator {}; use one communicator per thread",
                operation, comm.name());
  sequence_ = ++comm.sequence_;
}

collective_call::~collective_call() { comm_.busy_.clear(std::memory_order_release); }

void collective_call::fact(const char* name, std::int64_t value) { named_fact(name, value, nullptr); }

void collective_call::named_fact(const char* name, std::int64_t value, const char* (*name_of)(std::int32_t)) {
  if (fact_count_ < max_facts) facts_[fact_count_++] = {name, value, name_of};
}

std::uint64_t collective_call::hash() const {
  std::uint64_t values[max_facts + 2];
  std::size_t count = 0;
  values[count++] = kind_ == last ? 0 : sequence_;
  values[count++] = XXH3_64bits(operation_, std::strlen(operation_));
  for (std::size_t i = 0; i < fact_count_; ++i) values[count++] = static_cast<std::uint64_t>(facts_[i].value);
  return XXH3_64bits(values, count * sizeof values[0]);
}

void collective_call::agree() {
  if (kind_ == data && comm_.check() == check_level::off) {
    if (error_) throw *error_;
    return;
  }
  const std::uint64_t status = verdict_of(error_);
  const std::uint64_t pending = kind_ != data && comm_.deferred().pending();
  const std::uint64_t local_hash = hash();
  const std::uint64_t local[3] = {status << 1 | pending, local_hash, ~local_hash};
  std::uint64_t highest[3];
  check_mpi(MPI_Allreduce(local, highest, 3, MPI_UINT64_T, MPI_MAX, comm_.control()), "MPI_Allreduce (agreement)");
  if (highest[0] >> 1 != 0) share_error(comm_.control(), error_, operation_, comm_.name());
  if (highest[1] != ~highest[2]) explain_mismatch();
  if (kind_ != data && (highest[0] & 1) != 0) comm_.deferred().collect(comm_.control());
}

collective_call::record collective_call::make_record() const {
  record result{};
  std::strncpy(result.operation, operation_, sizeof result.operation - 1);
  result.sequence = sequence_;
  result.count = fact_count_;
  for (std::size_t i = 0; i < fact_count_; ++i) {
    std::strncpy(result.facts[i].name, facts_[i].name, sizeof result.facts[i].name - 1);
    result.facts[i].value = facts_[i].value;
  }
  return result;
}

namespace {

/// Groups ranks by a property; the largest group first, of equal ones that with the lowest rank.
template <class Property>
auto groups_of(int size, Property&& property) {
  using value = decltype(property(0));
  std::vector<std::pair<value, std::vector<int>>> groups;
  for (int rank = 0; rank < size; ++rank) {
    const value mine = property(rank);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == mine; });
    if (found == groups.end()) found = groups.insert(groups.end(), {mine, {}});
    found->second.push_back(rank);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return groups;
}

/// "2 on ranks 0, 1, 3 on rank 2, but 4 on rank 3".
template <class Groups>
std::string groups_text(const Groups& groups) {
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == groups.size() ? ", but " : ", ";
    text += fmt::format("{}{} on {}", before, groups[i].first, ranks_text(groups[i].second));
  }
  return text;
}

}  // namespace

void collective_call::explain_mismatch() const {
  const record mine = make_record();
  std::vector<record> all(static_cast<std::size_t>(comm_.size()));
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm_.control()),
            "MPI_Allgather");
  const auto at = [&](int rank) -> const record& { return all[static_cast<std::size_t>(rank)]; };
  std::string what;
  const auto operations = groups_of(comm_.size(), [&](int rank) { return std::string(at(rank).operation); });
  if (operations.size() > 1) {
    what = fmt::format("the ranks called different operations: {}", groups_text(operations));
  } else {
    const auto sequences = groups_of(comm_.size(), [&](int rank) { return at(rank).sequence; });
    if (sequences.size() > 1) what = fmt::format("number of the collective is {}", groups_text(sequences));
    std::uint64_t common = mine.count;
    for (const record& each : all) common = std::min(common, each.count);
    for (std::size_t i = 0; i < common && what.empty(); ++i) {
      const auto text = facts_[i].name_of;
      const auto values = groups_of(comm_.size(), [&](int rank) {
        const std::int64_t value = at(rank).facts[i].value;
        return text != nullptr ? std::string(text(static_cast<std::int32_t>(value))) : std::to_string(value);
      });
      if (values.size() > 1) what = fmt::format("{} is {}", mine.facts[i].name, groups_text(values));
    }
    const auto counts = groups_of(comm_.size(), [&](int rank) { return at(rank).count; });
    if (what.empty()) what = fmt::format("number of facts is {}", groups_text(counts));
  }
  throw agreed_error(SYNCYTE_ERR_MISMATCH,
                     fmt::format("{}: the ranks{} disagree: {}", operation_, of_comm(comm_.name()), what));
}

}  // namespace syncyte::comm
