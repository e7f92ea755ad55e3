// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model.hpp"

#include <algorithm>

#include "cache/model_checksums.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::cache {
namespace {

void require_files(const std::string& name, bool are_right) {
  base::require(are_right, SYNCYTE_ERR_FORMAT, "the model \"{}\" has come with a wrong number of files", name);
}

}  // namespace

std::shared_ptr<model> model::bind(const models& from, const std::string& name, const model_target& target) {
  check_model_name(name);
  const deadline until = from.limit();
  std::shared_ptr<model> made(new model(name, until));
  made->connection_ = from.open(purpose::bind, name, {}, until);
  answer got = receive(made->connection_, until, fmt::format("the model \"{}\"", name));
  made->files_ = std::move(got.files);
  require_files(name, !made->files_.empty());
  made->layout_ = model_layout::read(made->files_.front());
  require_files(name, made->files_.size() == (made->layout_.device() ? 2U : 1U));
  made->view_ = view_model(made->layout_, made->files_, target);
  made->arrive(got.told.value);
  return made;
}

/// Learns that groups are written. A copy is made group by group, as they are waited for.
void model::arrive(std::uint64_t groups) {
  base::require(groups <= layout_.groups(), SYNCYTE_ERR_FORMAT, "the model \"{}\" has {} groups; {} cannot be ready",
                name_, layout_.groups(), groups);
  arrived_ = std::max(arrived_, groups);
  if (!view_->is_copy()) open_up_to(arrived_);
}

void model::open_up_to(std::uint64_t groups) {
  const std::uint64_t before = ready_;
  if (groups <= before) return;
  view_->open(layout_.group_begin(before), layout_.group_end(groups - 1));
  ready_.store(groups, std::memory_order_release);
}

/// Takes the notes that have come. The caller holds the lock.
void model::hear() {
  if (failure_) throw *failure_;
  if (arrived_ == layout_.groups()) return;
  try {
    while (const auto got = try_to_receive(connection_)) arrive(got->told.value);
  } catch (const base::error& failed) {
    failure_ = failed;
    throw;
  }
}

std::uint64_t model::ready() {
  if (ready_ == layout_.groups()) return ready_;
  const std::lock_guard lock(mutex_);
  hear();
  return ready_;
}

/// Takes the notes that have come, and makes groups usable up to this one. Returns the number that have arrived.
std::uint64_t model::advance(std::uint64_t group) {
  const std::lock_guard lock(mutex_);
  hear();
  while (ready_ <= group && ready_ < arrived_) {
    watchdog::ask_for_interrupt();
    open_up_to(ready_ + 1);
  }
  return arrived_;
}

void model::wait(std::uint64_t group, double seconds) {
  base::expect(group < layout_.groups(), SYNCYTE_ERR_INDEX, "group", group, "0 to {}", layout_.groups() - 1);
  std::uint64_t seen = ready_;
  for (deadline until(seconds < 0 ? limit_.seconds() : seconds); ready_.load(std::memory_order_acquire) <= group;) {
    const std::uint64_t arrived = advance(group);
    if (ready_ > group) return;
    if (arrived > seen && seconds < 0) until = deadline(limit_.seconds());
    seen = arrived;
    base::require(until.is_ahead(), SYNCYTE_ERR_TIMEOUT,
                  "{} of {} groups of the model \"{}\" are ready; no other after {} s", seen, layout_.groups(), name_,
                  until.seconds());
    memory::wait_readable(connection_.get(), std::chrono::steady_clock::now() + until.next_look());
  }
}

void model::verify() {
  base::require(layout_.has_checksums(), SYNCYTE_ERR_UNSUPPORTED, "the model \"{}\" was published without checksums",
                name_);
  wait(layout_.groups() - 1);
  // The bytes that were published, not those that this process may have written.
  const auto published = view_model(layout_, files_, {.memory = model_target::anywhere});
  published->open(layout_.data_begin(), layout_.end());
  const auto sums = checksums(layout_, {published->at(layout_.data_begin()), published->memory(), published->device()});
  for (std::uint64_t number = 0; number < sums.size(); ++number)
    base::require(sums[number] == model_layout::read_checksum(files_.front(), number), SYNCYTE_ERR_CHECKSUM,
                  "the bytes of the tensor \"{}\" of the model \"{}\" differ from their checksum",
                  layout_.tensors()[number].name, name_);
}

}  // namespace syncyte::cache
