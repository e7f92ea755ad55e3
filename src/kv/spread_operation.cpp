#include "kv/spread_operation.hpp"

#include <utility>

#include "watchdog/interrupts.hpp"

namespace syncyte::kv {
namespace {

const char* name_of(table_operation what) {
  switch (what) {
    case table_operation::pull:
      return "store_worker_pull";
    case table_operation::push:
      return "store_worker_push";
    case table_operation::set:
      return "store_worker_set";
  }
  return "";
}

}  // namespace

spread_operation::spread_operation(std::shared_ptr<fabric::group> ranks, fabric::stream& in, table_operation what,
                                   keys_by_owner keys)
    : ranks_(std::move(ranks)),
      what_(what),
      keys_(std::move(keys)),
      running_(new fabric::exchange(ranks_->begin(in))) {}

void spread_operation::add(key_requests::owner to, std::span<const listed_key> keys, const key_layout& layout,
                           float* values) {
  running_->add(ranks_->at(to.rank), requests_.emplace_back(to, what_, keys, layout, values));
}

/// Calls of the exchange throw its error once it has ended. The part of this node may have failed before.
bool spread_operation::test() {
  if (!running_) return true;
  const std::optional<base::error> failed = base::error_of([&] {
    if (running_->test()) end();
  });
  if (!failed) return !running_;
  if (!error_) error_ = failed;
  end();
  return true;
}

/// Gives the exchange's caller back, and frees the list.
void spread_operation::end() {
  running_.reset();
  requests_.clear();
  keys_.reset();
}

bool spread_operation::has_ended() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && test();
}

void spread_operation::await_end() {
  const std::lock_guard lock(mutex_);
  if (!running_) return;
  try {
    ranks_->wait(name_of(what_), *running_);
  } catch (const watchdog::interrupted&) {
    throw;
  } catch (...) {
    if (!test()) throw;
    return;
  }
  test();
}

void spread_operation::wait() {
  await_end();
  if (error_) throw *error_;
}

}  // namespace syncyte::kv
