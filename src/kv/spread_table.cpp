#include "kv/spread_table.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "kv/key_requests.hpp"
#include "kv/keys_by_owner.hpp"

namespace syncyte::kv {
namespace {

const char* name_of(table_operation what) {
  switch (what) {
    case table_operation::pull:
      return "kv_worker_pull";
    case table_operation::push:
      return "kv_worker_push";
    case table_operation::set:
      return "kv_worker_set";
  }
  return "";
}

}  // namespace

spread_table::spread_table(const comm::communicator& comm, std::shared_ptr<fabric::group> ranks, base::partition parts,
                           std::vector<table> tables)
    : comm_(comm),
      ranks_(std::move(ranks)),
      name_(ranks_->next_object()),
      parts_(std::move(parts)),
      tables_(std::move(tables)) {}

std::unique_ptr<spread_table> spread_table::create(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                                   base::partition parts, std::vector<table> tables,
                                                   std::shared_ptr<void> memory) {
  const comm::communicator& comm = call.comm();
  std::unique_ptr<spread_table> result(new spread_table(comm, std::move(ranks), std::move(parts), std::move(tables)));
  const table& mine = result->tables_[static_cast<std::size_t>(comm.node().rank)];
  result->ranks_->through().targets().add(
      result->name_, std::make_shared<table_target>(mine, result->range_of(comm.rank()), std::move(memory)));
  call.agree();  // no rank sends a request before all have added theirs
  return result;
}

std::vector<key_range> spread_table::local_keys() const {
  std::vector<key_range> result;
  for (const int rank : comm_.node().members) result.push_back(range_of(rank));
  return result;
}

bool spread_table::are_here(std::span<const std::int64_t> keys) const {
  return std::ranges::all_of(keys, [&](std::int64_t key) { return comm_.node().is_here(parts_.owner(key)); });
}

/// Sends the requests of all owners, and calls on_table(table, its keys) for this node's ranks while they are answered.
template <class OnTable>
void spread_table::run(table_operation what, std::span<const std::int64_t> keys, float* values, OnTable&& on_table) {
  const topology::node_group& node = comm_.node();
  const key_layout& layout = tables_.front().layout();
  const keys_by_owner sorted(parts_, layout, keys);
  const auto run_here = [&] {
    for (std::size_t i = 0; i < tables_.size(); ++i)
      if (const auto mine = sorted.of(node.members[i]); !mine.empty()) on_table(tables_[i], mine);
  };
  std::deque<key_requests> requests;
  for (int rank = 0; rank < parts_.parts(); ++rank)
    if (const auto theirs = sorted.of(rank); !theirs.empty() && !node.is_here(rank))
      requests.emplace_back(key_requests::owner{rank, ranks_->rank_name(rank), name_, range_of(rank)}, what, theirs,
                            layout, values);
  if (requests.empty()) return run_here();
  std::exception_ptr thrown;  // after it, the requests are answered too
  ranks_->run(name_of(what), [&](fabric::exchange& running) {
    for (key_requests& each : requests) running.add(ranks_->at(each.rank()), each);
    try {
      run_here();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  if (thrown) std::rethrow_exception(thrown);
}

void spread_table::pull(std::span<const std::int64_t> keys, float* values) {
  run(table_operation::pull, keys, values,
      [values](const table& here, std::span<const listed_key> mine) { here.pull(mine, values); });
}

void spread_table::push(std::span<const std::int64_t> keys, const float* values) {
  run(table_operation::push, keys, const_cast<float*>(values),
      [values](table& here, std::span<const listed_key> mine) { here.push(mine, values); });
}

void spread_table::set(std::span<const std::int64_t> keys, const float* values) {
  run(table_operation::set, keys, const_cast<float*>(values),
      [values](table& here, std::span<const listed_key> mine) { here.set(mine, values); });
}

}  // namespace syncyte::kv
