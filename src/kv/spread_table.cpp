// SPDX-License-Identifier: BSD-3-Clause
#include "kv/spread_table.hpp"

#include <algorithm>
#include <utility>

#include "access/item_requests.hpp"
#include "access/owners_transfer.hpp"
#include "kv/key_items.hpp"
#include "kv/table_target.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::kv {

spread_table::spread_table(const comm::communicator& comm, std::shared_ptr<fabric::group> ranks,
                           std::shared_ptr<const key_homes> homes, std::vector<table> tables)
    : comm_(comm), ranks_(std::move(ranks)), homes_(std::move(homes)), tables_(std::move(tables)) {}

std::unique_ptr<spread_table> spread_table::create(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                                   std::shared_ptr<const key_homes> homes, std::vector<table> tables,
                                                   std::shared_ptr<void> memory) {
  const comm::communicator& comm = call.comm();
  std::unique_ptr<spread_table> result(new spread_table(comm, std::move(ranks), std::move(homes), std::move(tables)));
  const table& mine = result->tables_[static_cast<std::size_t>(comm.node().rank)];
  result->name_ = result->ranks_->add_object(
      call, std::make_shared<table_target>(mine, result->homes_->slots(comm.rank()), std::move(memory)));
  return result;
}

bool spread_table::are_here(std::span<const std::int64_t> keys) const {
  return std::ranges::all_of(keys, [&](std::int64_t key) { return comm_.node().is_here(homes_->owner(key)); });
}

/// Runs an operation on the parts at ranks of this node.
void spread_table::run_here(const operation& what, std::span<const keys_by_owner::part> parts, float* values) {
  for (const keys_by_owner::part& each : parts)
    if (const int place = comm_.node().node_rank(each.owner); place >= 0)
      what.run_some(tables_[static_cast<std::size_t>(place)], each.elements, values);
}

/// Requests of other nodes are answered while this node's keys are processed.
std::unique_ptr<access::transfer> spread_table::start(fabric::stream& in, const operation& what,
                                                      std::span<const std::int64_t> keys, float* values,
                                                      bool is_driven) {
  const key_layout& layout = tables_.front().layout();
  const auto is_here = [&](const keys_by_owner::part& each) { return comm_.node().is_here(each.owner); };
  keys_by_owner own = sort_by_owner(*homes_, layout, keys);
  if (std::ranges::all_of(own.parts(), is_here)) {
    run_here(what, own.parts(), values);
    return nullptr;
  }
  const auto sorted = std::make_shared<const keys_by_owner>(std::move(own));
  auto result = std::make_unique<access::owners_transfer>(ranks_, what.name, &in);
  for (const keys_by_owner::part& each : sorted->parts()) {
    if (is_here(each)) continue;
    const key_items::owner to{each.owner, homes_->slots(each.owner).first, ranks_.get(), homes_.get()};
    result->add(each.owner, std::make_unique<access::item_requests<key_items>>(
                                name_, key_items(to, what, sorted, each.elements, layout, values)));
  }
  if (is_driven) result->drive();
  try {
    run_here(what, sorted->parts(), values);
  } catch (const watchdog::interrupted&) {
    throw;  // the operation is given up
  } catch (...) {
    result->fail(base::current_error());
  }
  return result;
}

}  // namespace syncyte::kv
