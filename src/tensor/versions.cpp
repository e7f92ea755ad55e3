// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/versions.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "access/started.hpp"
#include "base/strided_copy.hpp"
#include "collectives/block_arrays.hpp"
#include "tensor/box_operations.hpp"
#include "tensor/counter.hpp"
#include "tensor/counter_operations.hpp"
#include "tensor/whole_tensor.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::tensor {
namespace {

/// Makes this rank's stores visible before what it writes next, and its next loads later than those before.
void order_accesses(const whole_tensor& of) {
  of.flush();
  if (window::remote* const remote = of.held()->remote()) remote->synchronize_memory();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void require_apart(const whole_tensor& of, const base::buffer& array) {
  if (base::range_of(array).meets(of.held()->memory())) [[unlikely]]
    base::refuse(
        SYNCYTE_ERR_ARGUMENT,
        {.argument = array.argument(), .value = "in the tensor's own memory", .expected = base::separate_memory});
}

/// Seconds of a timeout that are left.
class remaining {
 public:
  explicit remaining(double timeout) : timeout_(timeout) {}
  double operator()() const {
    if (timeout_ < 0) return timeout_;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    return std::max(0.0, timeout_ - passed.count());
  }

 private:
  double timeout_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<versions> versions::create(const whole_tensor& of, std::int64_t slots, const std::string& name) {
  const distribution::partition& owners = of.layout().partition();
  std::int64_t publishers = 0;
  int first = 0;
  for (int rank = owners.parts() - 1; rank >= 0; --rank)
    if (owners.count(rank) > 0) {
      first = rank;
      ++publishers;
    }
  const std::int64_t elements = 2 + slots * of_each_slot;
  tensor_options options;
  options.label = name.empty() ? "versions" : name + ": versions";
  options.local_rows = of.comm()->rank() == first ? elements : 0;
  auto counters = whole_tensor::create(of.comm(), SYNCYTE_INT64, 1, &elements, options);
  std::unique_ptr<versions> result(new versions(std::move(counters), slots, publishers, first));
  if (of.comm()->rank() == first)
    for (std::int64_t slot = 0; slot < slots; ++slot) store(*result->counters_, result->step(slot), no_step);
  result->counters_->sync();
  return result;
}

void versions::copy_blocks(whole_tensor& of, std::span<const base::buffer> arrays, std::int64_t version) const {
  const block_memory& blocks = *of.layout().blocks();
  const distribution::layout& cut = blocks.layout()->cut();
  const int rank = of.comm()->rank();
  const std::span<const int> mine = cut.blocks_of(rank);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    // Each box's first point lies in the caller's array behind ghosts and others' shared points.
    for (const owned_part& part : blocks.parts_of_slot(rank, mine[i], version % slots_)) {
      std::vector<std::int64_t> at = part.inset;
      for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] += cut.ghosts().low[axis];
      base::copy_strided(of.held()->local() + part.offset, part.strides,
                         arrays[i].data() + base::offset_of(arrays[i].strides(), at), arrays[i].strides(), part.shape,
                         arrays[i].element_bytes());
    }
  }
}

/// The version's step is what the first rank that begins it says; a rank knows what its slot had before.
void versions::agree_on_step(std::int64_t mine) {
  std::int64_t& before = steps_[static_cast<std::size_t>(next_ % slots_)];
  const std::int64_t found = counter(*counters_, step(next_), "tensor_publish").swap(before, mine);
  base::expect(found == before || found == mine, SYNCYTE_ERR_ARGUMENT, "step", mine,
               "{}, with which another rank has published this version", found);
  before = mine;
}

/// Keeps the newest complete version intact, if there are two slots or more.
void versions::wait_for_others() const {
  const std::int64_t needed = next_ - slots_ + (slots_ > 1 ? 2 : 1);
  if (needed > 0) wait(*counters_, complete, SYNCYTE_COMPARE_GE, needed, -1);
}

void versions::publish(whole_tensor& of, std::span<const syncyte_buffer_t> arrays, std::int64_t step_number) {
  const std::lock_guard lock(mutex_);
  const int rank = of.comm()->rank();
  const distribution::layout& cut = of.layout().blocks()->layout()->cut();
  const auto checked = collectives::checked_arrays({cut, arrays, "arrays"}, rank, of.layout().dtype());
  for (const base::buffer& array : checked) require_apart(of, array);
  base::expect(step_number > last_step_, SYNCYTE_ERR_ARGUMENT, "step", step_number,
               "more than {}, the step that this rank has published last", last_step_);
  if (of.layout().partition().count(rank) > 0) {
    wait_for_others();
    const watchdog::without_interrupts until_done;  // the counters of all ranks belong together
    const auto add = [&](std::int64_t element) {
      return counter(*counters_, element, "tensor_publish").fetch(SYNCYTE_OP_SUM, 1);
    };
    if (!std::exchange(has_begun_, true)) add(begun(next_));
    order_accesses(of);
    agree_on_step(step_number);
    copy_blocks(of, checked, next_);
    order_accesses(of);
    if (rank == first_publisher_) add(of_first);
    if (add(done(next_)) + 1 == all_of(next_))
      counter(*counters_, complete, "tensor_publish").fetch(SYNCYTE_OP_MAX, next_ + 1);
    ++next_;
    has_begun_ = false;
  }
  last_step_ = step_number;
}

bool versions::is_intact(std::int64_t version) const { return load(*counters_, begun(version)) == all_of(version); }

std::int64_t versions::take(whole_tensor& of, std::int64_t at_least, base::array_argument<std::int64_t> lower,
                            double timeout, const syncyte_buffer_t* output) const {
  const block_memory& blocks = *of.layout().blocks();
  const base::buffer user(output, "output");
  lower.checked("lower", blocks.layout()->cut().ndim(), "dimension");
  user.require_dtype(of.layout().dtype()).require_host().require_writable();
  require_apart(of, user);
  base::expect(!std::isnan(timeout), SYNCYTE_ERR_ARGUMENT, "timeout", timeout, "seconds, or less than 0");
  base::expect(user.ndim() == blocks.layout()->cut().ndim(), SYNCYTE_ERR_SHAPE, "dimensions of output", user.ndim(),
               "{}, as the field", blocks.layout()->cut().ndim());
  require_box_inside(of.layout().shape().subspan(1), {lower.values, user.shape().size()}, user.shape());
  std::vector<std::int64_t> corner(1), shape(1, 1);
  corner.insert(corner.end(), lower.values, lower.values + user.ndim());
  shape.insert(shape.end(), user.shape().begin(), user.shape().end());
  syncyte_buffer_t in_slot = base::make_buffer(user.data(), user.dtype(), shape);
  std::ranges::copy(user.strides(), in_slot.strides + 1);
  const remaining left(timeout);
  std::int64_t seen = load(*counters_, complete);
  const needed_rank publisher{first_publisher_ == of.comm()->rank() ? -1 : first_publisher_,
                              [&] { return load(*counters_, of_first) > seen; }};
  while (true) {
    if (const std::int64_t version = seen - 1; version >= 0) {
      const std::int64_t found = load(*counters_, step(version));
      if (found >= at_least && is_intact(version)) {
        corner[0] = version % slots_;
        access::run<get_box>(of, corner, &in_slot);
        order_accesses(of);
        if (is_intact(version)) return found;
      }
    }
    if (left() == 0) fail_late(of, at_least, timeout);
    watchdog::ask_for_interrupt();
    try {
      seen = wait(*counters_, complete, SYNCYTE_COMPARE_GE, seen + 1, left(), publisher);
    } catch (const base::error& error) {
      if (error.status() != SYNCYTE_ERR_TIMEOUT) throw;
      fail_late(of, at_least, timeout);
    }
  }
}

void versions::fail_late(const whole_tensor& of, std::int64_t at_least, double timeout) const {
  const std::int64_t newest = load(*counters_, complete) - 1;
  std::string text = newest < 0 ? "there is none yet" : "the newest is overwritten now";
  if (newest >= 0)
    if (const std::int64_t found = load(*counters_, step(newest)); is_intact(newest))
      text = fmt::format("the newest has step {}", found);
  base::fail(SYNCYTE_ERR_TIMEOUT, "{} had no version of step {} or more for {} seconds; {}", of.layout().text(),
             at_least, timeout, text);
}

}  // namespace syncyte::tensor
